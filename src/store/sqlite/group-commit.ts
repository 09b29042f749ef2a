import { A2AError } from '../../protocol/errors.ts';
import { isTerminal } from '../../protocol/task.ts';
import { encodeColumn } from './column-encoding.ts';
import type { Database, SqlStatement, SqlValue } from './database.ts';
import type { SqliteTaskLog } from './sqlite-task-log.ts';
import { RowWriter } from './row-writer.ts';

/** A snapshot is not worth rewriting for fewer characters of changes than this. */
const leastChanges = 4_096;

/** What one log adds to a commit. */
interface Share {
  log: SqliteTaskLog;
  touched: number;
  changedAt: number;
  changes: string;
  snapshot: string | undefined;
}

/** What stands between a process that has lost its file and the file. */
export interface WriteFence {
  /** The token of the lease; of a guest, none that there is. */
  readonly token: string;
  /** @throws {@link A2AError} when nothing may be written. */
  check(): void;
}

const columns = 11;

const upsert = (assigned: readonly string[]): { head: string; tail: string } => ({
  head: 'insert into tasks values',
  tail: `on conflict (key) do update set ${assigned.map((name) => `${name} = excluded.${name}`).join(', ')}
    where tasks.sequence = excluded.previous
    on conflict (owner, id) do nothing`,
});

/** Writes everything that was appended within one turn of the event loop in one transaction. */
export class GroupCommit {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #fence: WriteFence;
  readonly #afterwards: (log: SqliteTaskLog) => void;
  readonly #moved: RowWriter;
  readonly #grown: RowWriter;
  readonly #texts: RowWriter;
  readonly #begin: SqlStatement;
  readonly #end: SqlStatement;
  readonly #clock: SqlStatement;
  readonly #count: SqlStatement;
  #dirty: SqliteTaskLog[] = [];
  #scheduled: NodeJS.Immediate | undefined = undefined;

