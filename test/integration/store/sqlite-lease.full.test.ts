import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { runDragoman } from '../../support/cli/run-command.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { expectTask, userRequest } from '../../support/engine/conversation.ts';
import { startWaitingTask, useLeaseAgents } from '../../support/store/lease-agents.ts';

const agents = useLeaseAgents();
const open = closeAfterEach();

it('serve --store grants the lease to one of several processes that start at once', async () => {
  const file = agents.newFile();
  const all = Array.from({ length: 4 }, () =>
    runDragoman(['serve', agents.module, '--port', '0', '--store', `sqlite:${file}`]),
  );
  open.push({ close: () => Promise.all(all.map((each) => each.stop('SIGKILL'))) });
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
  const file = agents.newFile();
  const first = await agents.start(file);
  const id = await startWaitingTask(first.agent);
  first.process.kill('SIGSTOP');
  // Simulates a long suspension.
  const database = await openDatabase(file);
  database.exec('update lease set heartbeat_at = 0, timeout = 1000');
  database.close();
  const second = await agents.start(file);
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
