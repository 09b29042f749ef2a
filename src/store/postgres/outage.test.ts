import { Pool } from 'pg';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { hasPostgres, usePostgres } from '../../../test/support/store/postgres-server.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { TaskChange } from '../../protocol/reduce.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import { postgresTaskStore } from '../postgres.ts';
import { migrateStore } from '../status/migrate-store.ts';
import type { TaskLog, TaskStore } from '../task-store.ts';
import { parseStoreUrl } from '../url/parse-store-url.ts';

const server = usePostgres(true);
const stores: TaskStore[] = [];

afterEach(async () => {
  for (const each of stores.splice(0)) await each[Symbol.asyncDispose]();
});

/** Opens connections of an administrator. */
function openPool(): Pool {
  const pool = new Pool({ connectionString: server().url });
  onTestFinished(() => pool.end());
  return pool;
}

function postgresUrl(schema: string) {
  const url = parseStoreUrl(`${server().url}?schema=${schema}`);
  if (url.kind !== 'postgres') throw new Error('expected a PostgreSQL database');
  return url;
}

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
    ['a wrong port', (url: string) => url.replace(/:\d+\//, ':1/'), /ECONNREFUSED 127\.0\.0\.1:1/],
  ])('rejects %s with a clear error', async (_, change, message) => {
    await expect(postgresTaskStore({ url: change(server().url) })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringMatching(message),
      hint: expect.any(String),
    });
  });

  it.each([
    ['may not write', 'revoke insert on denied.events from agent', 'grant insert on denied.events to agent'],
    ['may not log in', 'alter role agent nologin', 'alter role agent login'],
  ])('stores the events of running tasks after its user %s for a while', async (_, deny, allow) => {
    const pool = openPool();
    await pool.query('create role agent login').catch(() => {});
    await migrateStore(postgresUrl('denied'), { role: 'agent' });
    const url = server().url.replace('test@', 'agent@');
    const taskStore = await postgresTaskStore({ url, schema: 'denied' });
    stores.push(taskStore);
    const log = await taskStore.create('ann', newTask(crypto.randomUUID()));
    await pool.query(deny);
    await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'agent'`);
    log.append(status(log, 'completed'));
    await expect(log.whenPersisted()).rejects.toMatchObject(unavailable);
    await expect(async () => taskStore.create('ann', newTask('new'))).rejects.toMatchObject(unavailable);
    await pool.query(allow);
    await taskStore.outage?.()?.ended;
    await log.whenPersisted();
    expect(log.task().status.state).toBe('completed');
  });

  it('gives up a statement that waits for a lock, and so does the database', async () => {
    const taskStore = await postgresTaskStore({
      url: server().url,
      schema: 'locked',
      statementTimeout: 2_000,
    });
    stores.push(taskStore);
    const pool = openPool();
    const client = await pool.connect();
    await client.query('begin; lock table locked.tasks');
    await expect(async () => taskStore.create('ann', newTask('a'))).rejects.toMatchObject(unavailable);
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%created as%'`;
    while ((await pool.query(waiting)).rows.length > 0);
    await client.query('rollback');
    client.release();
    await taskStore.outage?.()?.ended;
    await taskStore.create('ann', newTask('b'));
    expect((await taskStore.list('ann', {})).tasks.map(({ id }) => id)).toEqual(['b']);
  });

  it('renews its lease although many reads wait for a lock', async () => {
    const taskStore = await postgresTaskStore({
      url: server().url,
      schema: 'busy',
      statementTimeout: 60_000,
    });
    stores.push(taskStore);
    await taskStore.create('ann', newTask('a'));
    const pool = openPool();
    const client = await pool.connect();
    await client.query('begin; lock table busy.tasks');
    const reads = Array.from({ length: 100 }, async () => taskStore.list('ann', {}));
    const lease = async (): Promise<number> =>
      Number((await pool.query('select extract(epoch from expires_at) as at from busy.replicas')).rows[0].at);
    const before = await lease();
    await expect.poll(lease).toBeGreaterThan(before);
    await client.query('rollback');
    client.release();
    expect(await Promise.all(reads)).toHaveLength(100);
  });

  it('rejects a schema of a newer version', async () => {
    const taskStore = await postgresTaskStore({ url: server().url, schema: 'newer' });
    stores.push(taskStore);
    await openPool().query('update newer.schema_version set version = 99');
    await expect(postgresTaskStore({ url: server().url, schema: 'newer' })).rejects.toThrow(/version 99/);
  });
});
