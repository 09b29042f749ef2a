import { Pool } from 'pg';
import { afterEach, beforeEach } from 'vitest';
import type { AgentDefinition } from '../../../src/engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import { unrefClock } from '../../../src/primitives/clock.ts';
import { postgresTaskStore, type PostgresTaskStoreOptions } from '../../../src/store/postgres.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { InterceptedPool } from './intercepted-pool.ts';
import { usePostgres } from './postgres-server.ts';

/** A task store like that of another process, with its own connections. */
export interface ReplicaStore {
  readonly pool: InterceptedPool;
  readonly taskStore: TaskStore;
}

/** Replicas of one agent on a schema of their own. All of them end after the test. */
interface ReplicaStores {
  readonly schema: string;
  /** Adds something that ends after the test, before what was added earlier. */
  readonly onEnd: (end: () => Promise<unknown>) => void;
  readonly open: (options?: Partial<PostgresTaskStoreOptions>) => Promise<ReplicaStore>;
  /** Opens connections that no test intercepts. */
  readonly openPool: () => Pool;
  /** Starts an agent on a store. */
  readonly start: (replica: ReplicaStore, definition: Partial<AgentDefinition>) => Promise<LocalAgent>;
}

/** Declares a PostgreSQL server for the tests of a file, and returns the replicas of the current test. */
export function useReplicaStores(): ReplicaStores {
  const server = usePostgres();
  const cleanups: (() => Promise<unknown>)[] = [];
  let schema = '';
  let count = 0;
  beforeEach(() => {
    schema = `replicas_${count++}`;
  });
  afterEach(async () => {
    for (const end of cleanups.splice(0).toReversed()) await end();
  });
  return {
    get schema() {
      return schema;
    },
    onEnd: (end) => cleanups.push(end),
    async open(options = {}) {
      const pool = new InterceptedPool(server().url);
      const taskStore = await postgresTaskStore({ pool, schema, pollInterval: 50, ...options });
      cleanups.push(async () => {
        pool.before = pool.after = () => {};
        await taskStore[Symbol.asyncDispose]();
        await pool.end();
      });
      return { pool, taskStore };
    },
    openPool() {
      const pool = new Pool({ connectionString: server().url });
      cleanups.push(() => pool.end());
      return pool;
    },
    async start({ taskStore }, definition) {
      const agent = defineAgent(
        {
          name: 'T',
          description: 'T',
          process: ({ text }) => text,
          pushNotifications: true,
          idempotency: 'message-id',
          ...definition,
        },
        { taskStore, push: { egress: { allowLoopback: true } } },
      );
      cleanups.push(() => agent.close());
      await agent.ready();
      return agent;
    },
  };
}

/** A clock whose periodic timers fire only when a test says so, like those of a process that is suspended. */
export function stoppedClock() {
  const timers: (() => void)[] = [];
  const every = (_interval: number, tick: () => void): (() => void) => {
    timers.push(tick);
    return () => {};
  };
  return { clock: { ...unrefClock, every }, tick: () => timers.forEach((fire) => fire()) };
}
