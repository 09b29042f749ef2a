/**
 * A task store in PostgreSQL, shared by all replicas of an agent. Needs the package `pg`.
 *
 * @module
 */
import { hostname } from 'node:os';
import { packageVersion } from '../primitives/node/package-version.ts';
import { unrefClock, type Clock } from '../primitives/clock.ts';
import { type A2AError, invalidField } from '../protocol/errors.ts';
import { copyingTaskStore } from './copying-task-store.ts';
import { openPostgres, type PostgresDatabaseOptions } from './postgres/open-postgres.ts';
import { PostgresTaskStore } from './postgres/postgres-task-store.ts';
import { migrateSchema, loadPageTokenKey, reserveSchema } from './postgres/schema.ts';
import type { TaskStore } from './task-store.ts';

export type { PostgresClient, PostgresPool } from './postgres/connection.ts';
export type { PostgresDatabaseOptions } from './postgres/open-postgres.ts';

/** Options of {@link postgresTaskStore}. The tables are created if they do not exist. */
export interface PostgresTaskStoreOptions extends PostgresDatabaseOptions {
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
  const { lease = 10_000, clock = unrefClock } = options;
  if (!(lease >= 1_000)) throw invalidField('lease', 'must be at least 1,000 milliseconds');
  const { connection, schema, schemaName, close } = await openPostgres(options);
  try {
    await migrateSchema(connection, schemaName);
    const taskStore = new PostgresTaskStore(connection, {
      schema,
      channel: `dragoman_${schemaName}`,
      pageTokenKey: await loadPageTokenKey(connection, schemaName),
      replicaName: options.replica ?? `${hostname()} ${process.pid}`,
      version: packageVersion(),
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
      reserveFor: (name) => reserveSchema(connection, schema, name),
      close,
    });
    await taskStore.start();
    return copyingTaskStore(taskStore);
  } catch (error) {
    await close();
    throw error;
  }
}
