import { afterEach, describe, expect, it } from 'vitest';
import { hasPostgres, usePostgres } from '../../../test/support/store/postgres-server.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import { postgresTaskStore } from '../postgres.ts';
import type { TaskLog, TaskStore } from '../task-store.ts';

const server = usePostgres(true);
const stores: TaskStore[] = [];

afterEach(async () => {
  for (const each of stores.splice(0)) await each[Symbol.asyncDispose]();
});

const newTask = (id: string): Task => ({ id, contextId: 'c', status: { state: 'submitted' } });

const status = ({ id, contextId }: TaskLog, state: TaskState): TaskChange => ({
  kind: 'status',
  taskId: id,
  contextId,
  status: { state },
});

const unavailable = { reason: 'UNAVAILABLE', details: { retryAfter: '1' } };

describe.skipIf(!hasPostgres)('postgresTaskStore', () => {
  it('rejects new tasks while the server is down and stores the events of running tasks afterwards', async () => {
    const outages: (A2AError | undefined)[] = [];
    const taskStore = await postgresTaskStore({
      url: server().url,
      schema: 'outage',
      onOutage: (error) => outages.push(error),
    });
    stores.push(taskStore);
    const log = await taskStore.create('ann', newTask('old'), 'm');
    const events = log.subscribe(1);

    await server().halt('SIGQUIT');
    log.append(status(log, 'working'));
    await expect(log.whenPersisted()).rejects.toMatchObject(unavailable);
    expect(taskStore.outage?.()).toMatchObject({ error: unavailable, ended: expect.any(Promise) });
    await expect(async () => taskStore.create('ann', newTask('new'))).rejects.toMatchObject(unavailable);
    await expect(async () => taskStore.list('ann', {})).rejects.toMatchObject(unavailable);
    log.append(status(log, 'completed'));
    expect(log.task().status.state).toBe('submitted');

    await server().launch();
    await taskStore.outage?.()?.ended;
    expect(outages).toMatchObject([unavailable, undefined]);
    expect((await events.next()).value).toMatchObject({ sequence: 2 });
    expect((await events.next()).value).toMatchObject({ sequence: 3, status: { state: 'completed' } });
    await taskStore.create('ann', newTask('new'));
    expect((await taskStore.list('ann', {})).tasks.map(({ id }) => id)).toEqual(['new', 'old']);
  });

  it('does not store an event twice if the connection breaks after the commit', async () => {
    const taskStore = await postgresTaskStore({ url: server().url, schema: 'twice' });
    stores.push(taskStore);
    const logs = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => taskStore.create('ann', newTask(`t${n}`))),
    );
    for (const log of logs) log.append(status(log, 'working'));
    const isStored = Promise.allSettled(logs.map(async (log) => log.whenPersisted()));
    // The commit is on its way.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await server().halt('SIGQUIT');
    await server().launch();
    await isStored;
    await taskStore.outage?.()?.ended;
    for (const log of logs) log.append(status(log, 'completed'));
    await Promise.all(logs.map(async (log) => log.whenPersisted()));
    const other = await postgresTaskStore({ url: server().url, schema: 'twice', withoutLease: true });
    stores.push(other);
    for (const { id } of logs) {
      const opened = await other.open('ann', id);
      expect(opened).toMatchObject({ sequence: 3, state: 'completed' });
    }
  });

  it.each([
    ['a wrong database', (url: string) => url.replace(/postgres$/, 'nothing'), /nothing.*does not exist/],
    ['a wrong port', (url: string) => url.replace(/:\d+\//, ':1/'), /not available/],
  ])('rejects %s with a clear error', async (_, change, message) => {
    await expect(postgresTaskStore({ url: change(server().url) })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringMatching(message),
    });
  });

  it('rejects a schema of a newer version', async () => {
    const taskStore = await postgresTaskStore({ url: server().url, schema: 'newer' });
    stores.push(taskStore);
    const { Pool } = await import('pg');
    const pool = new Pool({ connectionString: server().url });
    await pool.query('update newer.schema_version set version = 99');
    await pool.end();
    await expect(postgresTaskStore({ url: server().url, schema: 'newer' })).rejects.toThrow(/version 99/);
  });
});
