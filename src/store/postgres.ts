/**
 * A task store in PostgreSQL, shared by all replicas of an agent. Needs the package `pg`.
 *
 * @module
 */
import { hostname } from 'node:os';
import { unrefClock, type Clock } from '../primitives/clock.ts';
import { A2AError, invalidField } from '../protocol/errors.ts';
import { copyingTaskStore } from './copying-task-store.ts';
import { PostgresConnection, type PostgresPool } from './postgres/connection.ts';
import { PostgresTaskStore } from './postgres/postgres-task-store.ts';
import { migrateSchema, quoteSchema, loadPageTokenKey } from './postgres/schema.ts';
import type { TaskStore } from './task-store.ts';

export type { PostgresClient, PostgresPool } from './postgres/connection.ts';

/** Options of {@link postgresTaskStore}. `url` or `pool` is required. */
export interface PostgresTaskStoreOptions {
  /** URL of the database, such as `postgres://user:password@host/database?sslmode=verify-full`. */
  url?: string;
  /** A pool of your own, for example of `pg`. It needs at least three connections; it stays open. */
  pool?: PostgresPool;
  /**
   * Name of the schema with the tables, which are created if they do not exist. Replicas of one agent use the same schema,
   * different agents different ones.
   * @defaultValue `'dragoman'`
   */
  schema?: string;
  /** Name of this replica for operators. @defaultValue host name and process id */
  replica?: string;
  /**
   * Milliseconds without a heartbeat after which other replicas take over the tasks of this one; at least 1,000. Measured by
   * the clock of the database.
   * @defaultValue 10,000
   */
  lease?: number;
  /**
   * Milliseconds between two reads of what other replicas have changed, in case that a notification is lost.
   * @defaultValue 1,000
   */
  pollInterval?: number;
  /**
   * Notifies other replicas of changes (`LISTEN`/`NOTIFY`). Without it, changes become visible after `pollInterval`.
   * @defaultValue true
   */
  wakeUps?: boolean;
  /** Prepares statements. Disable it if a pooler in transaction mode does not support them. @defaultValue true */
  prepare?: boolean;
  /** Milliseconds after which a statement fails. @defaultValue 10,000 */
  statementTimeout?: number;
  /** Maximum number of connections of the pool for `url`. @defaultValue 6 */
  maxConnections?: number;
  /**
   * Opens the store without registering a replica. Tasks can be read, subscribed to and expired, and deliveries retried, but
   * not created or changed: no agent can run on this store.
   * @defaultValue false
   */
  withoutLease?: boolean;
  /** Maximum number of tasks in the cache. @defaultValue 4,096 */
  maxCachedTasks?: number;
  /** Approximate maximum size of the cache, in bytes. @defaultValue 64 MiB */
  maxCachedBytes?: number;
  /**
   * Approximate maximum size of one task, in bytes; a character counts as one byte. Changes that make a task larger fail
   * with `RESOURCE_EXHAUSTED`.
   * @defaultValue 64 MiB
   */
  maxTaskBytes?: number;
  /**
   * Called with the error when the database cannot be reached, and without an error when it can be reached again. Meanwhile
   * the store retries; see `TaskStore.outage`.
   */
  onOutage?: (error?: A2AError) => void;
  /** Called with false if notifications do not arrive, for example because of a connection pooler; with true if they do. */
  onWakeUps?: (isActive: boolean) => void;
  /** @defaultValue `Date.now` */
  now?: () => number;
  /** Clock of heartbeats and polling. @defaultValue the system clock */
  clock?: Clock;
}

/**
 * Opens a task store in a PostgreSQL database.
 *
 * @throws {@link A2AError} `UNAVAILABLE` if the database cannot be reached or its schema cannot be used.
 */
export async function postgresTaskStore(options: PostgresTaskStoreOptions): Promise<TaskStore> {
  const { schema = 'dragoman', lease = 10_000, clock = unrefClock } = options;
  if (!(lease >= 1_000)) throw invalidField('lease', 'must be at least 1,000 milliseconds');
  const quoted = quoteSchema(schema);
  const pool = options.pool ?? (await createPool(options));
  try {
    const connection = new PostgresConnection(pool, {
      statementTimeout: options.statementTimeout ?? 10_000,
      prepare: options.prepare ?? true,
    });
    await migrateSchema(connection, schema);
    const taskStore = new PostgresTaskStore(connection, {
      schema: quoted,
      channel: `dragoman_${schema}`,
      pageTokenKey: await loadPageTokenKey(connection, schema),
      replicaName: options.replica ?? `${hostname()} ${process.pid}`,
      lease,
      pollInterval: options.pollInterval ?? 1_000,
      useWakeUps: options.wakeUps ?? true,
      withoutLease: options.withoutLease ?? false,
      maxCachedTasks: options.maxCachedTasks ?? 4_096,
      maxCachedBytes: options.maxCachedBytes ?? 64 * 1_024 * 1_024,
      maxTaskBytes: options.maxTaskBytes ?? 64 * 1_024 * 1_024,
      now: options.now ?? Date.now,
      clock,
      onOutage: options.onOutage,
      onWakeUps: options.onWakeUps,
      close: async () => (options.pool ? undefined : pool.end()),
    });
    await taskStore.start();
    return copyingTaskStore(taskStore);
  } catch (error) {
    if (!options.pool) await pool.end();
    throw error;
  }
}

async function createPool({ url, maxConnections = 6 }: PostgresTaskStoreOptions): Promise<PostgresPool> {
  if (url === undefined) throw invalidField('url', 'or pool is required');
  if (!/^postgres(ql)?:\/\//.test(url)) throw invalidField('url', 'must start with postgres://');
  const { Pool } = await importPg();
  return new Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
}

async function importPg(): Promise<Pick<typeof import('pg'), 'Pool'>> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    const hint = 'npm install pg';
    throw new A2AError('INTERNAL_ERROR', `A task store in PostgreSQL needs a library: ${hint}`, {
      cause,
      hint,
    });
  }
}
