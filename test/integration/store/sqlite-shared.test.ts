import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { connect, type RemoteAgent } from '../../../src/client/connect.ts';
import {
  collectStream,
  artifactTexts,
  userRequest,
  statesOf,
  expectTask,
} from '../../support/engine/conversation.ts';
import { runDragoman, type RunningCommand, serveModule } from '../../support/cli/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-shared-'));
const file = join(folder, 'tasks.db');
const module = join(folder, 'agent.mjs');
const dist = new URL('../../../dist/', import.meta.url).href;
// All tasks wait until the same process receives "go".
writeFileSync(
  module,
  `import { defineAgent } from '${dist}index.js';
  import { sqliteTaskStore } from '${dist}store/sqlite.js';
  let open;
  const opened = new Promise((resolve) => { open = resolve; });
  export default defineAgent(
    {
      name: 'Patient',
      description: 'Waits',
      async *process({ text }) {
        yield 'begun by ' + process.pid;
        if (text === 'go') open();
        else await opened;
        yield ', done';
      },
    },
    { taskStore: await sqliteTaskStore({ file: ${JSON.stringify(file)}, shared: true }) },
  );`,
);
// An agent without a task store of its own.
const plain = join(folder, 'plain.mjs');
writeFileSync(
  plain,
  `import { defineAgent } from '${dist}index.js';
  export default defineAgent({ name: 'Plain', description: 'Plain', process: () => 'done' });`,
);

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(): Promise<RunningCommand & { agent: RemoteAgent }> {
  const running = await serveModule(module);
  cleanups.push(() => running.stop('SIGKILL'));
  const agent = connect(running.url, { maxRetries: 0 });
  cleanups.push(() => agent.close());
  return Object.assign(running, { agent });
}

it('shared SQLite store lets a process read, subscribe to and cancel tasks of another process', async () => {
  const first = await start();
  const wait = (): ReturnType<RemoteAgent['send']> =>
    first.agent.send(userRequest('wait', {}, { configuration: { returnImmediately: true } }));
  const { id } = expectTask(await wait());
  const { id: canceledId } = expectTask(await wait());
  const second = await start();
  expect((await second.agent.getTask({ id })).status.state).toBe('working');

  const alone = await runDragoman(['serve', plain, '--port', '0', '--store', `sqlite:${file}`]).ended;
  expect(alone.stderr).toContain(
    `${file} is shared by process ${first.process.pid} on ${hostname()} and 1 more since 20`,
  );
  expect(alone.stderr).toContain('open the file with shared: true in all processes');
  expect(alone.code).toBe(2);

  expect((await second.agent.cancelTask({ id: canceledId })).status.state).toBe('canceled');
  const events = second.agent.subscribe({ id })[Symbol.asyncIterator]();
  // The first event is the task: the subscription exists before the task continues.
  expect((await events.next()).value).toMatchObject({ kind: 'task', task: { status: { state: 'working' } } });
  await first.agent.send(userRequest('go'));
  expect(statesOf(await collectStream({ [Symbol.asyncIterator]: () => events })).at(-1)).toBe('completed');
  const task = await second.agent.getTask({ id });
  expect(artifactTexts(task)).toEqual([`begun by ${first.process.pid}, done`]);
  expect(await first.agent.getTask({ id })).toEqual(task);
  for (const { agent } of [first, second])
    expect((await agent.getTask({ id: canceledId })).status.state).toBe('canceled');

  // The end of one process does not affect the other.
  await first.stop('SIGKILL');
  const own = expectTask(await second.agent.send(userRequest('go')));
  const third = await start();
  expect(await third.agent.getTask({ id: own.id })).toEqual(own);
});
