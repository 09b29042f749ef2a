/**
 * A task store in one SQLite file.
 *
 * Uses `node:sqlite` if this version of Node has it, otherwise the package `libsql`.
 *
 * @module
 */
import { type Clock, unrefClock } from '../primitives/clock.ts';
import type { A2AError } from '../protocol/errors.ts';
import type { TaskStore } from './task-store.ts';
import { limitBlockingWait } from './sqlite/sharing/retry-while-locked.ts';
import { copyingTaskStore } from './copying-task-store.ts';
import { type Database, openDatabase } from './sqlite/database.ts';
import { Lease } from './sqlite/lease/lease.ts';
import { findStaleLeases } from './sqlite/lease/stale-leases.ts';
import { createSchema } from './sqlite/schema.ts';
import { SqliteTaskStore } from './sqlite/sqlite-task-store.ts';

/** Options of {@link sqliteTaskStore}. */
export interface SqliteTaskStoreOptions {
  /**
   * Path of the file, which is created if it does not exist. One task store at a time may write to it (exclusive
   * lease), unless all of them set `shared`.
   */
  file: string;
  /**
   * Takes a shared lease: all processes that set it may write, for example to use more cores. Each process runs the tasks
   * that it created and serves requests for all of them; it passes commands to the process that holds a task. An agent with
   * `resume` that closes hands its running tasks over to another process; the tasks of a process that has ended are taken
   * over.
   * @defaultValue false
   */
  shared?: boolean;
  /**
   * Opens the file without a lease, so that another process may hold one. Tasks can be read, subscribed to and expired,
   * and deliveries retried, but not created or changed: no agent can run on this store.
   * @defaultValue false
   */
  withoutLease?: boolean;
  /**
   * Milliseconds without a heartbeat after which another process may take over the lease; at least 1,000. It observes the
   * lease for this time, because clocks may have been set. The lease of a process that ended on the same host is taken
   * over at once.
   * @defaultValue 10,000
   */
  leaseTimeout?: number;
  /**
   * Called once if another process took over the lease, for example while this one was suspended. All later writes fail
   * with this error. A process with a shared lease takes a new one instead, unless another process holds an exclusive one.
   */
  onLeaseLost?: (error: A2AError) => void;
  /**
   * Called with the error when the file cannot be written, for example because the disk is full, and without an error
   * when it can be written again. Meanwhile the store retries; see `TaskStore.outage`.
   */
  onOutage?: (error?: A2AError) => void;
  /** Called once with each damaged row, which is left out of lists; its hint names the command that repairs the file. */
  onDamage?: (error: A2AError) => void;
  /**
   * `normal`: a crash of the process loses nothing, a power failure may lose the newest commits. `full`: every commit
   * waits for the disk.
   * @defaultValue `'normal'`
   */
  synchronous?: 'normal' | 'full';
  /**
   * Milliseconds for which a commit waits for a write lock of another process, without blocking the event loop. Then an
   * outage begins, during which requests do not wait.
   * @defaultValue 5,000
   */
  busyTimeout?: number;
  /**
   * Maximum number of tasks in the cache.
   * @defaultValue 4,096
   */
  maxCachedTasks?: number;
  /**
   * Approximate maximum size of the cache, in bytes.
   * @defaultValue 64 MiB
   */
  maxCachedBytes?: number;
  /**
   * Approximate maximum size of one task, in bytes; a character counts as one byte. Changes that make a task larger fail
   * with `RESOURCE_EXHAUSTED`.
   * @defaultValue 64 MiB
   */
  maxTaskBytes?: number;
  /**
   * Maximum size of the file, in bytes, without its write-ahead log. A full file is an outage: new tasks are rejected with
   * `UNAVAILABLE` and changes wait until `expire()` has deleted finished tasks.
   * @defaultValue unlimited
   */
  maxFileBytes?: number;
  /**
   * Milliseconds between checks for writes of other processes, which are then passed to subscribers.
   * @defaultValue 250
   */
  pollInterval?: number;
  /**
   * Lets the file system report writes of other processes with `shared`, so that they are noticed within milliseconds. Where it
   * does not, `pollInterval` applies.
   * @defaultValue true
   */
  wakeUps?: boolean;
  /** @defaultValue `Date.now` */
  now?: () => number;
  /** Clock of heartbeats. @defaultValue the system clock */
  clock?: Clock;
}

/**
 * Opens a task store in a file.
 *
 * @throws {@link A2AError} `UNAVAILABLE` if the file cannot be opened; `CONFLICT` if another task store holds the lease
 * and not both are shared.
 */
export async function sqliteTaskStore(options: SqliteTaskStoreOptions): Promise<TaskStore> {
  const { file, withoutLease = false, shared, leaseTimeout: timeout = 10_000, onLeaseLost: onLost } = options;
  const { busyTimeout = 5_000, onOutage, clock = unrefClock } = options;
  const database = await openDatabase(file);
  try {
    database.exec(`pragma busy_timeout = ${busyTimeout}`);
    database.prepare('pragma journal_mode = wal').get([]);
    database.exec(`pragma synchronous = ${options.synchronous === 'full' ? 'full' : 'normal'}`);
    // A checkpoint writes each page once, however many commits changed it: checkpoints of 16 MB cost a third less.
    database.prepare('pragma wal_autocheckpoint = 4000').get([]);
    // Access to indexes of random ids is random; pages outside of this cache are read again for every task.
    database.exec('pragma cache_size = -16000');
    createSchema(database);
    if (options.maxFileBytes !== undefined) limitFileSize(database, options.maxFileBytes);
    const stale = withoutLease ? undefined : await findStaleLeases(database, { shared });
    const taskStore = new SqliteTaskStore(database, {
      now: options.now ?? Date.now,
      maxCachedTasks: options.maxCachedTasks ?? 4_096,
      maxCachedBytes: options.maxCachedBytes ?? 64 * 1_024 * 1_024,
      maxTaskBytes: options.maxTaskBytes ?? 64 * 1_024 * 1_024,
      pollInterval: options.pollInterval ?? 250,
      // Every commit writes to the write-ahead log.
      watched: shared && options.wakeUps !== false ? `${file}-wal` : undefined,
      busyTimeout,
      onOutage,
      onDamage: options.onDamage,
      clock,
      lease: withoutLease ? undefined : new Lease(database, { file, shared, timeout, onLost, stale, clock }),
    });
    limitBlockingWait(database, busyTimeout);
    return copyingTaskStore(taskStore);
  } catch (error) {
    database.close();
    throw error;
  }
}

function limitFileSize(database: Database, maxBytes: number): void {
  const pageSize = Number(database.prepare('pragma page_size').get([])?.['page_size']);
  database.prepare(`pragma max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`).get([]);
}
