import { inTransaction, openDatabase } from '../../store/sqlite/database.ts';
import { limitBlockingWait, retryWhileLocked } from '../../store/sqlite/sharing/retry-while-locked.ts';
import { type FollowUp, type FollowUpStore, isOwnedBy } from './follow-up-store.ts';

/** Options of {@link sqliteFollowUpStore}. */
export interface SqliteFollowUpStoreOptions {
  /** Path of the file, which may be that of a task store. Several processes may share it. */
  readonly file: string;
  /** Maximum number of follow-ups; the oldest are evicted. @defaultValue 100,000 */
  readonly max?: number;
  /** Milliseconds that a write waits for another process, without blocking the event loop. @defaultValue 5,000 */
  readonly busyTimeout?: number;
  readonly clock?: { now(): number };
}

/** Stores follow-ups in a SQLite file. They survive restarts, and all bridges that share the file can redeem them. */
export async function sqliteFollowUpStore(options: SqliteFollowUpStoreOptions): Promise<FollowUpStore> {
  const { file, max = 100_000, busyTimeout = 5_000, clock = Date } = options;
  const database = await openDatabase(file);
  try {
    database.exec(`pragma busy_timeout = ${busyTimeout}`);
    database.prepare('pragma journal_mode = wal').get([]);
    database.exec(`
      create table if not exists follow_ups (
        position integer primary key, key text not null unique, expires integer not null, body text not null
      );
      create index if not exists follow_ups_by_expiry on follow_ups (expires);
    `);
    limitBlockingWait(database, busyTimeout);
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  const write = <T>(statements: () => T): T | Promise<T> =>
    retryWhileLocked(() => inTransaction(database, statements), busyTimeout);
  const deleteExpired = database.prepare('delete from follow_ups where expires <= ?');
  const insert = database.prepare('insert or replace into follow_ups (key, expires, body) values (?, ?, ?)');
  const trim = database.prepare(
    'delete from follow_ups where position <= (select max(position) from follow_ups) - ?',
  );
  const find = database.prepare('select body from follow_ups where key = ? and expires > ?');
  const remove = database.prepare('delete from follow_ups where key = ?');
  return {
    put(key, followUp, ttl) {
      return write(() => {
        const now = clock.now();
        deleteExpired.run([now]);
        insert.run([key, now + ttl, JSON.stringify(followUp)]);
        trim.run([max]);
      });
    },
    take(key, client) {
      const body = find.get([key, clock.now()])?.['body'];
      if (typeof body !== 'string') return undefined;
      // JSON omits undefined members; reading them returns undefined again.
      const followUp = JSON.parse(body) as FollowUp;
      // If two processes read the row, only one of them deletes it.
      return isOwnedBy(followUp, client)
        ? write(() => (remove.run([key]) === 1 ? followUp : undefined))
        : undefined;
    },
    close: () => database.close(),
  };
}
