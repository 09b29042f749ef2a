import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { connect, type RemoteAgent } from '../../../src/client/connect.ts';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { artifactTexts, statusTextOf, userRequest, expectTask } from '../../support/engine/conversation.ts';
import { runDragoman, type RunningCommand, serveModule } from '../../support/cli/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-lease-'));
const module = join(folder, 'agent.mjs');
// All tasks wait until the agent receives "go".
writeFileSync(
  module,
  `import { defineAgent } from '${new URL('../../../dist/index.js', import.meta.url).href}';
  let open;
  const opened = new Promise((resolve) => { open = resolve; });
  export default defineAgent({
    name: 'Patient',
    description: 'Waits',
    async process({ text }) {
      if (text === 'go') open();
      else await opened;
      return 'done';
    },
  });`,
);

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newFile = (): string => join(folder, `${++files}.db`);

async function start(file: string): Promise<RunningCommand & { agent: RemoteAgent }> {
  const running = await serveModule(module, ['--store', `sqlite:${file}`]);
  cleanups.push(() => running.stop('SIGKILL'));
  const agent = connect(running.url, { maxRetries: 0 });
  cleanups.push(() => agent.close());
  return Object.assign(running, { agent });
}

/** Starts a task that waits. */
async function startTask(agent: RemoteAgent): Promise<string> {
  const request = userRequest('wait', {}, { configuration: { returnImmediately: true } });
  return expectTask(await agent.send(request)).id;
}

it('serve --store rejects a second process and takes over the lease after SIGKILL of the first', async () => {
  const file = newFile();
  const first = await start(file);
  const id = await startTask(first.agent);

  const second = await runDragoman(['serve', module, '--port', '0', '--store', `sqlite:${file}`]).ended;
  expect(second.stderr).toMatch(
    new RegExp(
      `^error: ${file} is in use by process ${first.process.pid} on ${hostname()} since 20.*Z\n` +
        'hint: Stop that process, use another file, or open the file with shared: true in all processes\\. To share the file between processes, use --store sqlite:[^ ]+\\?shared\\.\n$',
    ),
  );
  expect(second.code).toBe(2);

  await first.agent.send(userRequest('go'));
  for await (const _event of first.agent.subscribe({ id, afterSequence: 0 }));
  const task = await first.agent.getTask({ id });
  expect(task.status.state).toBe('completed');
  expect(artifactTexts(task)).toEqual(['done']);
  await first.stop('SIGKILL');

  const third = await start(file);
  expect((await third.agent.getTask({ id })).status.state).toBe('completed');
  const unfinished = await startTask(third.agent);
  await third.stop('SIGKILL');

  const fourth = await start(file);
  const ended = await fourth.agent.getTask({ id: unfinished });
  expect(ended.status.state).toBe('failed');
  expect(statusTextOf(ended)).toMatch(/restarted/);
});

it('serve --store grants the lease to one of several processes that start at once', async () => {
  const file = newFile();
  const all = Array.from({ length: 4 }, () =>
    runDragoman(['serve', module, '--port', '0', '--store', `sqlite:${file}`]),
  );
  cleanups.push(() => Promise.all(all.map((each) => each.stop('SIGKILL'))));
  const listening = all.map((each) => each.prints(/^listening on/).then(() => each));
  const winner = await Promise.any(listening);
  const others = all.filter((each) => each !== winner);
  for (const { ended } of others) {
    const { code, stderr } = await ended;
    expect(stderr).toContain(`in use by process ${winner.process.pid} on`);
    expect(code).toBe(2);
  }
  await Promise.allSettled(listening);
});

it('serve --store exits with an error after its lease was taken over during a suspension', async () => {
  const file = newFile();
  const first = await start(file);
  const id = await startTask(first.agent);
  first.process.kill('SIGSTOP');
  // Simulates a long suspension.
  const database = await openDatabase(file);
  database.exec('update lease set heartbeat_at = 0, timeout = 1000');
  database.close();
  const second = await start(file);
  expect((await second.agent.getTask({ id })).status.state).toBe('failed');

  first.process.kill('SIGCONT');
  const { code, stderr } = await first.ended;
  expect(stderr).toContain(
    `process ${second.process.pid} on ${hostname()} took over the lease of ${file} at 20`,
  );
  expect(stderr).toMatch(/Restart this process after the other one has ended/);
  expect(code).toBe(1);
  expect(expectTask(await second.agent.send(userRequest('go'))).status.state).toBe('completed');
});
