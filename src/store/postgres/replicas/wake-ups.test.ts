import { Pool } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { createTask, status } from '../../../../test/contracts/task-store/actions.ts';
import { createDeferred } from '../../../../test/support/engine/conversation.ts';
import { hasPostgres, usePostgres } from '../../../../test/support/store/postgres-server.ts';
import { postgresTaskStore } from '../../postgres.ts';
import type { TaskLog, TaskStore } from '../../task-store.ts';

const server = usePostgres(true);
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of cleanups.splice(0).toReversed()) await end();
});

/** Opens a task store that does not poll, and waits until notifications arrive. */
async function openReplica(schema: string): Promise<TaskStore> {
  const { promise: areActive, resolve } = createDeferred();
  const taskStore = await postgresTaskStore({
    url: server().url,
    schema,
    pollInterval: 3_600_000,
    onWakeUps: (isActive) => isActive && resolve(),
  });
  cleanups.push(async () => taskStore[Symbol.asyncDispose]());
  await areActive;
  return taskStore;
}

/** Returns a list that grows with the notifications of all replicas, and a function that waits until it is complete. */
async function recordNotifications(schema: string): Promise<{ all: string[]; complete(): Promise<void> }> {
  const pool = new Pool({ connectionString: server().url, max: 2 });
  cleanups.push(() => pool.end());
  const client = await pool.connect();
  cleanups.push(async () => client.release(true));
  const all: string[] = [];
  const waiting = new Map<string, () => void>();
  client.on('notification', ({ payload = '' }) => {
    const resolve = waiting.get(payload);
    if (resolve) resolve();
    else all.push(payload.slice(payload.indexOf(' ') + 1));
  });
  await client.query(`listen "dragoman_${schema}"`);
  return {
    all,
    // PostgreSQL delivers notifications in the order of their commits.
    async complete() {
      const mark = `0 {"probe":"${Math.random()}"}`;
      const arrived = new Promise<void>((resolve) => waiting.set(mark, resolve));
      await pool.query('select pg_notify($1, $2)', [`dragoman_${schema}`, mark]);
      await arrived;
    },
  };
}

const isOpen = (log: TaskLog | undefined): TaskLog => {
  if (!log) throw new Error('The task was not found');
  return log;
};

describe.skipIf(!hasPostgres)('WakeUps', () => {
  it('announces no change of tasks that no other replica follows', async () => {
    const [first] = [await openReplica('unfollowed'), await openReplica('unfollowed')];
    const notifications = await recordNotifications('unfollowed');
    const log = await createTask(first, 'a');
    for (let at = 0; at < 20; at++) {
      log.append(status(log, 'working'));
      await log.whenPersisted();
    }
    await notifications.complete();
    expect(notifications.all).toEqual([]);
  });

  it('delivers events of a holder that started after the subscription', async () => {
    const [first, second] = [await openReplica('moved'), await openReplica('moved')];
    const log = await createTask(first, 'a');
    log.append(status(log, 'working'));
    await log.whenPersisted();
    const remote = isOpen(await second.open(log.owner, log.id));
    const events = remote.subscribe(remote.sequence);
    const next = events.next();
    await first.handOver?.([{ owner: log.owner, id: log.id }]);
    const third = await openReplica('moved');
    await third.takeOver?.();
    const taken = isOpen(await third.open(log.owner, log.id));
    taken.append(status(log, 'completed'));
    await taken.whenPersisted();
    expect((await next).value).toMatchObject({ kind: 'status', status: { state: 'completed' } });
  });
});
