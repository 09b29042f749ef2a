import { openDatabase } from '../../store/sqlite/database.ts';
import { type FollowUp, type FollowUpStore, isOwnedBy } from './follow-up-store.ts';

/** Where follow-ups are kept in a file. */
export interface SqliteFollowUpStoreOptions {
  /** The path of the file, which may be that of a ledger. Several processes may share one. */
  readonly file: string;
  /** How many are kept; the oldest give way. @defaultValue 100,000 */
  readonly max?: number;
  /** For how many milliseconds a write waits for another process. @defaultValue 5,000 */
  readonly busyTimeout?: number;
  readonly clock?: { now(): number };
}

/** Keeps follow-ups in a SQLite file, so that a restart loses none, and bridges that share it go on for each other. */
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
  } catch (fault) {
    database.close();
    throw fault;
  }
  const forget = database.prepare('delete from follow_ups where expires <= ?');
  const insert = database.prepare('insert or replace into follow_ups (key, expires, body) values (?, ?, ?)');
  const trim = database.prepare(
    'delete from follow_ups where position <= (select max(position) from follow_ups) - ?',
  );
  const find = database.prepare('select body from follow_ups where key = ? and expires > ?');
  const remove = database.prepare('delete from follow_ups where key = ?');
  return {
    put(key, followUp, ttl) {
      const now = clock.now();
      forget.run([now]);
      insert.run([key, now + ttl, JSON.stringify(followUp)]);
      trim.run([max]);
    },
    take(key, caller) {
      const body = find.get([key, clock.now()])?.['body'];
      if (typeof body !== 'string') return undefined;
      // `undefined` members are not in the text; reading them gives the same.
      const followUp = JSON.parse(body) as FollowUp;
      // Of two processes that saw it only one removes it.
      return isOwnedBy(followUp, caller) && remove.run([key]) === 1 ? followUp : undefined;
    },
    close: () => database.close(),
  };
}
