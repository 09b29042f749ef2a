import { Pool } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import type { ProcessFunction } from '../../../src/engine/agent-definition.ts';
import { Metrics } from '../../../src/metrics/metrics.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { postgresTaskStore, type PostgresTaskStoreOptions } from '../../../src/store/postgres.ts';
import type { PostgresPool } from '../../../src/store/postgres/connection.ts';
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { createTask, status } from '../../contracts/task-store/actions.ts';
import { createDeferred, expectTask, userRequest } from '../../support/engine/conversation.ts';
import { parseExposition } from '../../support/metrics/exposition.ts';
import { waitUntilTrue } from '../../support/push/test-webhook.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const server = usePostgres(true);
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of cleanups.splice(0).toReversed()) await end();
});

let schemas = 0;
const newSchema = (): string => `operations_${schemas++}`;
const immediately = { configuration: { returnImmediately: true } };
const never: ProcessFunction = () => new Promise(() => {});

async function open(options: PostgresTaskStoreOptions): Promise<TaskStore> {
  const taskStore = await postgresTaskStore({ url: server().url, ...options });
  cleanups.push(async () => taskStore[Symbol.asyncDispose]());
  return taskStore;
}

it.skipIf(!hasPostgres)('plans its statements once and compiles none of them', async () => {
  const { connection, close } = await openPostgres({ url: server().url });
  cleanups.push(close);
  const [settings] = await connection.query(
    `select current_setting('plan_cache_mode') plans, current_setting('jit') jit`,
  );
  expect(settings).toEqual({ plans: 'force_generic_plan', jit: 'off' });
});

interface ServedReplica {
  readonly agent: LocalAgent;
  readonly taskStore: TaskStore;
  readyz(): Promise<{ code: number; body: unknown }>;
  stop(): Promise<void>;
  /** Returns the values of `dragoman_replica_*`, by the rest of their names. */
  metrics(): { [name: string]: number };
}

async function serveReplica(options: PostgresTaskStoreOptions, process = never): Promise<ServedReplica> {
  const taskStore = await open(options);
  const metrics = new Metrics();
  const agent = defineAgent({ name: 'T', description: 'T', process }, { taskStore, metrics });
  const running = await serve(agent, { drain: { notReady: 2_000 } });
  cleanups.push(
    () => agent.close(),
    () => running.stop(0),
  );
  return {
    agent,
    taskStore,
    async readyz() {
      const response = await fetch(`${running.url}/readyz`);
      return { code: response.status, body: await response.json() };
    },
    stop: () => running.stop(),
    metrics: () =>
      Object.fromEntries(
        parseExposition(metrics.registry.text())
          .samples.filter(({ name, labels }) => name.startsWith('dragoman_replica_') && !('le' in labels))
          .map(({ name, value }) => [name.slice('dragoman_replica_'.length), value]),
      ),
  };
}

/** A pool whose connections ignore LISTEN, as PgBouncer in transaction mode does. */
function withoutListen(pool: Pool): PostgresPool {
  const connect = async (): ReturnType<PostgresPool['connect']> => {
    const client = await pool.connect();
    return {
      query: async (query) =>
        query.text.startsWith('listen') ? { rows: [], rowCount: 0 } : client.query(query as never),
      on: (event: string, listener: never) => client.on(event as never, listener),
      release: (close) => client.release(close),
    } as Awaited<ReturnType<PostgresPool['connect']>>;
  };
  return { connect, on: (event, listener) => pool.on(event, listener), end: () => pool.end() };
}

