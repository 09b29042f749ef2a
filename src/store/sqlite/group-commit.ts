import { backoffDelay } from '../../primitives/backoff.ts';
import { A2AError, taskConflict } from '../../protocol/errors.ts';
import { type Outage, OutageTracker } from '../../protocol/outage.ts';
import { encodeColumn } from '../durable/column-encoding.ts';
import { type Database, rollBack, type SqlStatement, type SqlValue } from './database.ts';
import { TemporaryStorageError } from '../durable/temporary-storage-error.ts';
import type { TaskHolderTable } from './sharing/task-holder-table.ts';
import { limitBlockingWait, lockRetryDelay } from './sharing/retry-while-locked.ts';
import type { DurableTaskLog } from '../durable/durable-task-log.ts';
import type { HeldTaskLog } from '../durable/held-task-log.ts';
import { buildRowShare, pushTaskRow, recordRowShare, type RowShare } from './row-share.ts';
import { RowWriter } from './row-writer.ts';

/** Fencing: rejects writes of a process that has lost its lease. */
interface WriteFence {
  /** Returns the fencing token of the lease; a token that does not exist for a store without a lease. */
  token(): string;
  /** @throws {@link A2AError} if this process may not write. */
  check(): void;
  /** Replaces a shared lease that was lost. Its tasks are lost. @returns false if that is not possible or not necessary. */
  recover(): boolean;
}

/** Collaborators of {@link GroupCommit}. */
export interface GroupCommitContext {
  readonly now: () => number;
  readonly fence: WriteFence;
  /** Milliseconds for which a commit waits for a write lock of another process. */
  readonly busyTimeout: number;
  /** Holders of the tasks of a shared file. */
  readonly holders: TaskHolderTable | undefined;
  /** Called for each log after its changes were stored or rejected. */
  readonly onSettled: (log: DurableTaskLog) => void;
  /** Called with the error at the start of an outage, and without one at its end. */
  readonly onOutage: ((error?: A2AError) => void) | undefined;
}

/** Delays between the attempts to write during an outage. */
const retryBackoff = { minDelay: 50, maxDelay: 1_000, jitter: 'none' } as const;

const columns = 11;

const upsert = (assigned: readonly string[]): { head: string; tail: string } => ({
  head: 'insert into tasks values',
  tail: `on conflict (key) do update set ${assigned.map((name) => `${name} = excluded.${name}`).join(', ')}
    where tasks.sequence = excluded.previous
    on conflict (owner, id) do nothing`,
});

