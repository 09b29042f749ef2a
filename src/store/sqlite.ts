/**
 * Tasks in one SQLite file: a ledger that survives the process.
 *
 * Uses the SQLite of Node where there is one, else `libsql`, which the application installs.
 *
 * @module
 */
import type { A2AError } from '../protocol/errors.ts';
import type { TaskStore } from './task-store.ts';
import { openDatabase } from './sqlite/database.ts';
import { Lease } from './sqlite/lease.ts';
import { migrate } from './sqlite/schema.ts';
import { SqliteTaskStore } from './sqlite/sqlite-task-store.ts';

/** Where a ledger in a file is, and how careful it is. */
export interface SqliteTaskStoreOptions {
  /**
   * The path of the file, which is made if it does not exist. One ledger at a time changes the tasks in it, unless all
   * that are open say `shared`.
   */
  file: string;
  /**
   * Has the file together with other processes that say so too, to use more cores or to follow a task from elsewhere.
   * Each runs the tasks that it began; an agent leaves those of others alone unless its `recovers` says otherwise.
   * @defaultValue false
   */
  shared?: boolean;
  /**
   * Opens a file that another process may hold, to look at it: tasks are read and followed, finished ones expire and
   * deliveries are noted, but no task is made or changed, and so no agent runs on it.
   * @defaultValue false
   */
  withoutLease?: boolean;
  /**
   * After how many milliseconds without a sign of life another may take the file. Where it can be seen that the
   * process is gone, as on the same machine, nobody waits for that. At least 1,000.
   * @defaultValue 10,000
   */
  leaseTimeout?: number;
  /**
   * Is told, once, that another process took the file over, as it may when this one slept. From then on everything
   * that would change a task fails with this error.
   */
  onLeaseLost?: (error: A2AError) => void;
  /**
   * `normal` survives the end of the process at any moment; after a power failure the newest commits may be missing.
   * `full` waits for the disk with every commit.
   * @defaultValue `'normal'`
   */
  synchronous?: 'normal' | 'full';
  /**
   * For how many milliseconds a commit waits for another process that writes. Nothing else runs meanwhile.
   * @defaultValue 5,000
   */
  busyTimeout?: number;
  /**
   * How many tasks are kept in memory as well.
   * @defaultValue 4,096
   */
  maxCachedTasks?: number;
  /**
   * About how many bytes they may take.
   * @defaultValue 64 MiB
   */
  maxCachedBytes?: number;
  /**
   * After how many milliseconds followers see what another process wrote.
   * @defaultValue 250
   */
  pollInterval?: number;
  /** @defaultValue `Date.now` */
  now?: () => number;
}

/**
 * Opens a ledger in a file.
 *
 * @throws {@link A2AError} `UNAVAILABLE` when the file cannot be opened; `CONFLICT` when another process, or another
 * ledger of this one, has it and not both share it.
 */
export async function sqliteTaskStore(options: SqliteTaskStoreOptions): Promise<TaskStore> {
  const {
    file,
    withoutLease: guest = false,
    shared,
    leaseTimeout: timeout = 10_000,
    onLeaseLost: onLost,
  } = options;
  const database = await openDatabase(file);
  try {
    database.exec(`pragma busy_timeout = ${options.busyTimeout ?? 5_000}`);
    database.prepare('pragma journal_mode = wal').get([]);
    database.exec(`pragma synchronous = ${options.synchronous === 'full' ? 'full' : 'normal'}`);
    // A checkpoint writes each page once, however many commits changed it: 16 MB of them at a time cost a third less.
    database.prepare('pragma wal_autocheckpoint = 4000').get([]);
    // Indexes of random ids are read all over the place; what does not fit here is read again for every task.
    database.exec('pragma cache_size = -16000');
    migrate(database);
    return new SqliteTaskStore(database, {
      now: options.now ?? Date.now,
      maxCachedTasks: options.maxCachedTasks ?? 4_096,
      maxCachedBytes: options.maxCachedBytes ?? 64 * 1_024 * 1_024,
      pollInterval: options.pollInterval ?? 250,
      lease: guest ? undefined : new Lease(database, { file, shared, timeout, onLost }),
    });
  } catch (fault) {
    database.close();
    throw fault;
  }
}
