import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { repositoryRoot, type RunningCommand, runDragoman } from '../../support/cli/run-command.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { LoadBalancer } from '../../support/http/load-balancer.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-rolling-'));
const running = new Set<RunningCommand>();

afterAll(async () => {
  await Promise.all([...running].map((each) => each.stop('SIGKILL')));
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a server on the task store that all servers share. */
async function start(port: number): Promise<RunningCommand> {
  const command = runDragoman(
    [
      'serve',
      join(repositoryRoot, 'test/integration/fixtures/resuming-agent.mjs'),
      `--port=${port}`,
      `--store=sqlite:${join(folder, 'tasks.db')}?shared`,
      '--log=json',
      '--not-ready=500ms',
      '--drain=500ms',
    ],
    { env: { DRAGOMAN_MODULE: pathToFileURL(join(repositoryRoot, 'dist/index.js')).href } },
  );
  running.add(command);
  await command.prints(/listening on/);
  return command;
}

async function restart(command: RunningCommand, port: number): Promise<RunningCommand> {
  expect(await command.stop('SIGTERM')).toMatchObject({ code: 0 });
  running.delete(command);
  return start(port);
}

const countResumed = (command: RunningCommand): number =>
  command.stderr.split('Resuming a task after a restart').length - 1;

it('finishes all streams while six servers restart one after the other', { timeout: 300_000 }, async () => {
  const ports: number[] = [];
  for (let i = 0; i < 6; i++) ports.push(await findFreePort());
  const servers: RunningCommand[] = [];
  for (const port of ports) servers.push(await start(port));
  const balancer = await LoadBalancer.start(ports);
  const over = new AbortController();
  const outcomes: string[] = [];
  async function streamRepeatedly(): Promise<void> {
    const agent = connect(balancer.url);
    while (!over.signal.aborted) outcomes.push(await streamOnce(agent));
    await agent.close();
  }
  const clients = Array.from({ length: 12 }, streamRepeatedly);
  let resumed = 0;
  for (const [i, port] of ports.entries()) {
    const server = servers[i] as RunningCommand;
    resumed += countResumed(server);
    servers[i] = await restart(server, port);
  }
  over.abort();
  await Promise.all(clients);
  for (const server of servers) resumed += countResumed(server);
  await balancer.stop();
  expect(outcomes.filter((each) => each !== 'completed')).toEqual([]);
  // Otherwise the test shows nothing.
  expect(outcomes.length).toBeGreaterThanOrEqual(24);
  expect(resumed).toBeGreaterThan(0);
});

/** Streams one task to its end and returns its last state or the error. */
async function streamOnce(agent: ReturnType<typeof connect>): Promise<string> {
  const message = { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text: 'go' }] };
  let state = 'none';
  try {
    for await (const event of agent.stream({ message })) {
      if (event.kind === 'task') ({ state } = event.task.status);
      if (event.kind === 'status') ({ state } = event.status);
    }
    return state;
  } catch (thrown) {
    return String(thrown);
  }
}