/**
 * Group commit: writes all changes of one event-loop turn in one transaction.
 *
 * While another process holds the write lock, the changes wait, up to `busyTimeout`. If the file cannot be written then,
 * or for another reason, an outage begins: changes of stored tasks stay pending and are retried until they are written;
 * new tasks are rejected.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #context: GroupCommitContext;
  readonly #outage = new OutageTracker();
  readonly #statusChanged: RowWriter;
  readonly #contentChanged: RowWriter;
  readonly #events: RowWriter;
  readonly #begin: SqlStatement;
  readonly #end: SqlStatement;
  readonly #clock: SqlStatement;
  readonly #count: SqlStatement;
  #dirty: DurableTaskLog[] = [];
  #scheduled: NodeJS.Immediate | undefined = undefined;
  #retry: NodeJS.Timeout | undefined = undefined;
  /** Number of failed attempts in this outage or for this lock. */
  #failures = 0;
  /** Monotonic time at which the wait for a lock of another process ends; undefined without one. */
  #lockDeadline: number | undefined = undefined;

  constructor(database: Database, context: GroupCommitContext) {
    this.#database = database;
    this.#context = context;
    const contentChanged = ['sequence', 'previous', 'snapshot_at'];
    const statusChanged = upsert(['state', 'touched', 'changed_at', ...contentChanged]);
    this.#statusChanged = new RowWriter(database, columns, statusChanged.head, statusChanged.tail);
    // Indexed columns are left out: writing an unchanged value costs as much as changing it.
    this.#contentChanged = new RowWriter(database, columns, statusChanged.head, upsert(contentChanged).tail);
    this.#events = new RowWriter(database, 3, 'insert or replace into task_events values');
    this.#begin = database.prepare('begin immediate');
    this.#end = database.prepare('commit');
    // Also checks the fencing token, at no extra cost.
    this.#clock = database.prepare(
      `update clock set touched = touched + ? where exists (select 1 from lease where token = ?)
       returning touched`,
    );
    this.#count = database.prepare(
      'insert into counts values (?, ?, ?) on conflict (owner, state) do update set n = n + excluded.n',
    );
  }

  /** Adds a log to the next group. */
  add(log: DurableTaskLog): void {
    if (log.isDirty) return;
    log.isDirty = true;
    this.#dirty.push(log);
    if (!this.#retry) this.#scheduled ??= setImmediate(() => this.flush());
  }

  /** The current outage, if the file cannot be written. */
  get outage(): Outage | undefined {
    return this.#outage.current;
  }

  /** Commits the pending group now. During an outage, also checks whether the file can be written again. */
  flush(): void {
    if (this.#scheduled) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const group = this.#dirty;
    if (group.length === 0 && !this.outage) return;
    this.#dirty = [];
    const shares = this.#shares(group);
    let stored: readonly RowShare[];
    try {
      if (this.outage) this.#probe();
      stored = this.#store(shares);
    } catch (thrown) {
      if (this.#context.fence.recover()) this.#requeue(shares);
      else if (!(thrown instanceof TemporaryStorageError)) this.#reject(shares, A2AError.from(thrown));
      else if (this.#mayWait(thrown)) this.#wait(shares);
      else this.#suspend(shares, thrown);
      return;
    }
    this.#endOutage();
    for (const share of stored) {
      recordRowShare(share);
      this.#settle(share.log, undefined);
    }
    if (stored.length === shares.length) return;
    for (const { log } of shares) if (log.isDirty) this.#settle(log, taskConflict(log.id));
  }

  /** Begins an outage after a write failed, or continues it, and schedules the next attempt. */
  suspend(error: TemporaryStorageError): void {
    this.#lockDeadline = undefined;
    if (this.#outage.begin(error)) {
      this.#failures = 0;
      // Attempts during the outage do not block the event loop.
      this.#database.exec('pragma busy_timeout = 0');
      this.#context.onOutage?.(error);
    }
    if (this.#scheduled) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    this.#retry ??= setTimeout(() => this.flush(), backoffDelay(this.#failures++, retryBackoff));
  }

  /** Forgets logs whose changes were discarded, because another process has become their writer. */
  forgetDiscarded(): void {
    this.#dirty = this.#dirty.filter(({ isDirty }) => isDirty);
  }

  /** Stops the attempts and abandons all pending changes. */
  stop(error: A2AError): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    for (const log of this.#dirty.splice(0)) this.#settle(log, error);
    this.#outage.end();
  }

  /** Resolves when no changes wait for a lock. They are stored then, or an outage has begun. */
  whenUnlocked(): Promise<unknown> | undefined {
    if (this.#lockDeadline === undefined) return undefined;
    return Promise.allSettled(this.#dirty.map(async (log) => log.whenCommitted()));
  }

  /** Returns true if a commit can wait for the end of a lock of another process. */
  #mayWait({ isLocked }: TemporaryStorageError): boolean {
    if (!isLocked || this.outage) return false;
    const now = performance.now();
    return now < (this.#lockDeadline ??= now + this.#context.busyTimeout);
  }

  /** Commits what is left after the lease was replaced: new tasks. */
  #requeue(shares: readonly RowShare[]): void {
    for (const { log } of shares) if (log.isDirty) this.#dirty.push(log);
    this.#endOutage();
    if (this.#dirty.length > 0) this.#scheduled ??= setImmediate(() => this.flush());
  }

  #wait(shares: readonly RowShare[]): void {
    for (const { log } of shares) this.#dirty.push(log);
    this.#retry = setTimeout(() => this.flush(), lockRetryDelay(this.#failures++));
  }

  #suspend(shares: readonly RowShare[], error: TemporaryStorageError): void {
    this.suspend(error);
    for (const { log } of shares) {
      // The client of a new task receives the error and repeats its request.
      if (log.stored.row === 0) this.#settle(log, error);
      else {
        this.#dirty.push(log);
        log.commitDelayed(error);
      }
    }
  }

  #reject(shares: readonly RowShare[], error: A2AError): void {
    this.#endOutage();
    for (const { log } of shares) this.#settle(log, error);
  }

  #endOutage(): void {
    this.#lockDeadline = undefined;
    this.#failures = 0;
    if (!this.outage) return;
    limitBlockingWait(this.#database, this.#context.busyTimeout);
    this.#outage.end();
    this.#context.onOutage?.();
  }

  /** Writes one page, which fails if the disk is full. */
  #probe(): void {
    this.#transaction(
      () => this.#clock.get([0, this.#context.fence.token()]) ?? this.#context.fence.check() ?? true,
    );
  }

  /** Serializes the changes of each log. A log that cannot be serialized fails alone. */
  #shares(group: readonly DurableTaskLog[]): readonly RowShare[] {
    const changedAt = this.#context.now();
    const shares: RowShare[] = [];
    for (const log of group) {
      try {
        shares.push(buildRowShare(log, changedAt));
      } catch (thrown) {
        this.#settle(log, A2AError.from(thrown));
      }
    }
    return shares;
  }

  #settle(log: DurableTaskLog, error: A2AError | undefined): void {
    if (error) log.commitFailed(error);
    else log.commitSucceeded();
    this.#context.onSettled(log);
  }

  /** @returns the shares that were stored; the others conflict with a write of another process. */
  #store(shares: readonly RowShare[]): readonly RowShare[] {
    if (shares.length === 0) return shares;
    return (
      this.#transaction(() => this.#writeAll(shares)) ?? this.#transaction(() => this.#writeEach(shares))
    );
  }

  /** Commits the writes of a function, or rolls them back if it returns undefined or throws. */
  #transaction<T>(write: () => T): T {
    this.#begin.run([]);
    try {
      const result = write();
      if (result === undefined) this.#database.exec('rollback');
      else this.#end.run([]);
      return result;
    } catch (error) {
      rollBack(this.#database);
      throw error;
    }
  }

  /** Writes all shares, many rows per statement. @returns undefined if one of them conflicts. */
  #writeAll(shares: readonly RowShare[]): readonly RowShare[] | undefined {
    this.#assignRecency(shares);
    if (this.#haveKnownMessages(shares)) return undefined;
    const statusChanged: SqlValue[] = [];
    const contentChanged: SqlValue[] = [];
    for (const share of shares)
      pushTaskRow(share, share.log.hasStatusChange ? statusChanged : contentChanged);
    if (
      this.#statusChanged.write(statusChanged) + this.#contentChanged.write(contentChanged) !==
      shares.length
    )
      return undefined;
    this.#writeRest(shares);
    return shares;
  }

  /** Writes the shares one by one. @returns those without a conflict. */
  #writeEach(shares: readonly RowShare[]): readonly RowShare[] {
    this.#assignRecency(shares);
    const written = shares.filter((share) => {
      if (this.#isKnownMessage(share)) return false;
      const row: SqlValue[] = [];
      pushTaskRow(share, row);
      return (share.log.hasStatusChange ? this.#statusChanged : this.#contentChanged).write(row) === 1;
    });
    this.#writeRest(written);
    return written;
  }

  /** In a shared file, another process may have received the same message. */
  #isKnownMessage({ log: { ownerRow, stored } }: RowShare): boolean {
    if (stored.row !== 0 || stored.messageId === null) return false;
    return this.#context.holders?.isKnownMessage(ownerRow, encodeColumn(stored.messageId)) ?? false;
  }

  #haveKnownMessages(shares: readonly RowShare[]): boolean {
    if (!this.#context.holders) return false;
    const seen = new Set<string>();
    return shares.some((share) => {
      const { ownerRow, stored } = share.log;
      if (stored.row !== 0 || stored.messageId === null) return false;
      const key = `${ownerRow} ${stored.messageId}`;
      return seen.size === seen.add(key).size || this.#isKnownMessage(share);
    });
  }

  /** Assigns recency numbers to the tasks whose status changed. @throws {@link A2AError} if the lease is lost. */
  #assignRecency(shares: readonly RowShare[]): void {
    let changedCount = 0;
    for (const { log } of shares) if (log.hasStatusChange) changedCount++;
    const clock =
      changedCount === 0 ? undefined : this.#clock.get([changedCount, this.#context.fence.token()]);
    if (!clock) {
      this.#context.fence.check();
      return;
    }
    let touched = Number(clock['touched']) - changedCount;
    for (const share of shares) if (share.log.hasStatusChange) share.touched = ++touched;
  }

  #writeRest(shares: readonly RowShare[]): void {
    const { holders } = this.#context;
    const events: SqlValue[] = [];
    const counts = new Map<string, { owner: number; state: string; n: number }>();
    const count = (owner: number, state: string, n: number): void => {
      const key = `${owner} ${state}`;
      const existing = counts.get(key);
      if (existing) existing.n += n;
      else counts.set(key, { owner, state, n });
    };
    for (const { log, touched, changes, snapshot } of shares) {
      const row = log.stored.row || touched;
      if (snapshot !== undefined) events.push(row, 0, snapshot);
      if (changes !== '') events.push(row, log.sequence, changes);
      holders?.update(log as HeldTaskLog, row);
      if (log.stored.state === log.state) continue;
      if (log.stored.state !== undefined) count(log.ownerRow, log.stored.state, -1);
      count(log.ownerRow, log.state, 1);
    }
    this.#events.write(events);
    for (const { owner, state, n } of counts.values()) if (n !== 0) this.#count.run([owner, state, n]);
  }
}
