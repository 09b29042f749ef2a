import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { serve } from '../../src/server/node.ts';
import { sampleAgent } from '../interop/sample-agent.ts';
import { main, node, root, type Running } from '../support/command.ts';
import { get, rpc } from '../support/wire.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'dragoman-gateway-'));
  open.push({ close: () => rm(made, { recursive: true }) });
  return made;
}

function run(...args: string[]): Running {
  const running = node([main, 'gateway', ...args]);
  open.push({ close: () => running.stop('SIGKILL') });
  return running;
}

async function served(): Promise<string> {
  const server = await serve(sampleAgent());
  open.push({ close: () => server.stop(0) });
  return server.url;
}

describe('dragoman gateway', () => {
  it('says what is wrong with a file, where, and ends with 2', async () => {
    const file = join(folder(), 'a.yaml');
    writeFileSync(file, 'listen: 0\nagents:\n  a:\n    url: nowhere\n    foo: 1\n');
    for (const flags of [['--check'], []]) {
      const { code, stdout, stderr } = await run('-c', file, ...flags).ended;
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toBe(
        `${file}:4:5: agents.a.url: must be an http or https URL\n${file}:5:5: agents.a.foo: this key is not known here\ndragoman: ${file} is wrong\n  Put it right; nothing was started.\n`,
      );
    }
    expect(await run('-c', join(folder(), 'none.yaml')).ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/there is no file \S+none\.yaml\n/),
    });
  });

  it.each(readdirSync(join(root, 'examples/gateway')))(
    'finds nothing wrong with the example %s',
    async (file) => {
      expect(await run('-c', `examples/gateway/${file}`, '--check').ended).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/ is right: \d agents?\n$/),
      });
    },
  );

  it('serves what the file says, reads it again on SIGHUP, and ends on SIGTERM', async () => {
    const url = await served();
    const file = join(folder(), 'a.yaml');
    writeFileSync(file, `listen: 1\nagents:\n  a: { url: "${url}" }\n`);
    const running = run('-c', file, '--port', '0', '-o', 'json');
    const [, at = ''] = await running.prints(/^listening on (\S+)\n/, 'stderr');
    const [, summary = ''] = await running.prints(/^(\{.*\})\n$/);
    expect(JSON.parse(summary)).toEqual({
      url: at,
      agents: [{ name: 'a', from: url, at: [`${at}/agents/a`] }],
    });
    const message = {
      kind: 'message',
      role: 'user',
      messageId: 'm',
      parts: [{ kind: 'text', text: 'hello' }],
    };
    const { result } = await rpc(`${at}/agents/a`, 'message/send', { message });
    expect(JSON.stringify(result)).toContain('hello');

    writeFileSync(
      file,
      `agents:\n  a: { url: "${url}" }\n  b: { url: "${url}/", request_timeout_seconds: 3 }\n`,
    );
    running.process.kill('SIGHUP');
    await running.prints(/was read again: \+b/, 'stderr');
    expect((await get(`${at}/agents/b/.well-known/agent-card.json`)).status).toBe(200);

    writeFileSync(file, 'agents:\n  a: { url: "" }\n');
    running.process.kill('SIGHUP');
    await running.prints(
      /a\.yaml:2:8: agents\.a\.url: must be an http[^]*everything stays as it was/,
      'stderr',
    );
    expect((await get(`${at}/agents`)).json.agents).toHaveLength(2);
    expect(await running.stop()).toMatchObject({ code: 0 });
  });
});
