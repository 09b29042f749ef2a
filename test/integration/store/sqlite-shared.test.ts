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
// It waits with everything until somebody says "go" to the same process.
writeFileSync(
  module,
  `import { defineAgent } from '${dist}index.js';
  import { sqliteLedger } from '${dist}ledger/sqlite.js';
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
    { ledger: await sqliteLedger({ file: ${JSON.stringify(file)}, shared: true }) },
  );`,
);
// It has no ledger of its own.
const plain = join(folder, 'plain.mjs');
writeFileSync(
  plain,
  `import { defineAgent } from '${dist}index.js';
  export default defineAgent({ name: 'Plain', description: 'Plain', process: () => 'done' });`,
);

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(): Promise<RunningCommand & { agent: RemoteAgent }> {
  const running = await serveModule(module);
  ends.push(() => running.stop('SIGKILL'));
  const agent = connect(running.url, { maxRetries: 0 });
  ends.push(() => agent.close());
  return Object.assign(running, { agent });
}

it('lets one process read and follow to its end what another one does, and cancel it', async () => {
  const first = await start();
  const wait = (): ReturnType<RemoteAgent['send']> =>
    first.agent.send(userRequest('wait', {}, { configuration: { returnImmediately: true } }));
  const { id } = expectTask(await wait());
  const { id: doomed } = expectTask(await wait());
  const second = await start();
  expect((await second.agent.getTask({ id })).status.state).toBe('working');

  const alone = await runDragoman(['serve', plain, '--port', '0', '--store', `sqlite:${file}`]).ended;
  expect(alone.stderr).toContain(
    `${file} is shared by process ${first.process.pid} on ${hostname()} and 1 more since 20`,
  );
  expect(alone.stderr).toContain('let all of them share it');
  expect(alone.code).toBe(2);

  expect((await second.agent.cancelTask({ id: doomed })).status.state).toBe('canceled');
  const following = collectStream(second.agent.subscribe({ id }));
  await first.agent.send(userRequest('go'));
  expect(statesOf(await following).at(-1)).toBe('completed');
  const task = await second.agent.getTask({ id });
  expect(artifactTexts(task)).toEqual([`begun by ${first.process.pid}, done`]);
  expect(await first.agent.getTask({ id })).toEqual(task);
  for (const { agent } of [first, second])
    expect((await agent.getTask({ id: doomed })).status.state).toBe('canceled');

  // The end of one is nothing to the other.
  await first.stop('SIGKILL');
  const own = expectTask(await second.agent.send(userRequest('go')));
  const third = await start();
  expect(await third.agent.getTask({ id: own.id })).toEqual(own);
});
