import { spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { RunningCommand } from '../../support/cli/run-command.ts';
import { codeBlocksOf } from '../../support/docs/code-blocks.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { userMessage } from '../../support/server/stream-clients.ts';
import { ConsumerFolder } from '../../support/process/consumer-folder.ts';
import { streamSseFrames } from '../../support/http/sse-frames.ts';
import {
  bundleWorker,
  findBun,
  findDeno,
  findWorkerd,
  runtimeFixtures,
  startWorkerd,
} from '../../support/runtimes/runtime-programs.ts';

/** Results of the checks of `connect`. */
type ClientResults = { name: string; error?: string }[];

/** A runtime under test. */
interface Runtime {
  /** Starts the agent and returns the URL of the server. */
  readonly serve: () => Promise<string>;
  /** Runs the checks of `connect` against an agent. */
  readonly runClient: (agentUrl: string) => Promise<ClientResults>;
}

const bun = findBun();
const deno = findDeno();
const workerd = findWorkerd();
const consumer = new ConsumerFolder();
const running: (RunningCommand & { remove?: () => void })[] = [];

beforeAll(() => {
  cpSync(runtimeFixtures, consumer.path, { recursive: true });
});
afterAll(async () => {
  for (const each of running) {
    await each.stop('SIGKILL');
    each.remove?.();
  }
  consumer.remove();
});

/** Runs programs of a runtime with a command line. */
function processRuntime(name: string, command: string, args: readonly string[] = []): Runtime {
  const run = (...more: string[]) => {
    const child = new RunningCommand(spawn(command, [...args, ...more], { cwd: consumer.path }));
    running.push(child);
    return child;
  };
  return {
    async serve() {
      const [, port = ''] = await run(`serve-${name}.mjs`).prints(/^port (\d+)$/m);
      return `http://127.0.0.1:${port}`;
    },
    async runClient(url) {
      const { stdout, stderr } = await run('run-client-checks.mjs', url).ended;
      expect(stderr).toBe('');
      return JSON.parse(stdout) as ClientResults;
    },
  };
}

/** Runs workers with compatibility flags. */
function startWorker(flags: readonly string[]): Runtime | undefined {
  if (workerd === undefined) return undefined;
  let started: Promise<string> | undefined;
  const start = async (): Promise<string> => {
    const code = await bundleWorker(join(consumer.path, 'worker.mjs'));
    const worker = await startWorkerd(workerd, code, flags);
    running.push(worker);
    return worker.url;
  };
  const serve = () => (started ??= start());
  return {
    serve,
    async runClient(url) {
      const response = await fetch(`${await serve()}/client-checks?url=${encodeURIComponent(url)}`);
      return (await response.json()) as ClientResults;
    },
  };
}

const runtimes: [string, Runtime | undefined][] = [
  ['Node', processRuntime('node', process.execPath)],
  ['Bun', bun === undefined ? undefined : processRuntime('bun', bun, ['run'])],
  [
    'Deno',
    deno === undefined ? undefined : processRuntime('deno', deno, ['run', '-A', '--node-modules-dir=manual']),
  ],
  ['workerd', startWorker([])],
  ['workerd with nodejs_compat', startWorker(['nodejs_compat'])],
];

/** What workers cannot do: continue the code of an earlier request, and encrypt page tokens without the modules of Node. */
const expectedFailures: { [runtime: string]: readonly string[] } = {
  workerd: ['answers a question of ask()', 'gets, lists and cancels tasks'],
  'workerd with nodejs_compat': ['answers a question of ask()'],
};

const failuresOf = (results: ClientResults) =>
  results.filter(({ error }) => error !== undefined).map(({ name, error }) => `${name}: ${error}`);

describe('examples of the mounting page', () => {
  const code = new Map(
    codeBlocksOf('docs/guide/mounting.md').map((block) => [
      /^\/\/ (\S+\.js)\n/.exec(block.code)?.[1],
      block.code,
    ]),
  );
  const send = async (url: string): Promise<string> => {
    const agent = connect(url, { maxRetries: 0 });
    const task = await agent.send({ message: userMessage('hello') });
    await agent.close();
    return JSON.stringify(task);
  };

  it.skipIf(bun === undefined)('bun.js runs in Bun', async () => {
    const port = await findFreePort();
    consumer.write('bun.js', (code.get('bun.js') ?? '').replace('4000', String(port)));
    const program = new RunningCommand(spawn(bun ?? '', ['bun.js'], { cwd: consumer.path }));
    running.push(program);
    await program.prints(/Started/);
    expect(await send(`http://127.0.0.1:${port}/agent`)).toContain('hello');
  });

  it.skipIf(deno === undefined)('deno.js runs in Deno', async () => {
    const port = await findFreePort();
    consumer.write('deno.js', code.get('deno.js') ?? '');
    const args = ['serve', '-A', '--port', String(port), 'deno.js'];
    const program = new RunningCommand(spawn(deno ?? '', args, { cwd: consumer.path }));
    running.push(program);
    await program.prints(/Listening/, 'stderr');
    expect(await send(`http://127.0.0.1:${port}/agent`)).toContain('hello');
  });

  it.skipIf(workerd === undefined)('worker.js runs in workerd', async () => {
    consumer.write('docs-worker.js', code.get('worker.js') ?? '');
    const worker = await startWorkerd(
      workerd ?? '',
      await bundleWorker(join(consumer.path, 'docs-worker.js')),
      [],
    );
    running.push(worker);
    expect(await send(`${worker.url}/agent`)).toContain('hello');
  });
});

describe.each(runtimes)('%s', (name, runtime) => {
  let url: string;
  const { serve, runClient } = runtime ?? {};

  beforeAll(async () => {
    if (serve) url = await serve();
  });

  const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' };
  const open = (path: string, text: string) =>
    fetch(`${url}/agent${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
      }),
    });

  it.skipIf(!runtime)('serves an agent to all clients', async () => {
    const module = (await import(join(consumer.path, 'client-checks.mjs'))) as {
      runClientChecks(agentUrl: string): Promise<ClientResults>;
    };
    const results = await module.runClientChecks(`${url}/agent`);
    const failed = results.filter(({ error }) => error !== undefined).map((each) => each.name);
    console.log(`${name}: server ${results.length - failed.length} of ${results.length}`);
    const expected = expectedFailures[name] ?? [];
    expect(failuresOf(results.filter((each) => !expected.includes(each.name)))).toEqual([]);
    expect(failed).toEqual(expected);
  });

  it.skipIf(!runtime)('serves the card with its URL, and health checks', async () => {
    for (const path of ['agent-card.json', 'agent.json']) {
      const card = (await (await fetch(`${url}/agent/.well-known/${path}`)).json()) as { url: string };
      expect(card.url).toBe(`${url}/agent`);
    }
    expect((await fetch(`${url}/agent/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/agent/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
  });

  it.skipIf(!runtime)('rejects invalid bodies', async () => {
    const response = await fetch(`${url}/agent`, { method: 'POST', headers, body: '{' });
    expect(await response.json()).toMatchObject({ error: { code: -32_700 } });
    const large = await open('/message:send', 'x'.repeat(11 * 1_024 * 1_024));
    expect(large.status).toBe(413);
  });

  it.skipIf(!runtime)('sends heartbeats', async () => {
    let beats = 0;
    for await (const { comment } of streamSseFrames(await open('/message:stream', 'slow')))
      if (comment !== undefined && ++beats === 3) break;
    expect(beats).toBe(3);
  });

  it.skipIf(!runtime)('sends the events of a task to the subscriber of another request', async () => {
    const frames = streamSseFrames(await open('/message:stream', 'slow'));
    const first = await frames.next();
    const { id } = (first.value as { data: { task: { id: string } } }).data.task;
    const agent = connect(`${url}/agent`);
    const states: string[] = [];
    for await (const event of agent.subscribe({ id })) {
      if (event.kind === 'task') await agent.cancelTask({ id });
      if (event.kind === 'status') states.push(event.status.state);
    }
    expect(states.at(-1)).toBe('canceled');
    await frames.return(undefined);
    await agent.close();
  });

  it.skipIf(!runtime)('calls agents with connect', async () => {
    const node = processRuntime('node', process.execPath);
    const results = (await runClient?.(`${await node.serve()}/agent`)) ?? [];
    console.log(`${name}: client ${results.length - failuresOf(results).length} of ${results.length}`);
    expect(failuresOf(results)).toEqual([]);
    expect(results.length).toBeGreaterThan(15);
  });
});