describe.skipIf(!hasPostgres)('/readyz of a replica', () => {
  it('names the database, notifications and running tasks', async () => {
    const replica = await serveReplica({ schema: newSchema() });
    await waitUntilTrue(() => replica.taskStore.replica?.checks()['wakeUps'] === 'active');
    expect(await replica.readyz()).toEqual({
      code: 200,
      body: {
        status: 'ready',
        checks: { database: 'connected', wakeUps: 'active', tasks: '0 running' },
      },
    });
    await replica.agent.send(userRequest('hi', {}, immediately));
    expect(await replica.readyz()).toMatchObject({ body: { checks: { tasks: '1 running' } } });
  });

  it('is ready if notifications do not arrive, and says so', async () => {
    const pool = new Pool({ connectionString: server().url });
    cleanups.push(() => pool.end());
    const isPolling = createDeferred();
    const replica = await serveReplica({
      schema: newSchema(),
      pool: withoutListen(pool),
      onWakeUps: (isActive) => !isActive && isPolling.resolve(),
    });
    await isPolling.promise;
    expect(await replica.readyz()).toMatchObject({ code: 200, body: { checks: { wakeUps: 'polling' } } });
    const without = await serveReplica({ schema: newSchema(), wakeUps: false });
    expect(await without.readyz()).toMatchObject({ code: 200, body: { checks: { wakeUps: 'off' } } });
  });

  it('responds 503 while the database is away and while it drains', async () => {
    const replica = await serveReplica({ schema: newSchema(), lease: 1_000 });
    await server().halt('SIGQUIT');
    await waitUntilTrue(() => replica.taskStore.outage?.() !== undefined);
    expect(await replica.readyz()).toMatchObject({
      code: 503,
      body: { status: 'unavailable', checks: { database: 'unavailable' } },
    });
    await server().launch();
    await replica.taskStore.outage?.()?.ended;
    expect(await replica.readyz()).toMatchObject({ code: 200, body: { checks: { database: 'connected' } } });
    const stopping = replica.stop();
    expect(await replica.readyz()).toMatchObject({
      code: 503,
      body: { status: 'stopping', checks: { database: 'connected', tasks: '0 running' } },
    });
    await stopping;
  });
});

describe.skipIf(!hasPostgres)('metrics of a replica', () => {
  it('count commits, held tasks, commands and notifications', async () => {
    const options = { schema: newSchema() };
    const one = await serveReplica(options);
    const two = await serveReplica(options);
    await waitUntilTrue(() => (one.metrics()['wake_up_seconds_count'] ?? 0) > 0);
    const { id } = expectTask(await one.agent.send(userRequest('hi', {}, immediately)));
    expect(one.metrics()).toMatchObject({ held_tasks: 1, commands_executed_total: 0 });
    expect(two.metrics()).toMatchObject({ held_tasks: 0, commit_tasks_count: 0 });
    expect((await two.agent.cancelTask({ id })).status.state).toBe('canceled');
    const { commands_sent_total: sent = 0, ...sender } = two.metrics();
    // A command is sent again if the holder does not respond within the interval of the periodic reads.
    expect(sent).toBeGreaterThanOrEqual(1);
    expect(sender).toMatchObject({ commands_executed_total: 0 });
    const { commit_tasks_count: commits = 0, commands_executed_total: executed, ...holder } = one.metrics();
    expect(holder).toMatchObject({ held_tasks: 0, commands_sent_total: 0 });
    expect(executed).toBeGreaterThanOrEqual(1);
    expect(executed).toBeLessThanOrEqual(sent);
    expect(commits).toBeGreaterThanOrEqual(2);
    expect(holder['commit_seconds_count']).toBe(commits);
    // By the clock of the database, so that it is never negative and never the age of a clock.
    expect(holder['wake_up_seconds_sum']).toBeLessThan(60);
    await waitUntilTrue(() => (two.metrics()['wake_up_seconds_count'] ?? 0) > 0);
  });

  it('count tasks that were taken over, and refused writes', async () => {
    const schema = newSchema();
    const [one, two] = [await open({ schema, wakeUps: false }), await open({ schema, wakeUps: false })];
    const metrics = [new Metrics(), new Metrics()];
    for (const [at, store] of [one, two].entries()) metrics[at]?.observeStore(store);
    const log = await createTask(one, 't', ['working']);
    const pool = new Pool({ connectionString: server().url });
    cleanups.push(() => pool.end());
    await pool.query(`update ${schema}.tasks set holder = null`);
    expect(await two.takeOver?.()).toMatchObject([{ id: 't' }]);
    log.append(status(log, 'completed'));
    await expect(log.whenPersisted()).rejects.toMatchObject({ reason: 'CONFLICT' });
    const [fenced, took] = metrics.map((each) => each.registry.text());
    expect(fenced).toMatch(/^dragoman_replica_fenced_writes_total 1$/m);
    expect(fenced).toMatch(/^dragoman_replica_takeovers_total 0$/m);
    expect(took).toMatch(/^dragoman_replica_takeovers_total 1$/m);
    expect(took).toMatch(/^dragoman_replica_fenced_writes_total 0$/m);
  });
});
