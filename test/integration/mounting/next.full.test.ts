import { spawn } from 'node:child_process';
import { cpSync, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { RunningCommand } from '../../support/cli/run-command.ts';
import { codeBlocksOf } from '../../support/docs/code-blocks.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { ConsumerFolder } from '../../support/process/consumer-folder.ts';
import { installPackages } from '../../support/process/install-package.ts';
import { userMessage } from '../../support/server/stream-clients.ts';

const installed = installPackages('next', { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' });

describe.skipIf(installed === undefined)('Next.js', () => {
  const consumer = new ConsumerFolder();
  const route = 'app/agent/[[...path]]/route.js';
  let server: RunningCommand | undefined;
  let url: string;

  const next = (...args: string[]): RunningCommand =>
    new RunningCommand(
      spawn(process.execPath, [join(consumer.path, 'node_modules/next/dist/bin/next'), ...args], {
        cwd: consumer.path,
        env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' },
      }),
    );

  beforeAll(async () => {
    // Next.js does not follow links that leave the project.
    const modules = join(consumer.path, 'node_modules');
    for (const each of readdirSync(modules)) {
      if (!lstatSync(join(modules, each)).isSymbolicLink()) continue;
      const target = realpathSync(join(modules, each));
      rmSync(join(modules, each));
      cpSync(target, join(modules, each), { recursive: true });
    }
    cpSync(join(installed ?? '', 'node_modules'), modules, { recursive: true });
    const code = codeBlocksOf('docs/guide/mounting.md').find((block) =>
      block.code.startsWith(`// ${route}\n`),
    );
    consumer.write(route, code?.code ?? '');
    const built = await next('build').ended;
    expect(built.code, built.stdout + built.stderr).toBe(0);
    const port = await findFreePort();
    server = next('start', '--hostname', '127.0.0.1', '--port', String(port));
    await server.prints(/Ready/);
    url = `http://127.0.0.1:${port}/agent`;
  }, 600_000);
  afterAll(async () => {
    await server?.stop();
    consumer.remove();
  });

  it('serves an agent from a route handler', async () => {
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as { url: string };
    expect(card.url).toBe(url);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    for (const transport of ['JSONRPC', 'HTTP+JSON'] as const) {
      const remote = connect(url, { transports: [transport], maxRetries: 0 });
      expect(JSON.stringify(await remote.send({ message: userMessage('hello') }))).toContain('hello');
      const kinds: string[] = [];
      for await (const event of remote.stream({ message: userMessage('hello') })) kinds.push(event.kind);
      expect(kinds).toContain('artifact');
      await remote.close();
    }
  });
});