  /** @param afterwards - is told of each log whose changes are stored or lost. */
  constructor(
    database: Database,
    now: () => number,
    fence: WriteFence,
    afterwards: (log: SqliteTaskLog) => void,
  ) {
    this.#database = database;
    this.#now = now;
    this.#fence = fence;
    this.#afterwards = afterwards;
    const grown = ['sequence', 'previous', 'snapshot_at'];
    const moved = upsert(['state', 'touched', 'changed_at', ...grown]);
    this.#moved = new RowWriter(database, columns, moved.head, moved.tail);
    // Columns with an index are left out: writing them costs as much as changing them.
    this.#grown = new RowWriter(database, columns, moved.head, upsert(grown).tail);
    this.#texts = new RowWriter(database, 3, 'insert or replace into texts values');
    this.#begin = database.prepare('begin immediate');
    this.#end = database.prepare('commit');
    // Whether the file is still held is asked with it, which costs nothing.
    this.#clock = database.prepare(
      `update clock set touched = touched + ? where exists (select 1 from lease where token = ?)
       returning touched`,
    );
    this.#count = database.prepare(
      'insert into counts values (?, ?, ?) on conflict (owner, state) do update set n = n + excluded.n',
    );
  }

  /** Has a log written with the next group. */
  add(log: SqliteTaskLog): void {
    if (log.isDirty) return;
    log.isDirty = true;
    this.#dirty.push(log);
    this.#scheduled ??= setImmediate(() => this.flush());
  }

  /** Writes the group that waits now. */
  flush(): void {
    if (this.#scheduled) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const group = this.#dirty;
    if (group.length === 0) return;
    this.#dirty = [];
    const shares = this.#shares(group);
    let stored: readonly Share[];
    try {
      stored = this.#store(shares);
    } catch (thrown) {
      for (const { log } of shares) this.#settle(log, A2AError.from(thrown));
      return;
    }
    for (const share of stored) {
      note(share);
      this.#settle(share.log, undefined);
    }
    if (stored.length === shares.length) return;
    for (const { log } of shares) if (log.isDirty) this.#settle(log, conflict(log));
  }

  /** What each log adds. One that cannot be written as text fails alone. */
  #shares(group: readonly SqliteTaskLog[]): readonly Share[] {
    const changedAt = this.#now();
    const shares: Share[] = [];
    for (const log of group) {
      try {
        shares.push(shareOf(log, changedAt));
      } catch (thrown) {
        this.#settle(log, A2AError.from(thrown));
      }
    }
    return shares;
  }

  #settle(log: SqliteTaskLog, fault: A2AError | undefined): void {
    if (fault) log.fail(fault);
    else log.succeed();
    this.#afterwards(log);
  }

  /** @returns the shares that were stored; those of the others met a change by another process. */
  #store(shares: readonly Share[]): readonly Share[] {
    if (shares.length === 0) return shares;
    return (
      this.#transaction(() => this.#writeAll(shares)) ?? this.#transaction(() => this.#writeEach(shares))
    );
  }

  /** Commits what a function wrote, or takes it back if it returns undefined or throws. */
  #transaction<T>(write: () => T): T {
    this.#begin.run([]);
    try {
      const result = write();
      if (result === undefined) this.#database.exec('rollback');
      else this.#end.run([]);
      return result;
    } catch (fault) {
      try {
        this.#database.exec('rollback');
      } catch {
        // SQLite took it back itself, as it does when the disk is full.
      }
      throw fault;
    }
  }

  /** Writes all at once, many rows with each statement. @returns undefined if one of them may not be written. */
  #writeAll(shares: readonly Share[]): readonly Share[] | undefined {
    this.#stamp(shares);
    const moved: SqlValue[] = [];
    const grown: SqlValue[] = [];
    for (const share of shares) rowOf(share, share.log.isMoved ? moved : grown);
    if (this.#moved.write(moved) + this.#grown.write(grown) !== shares.length) return undefined;
    this.#writeRest(shares);
    return shares;
  }

  /** Writes one after the other and leaves out those that may not be written. */
  #writeEach(shares: readonly Share[]): readonly Share[] {
    this.#stamp(shares);
    const written = shares.filter((share) => {
      const row: SqlValue[] = [];
      rowOf(share, row);
      return (share.log.isMoved ? this.#moved : this.#grown).write(row) === 1;
    });
    this.#writeRest(written);
    return written;
  }

  /** Gives those that move their places in the order of all tasks, and throws when the file is lost. */
  #stamp(shares: readonly Share[]): void {
    let moving = 0;
    for (const { log } of shares) if (log.isMoved) moving++;
    const clock = moving === 0 ? undefined : this.#clock.get([moving, this.#fence.token]);
    if (!clock) {
      this.#fence.check();
      return;
    }
    let touched = Number(clock['touched']) - moving;
    for (const share of shares) if (share.log.isMoved) share.touched = ++touched;
  }

  #writeRest(shares: readonly Share[]): void {
    const texts: SqlValue[] = [];
    const counts = new Map<string, { owner: number; state: string; n: number }>();
    const count = (owner: number, state: string, n: number): void => {
      const key = `${owner} ${state}`;
      const there = counts.get(key);
      if (there) there.n += n;
      else counts.set(key, { owner, state, n });
    };
    for (const { log, touched, changes, snapshot } of shares) {
      const row = log.stored.row || touched;
      if (snapshot !== undefined) texts.push(row, 0, snapshot);
      if (changes !== '') texts.push(row, log.sequence, changes);
      if (log.stored.state === log.state) continue;
      if (log.stored.state !== undefined) count(log.ownerRow, log.stored.state, -1);
      count(log.ownerRow, log.state, 1);
    }
    this.#texts.write(texts);
    for (const { owner, state, n } of counts.values()) if (n !== 0) this.#count.run([owner, state, n]);
  }
}

function conflict(log: SqliteTaskLog): A2AError {
  return new A2AError('CONFLICT', undefined, { details: { taskId: log.id } });
}

function shareOf(log: SqliteTaskLog, changedAt: number): Share {
  const { stored, pending } = log;
  const changes = pending.length > 0 ? JSON.stringify(pending) : '';
  const isDue =
    stored.row === 0 ||
    isTerminal(log.state) ||
    log.changesSize + changes.length > Math.max(log.snapshotSize, leastChanges);
  return {
    log,
    touched: stored.touched,
    changedAt: log.isMoved ? changedAt : stored.changedAt,
    changes,
    snapshot: isDue ? JSON.stringify(log.reducer()) : undefined,
  };
}

function rowOf({ log, touched, changedAt, snapshot }: Share, values: SqlValue[]): void {
  const { stored } = log;
  values.push(
    stored.row || touched,
    log.ownerRow,
    encodeColumn(log.id),
    encodeColumn(log.contextId),
    stored.messageId === null ? null : encodeColumn(stored.messageId),
    log.state,
    touched,
    changedAt,
    log.sequence,
    stored.sequence,
    snapshot === undefined ? stored.snapshotAt : log.sequence,
  );
}

/** Remembers in the log what is now on disk. */
function note({ log, touched, changedAt, changes, snapshot }: Share): void {
  const { stored } = log;
  stored.row ||= touched;
  stored.state = log.state;
  stored.touched = touched;
  stored.changedAt = changedAt;
  stored.sequence = log.sequence;
  log.changesSize += changes.length;
  if (snapshot === undefined) return;
  stored.snapshotAt = log.sequence;
  log.snapshotSize = snapshot.length;
  log.changesSize = 0;
}
