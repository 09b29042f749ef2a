import { randomUUID } from 'node:crypto';
import { type Clock, unrefClock } from '../../../primitives/clock.ts';
import { A2AError, invalidField } from '../../../protocol/errors.ts';
import { type Database, inTransaction, type SqlRow, type SqlStatement } from '../database.ts';
import { TemporaryStorageError } from '../../durable/temporary-storage-error.ts';
import { adoptAllTasks, endLease } from '../sharing/task-holder-table.ts';
import { hasProcessEnded, isSamePidNamespace, isSharedLease, readHolders } from './lease-holders.ts';
import { type ProcessIdentity, currentProcess } from './process-identity.ts';
import type { StaleLeases } from './stale-leases.ts';

/** Options of {@link Lease}. */
export interface LeaseOptions {
  /** Path of the file, for error messages. */
  file: string;
  /** Takes a shared lease instead of an exclusive one. */
  shared?: boolean;
  /** Milliseconds without a heartbeat after which other processes may take over the lease; at least 1,000. */
  timeout: number;
  /** Called once after another process took over the lease. Not called for a shared lease that was replaced. */
  onLost?: (error: A2AError) => void;
  clock?: Clock;
  self?: ProcessIdentity;
  /** Leases that may be taken over although their process seems to run; see {@link findStaleLeases}. */
  stale?: StaleLeases;
}

/** Number of heartbeats within `timeout`. */
const heartbeatsPerTimeout = 3;

/**
 * A lease on the database file, stored in the file itself. An exclusive lease allows one process to write; a shared lease
 * allows all processes that opened the file with `shared`.
 *
 * A heartbeat renews it with one small write every few seconds. Every write transaction checks the fencing token, so that
 * a process that has lost its lease cannot write.
 */
export class Lease {
  /** Fencing token: identifies this lease, also among leases of the same process. Changes when the lease is replaced. */
  token: string = randomUUID();
  /** True if other processes may write as well. */
  readonly isShared: boolean;
  /** Called after a shared lease that was lost was replaced: other processes have taken over the tasks of this one. */
  onReplaced: (() => void) | undefined = undefined;
  readonly #file: string;
  readonly #timeout: number;
  readonly #onLost: ((error: A2AError) => void) | undefined;
  readonly #clock: Clock;
  readonly #self: ProcessIdentity;
  readonly #database: Database;
  readonly #stale: StaleLeases;
  readonly #selectToken: SqlStatement;
  readonly #renewToken: SqlStatement;
  #error: A2AError | undefined = undefined;
  #cancel: (() => void) | undefined = undefined;
  /** True after the lease was released, or lost for ever. */
  #isOver = false;

  /**
   * Acquires the lease.
   *
   * @throws {@link A2AError} `CONFLICT` if another process holds it; the message names the holder.
   */
  constructor(database: Database, options: LeaseOptions) {
    const { file, shared = false, timeout, onLost, clock = unrefClock, self = currentProcess } = options;
    if (!(timeout >= 1_000)) throw invalidField('leaseTimeout', 'must be at least 1,000 milliseconds');
    this.isShared = shared;
    this.#file = file;
    this.#timeout = timeout;
    this.#onLost = onLost;
    this.#clock = clock;
    this.#self = self;
    this.#database = database;
    this.#stale = options.stale ?? new Map();
    this.#selectToken = database.prepare('select 1 from lease where token = ?');
    this.#renewToken = database.prepare('update lease set heartbeat_at = ? where token = ?');
    this.#acquire();
    this.#scheduleHeartbeat();
  }

  /** The error of a lease that is known to be lost. */
  get error(): A2AError | undefined {
    return this.#error;
  }

  /**
   * Checks that the lease is still held. Within a write transaction the result is valid until its end.
   *
   * @throws {@link A2AError} `UNAVAILABLE` if another process has taken it over.
   */
  check(): void {
    if (!this.#error) {
      if (this.#selectToken.get([this.token])) return;
      const error = this.#leaseLostError(this.#holders().at(-1));
      this.#error = error;
      this.#cancel?.();
      // Lets the current transaction roll back first.
      queueMicrotask(() => this.replace());
    }
    throw this.#error;
  }

  /**
   * Takes a new lease after a shared one was lost, for example while this process was suspended. Not part of a transaction.
   *
   * @returns false if the lease was not lost, or if there can be no new one.
   */
  replace(): boolean {
    const error = this.#error;
    if (!error || this.#isOver) return false;
    try {
      if (!this.isShared) throw error;
      this.token = randomUUID();
      this.#acquire();
    } catch (thrown) {
      if (thrown instanceof TemporaryStorageError) this.#scheduleHeartbeat();
      else {
        this.#isOver = true;
        this.#onLost?.(error);
      }
      return false;
    }
    this.#error = undefined;
    this.#scheduleHeartbeat();
    this.onReplaced?.();
    return true;
  }

  /** Releases the lease, if it is still held. */
  release(): void {
    this.#isOver = true;
    this.#cancel?.();
    try {
      inTransaction(this.#database, () => endLease(this.#database, this.token, true));
    } catch {
      // The file cannot be written. The next process detects that this one has ended.
    }
  }

  #acquire(): void {
    const database = this.#database;
    // The transaction serializes processes that open the file at the same time.
    inTransaction(database, () => {
      const active = this.#holders().filter((holder) => !this.#deleteIfEnded(holder));
      const blocking = this.isShared ? active.filter((holder) => !isSharedLease(holder)) : active;
      const [first] = blocking;
      if (first) throw this.#conflictError(first, blocking);
      if (this.isShared && active.length === 0) adoptAllTasks(database);
      const { pid, host, pidNamespace } = this.#self;
      const now = this.#clock.now();
      database
        .prepare(
          `insert into lease (token, shared, pid, host, pid_namespace, since, heartbeat_at, timeout)
           values (?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run([this.token, this.isShared ? 1 : 0, pid, host, pidNamespace, now, now, this.#timeout]);
    });
  }

  /** Returns all recorded leases, oldest first. */
  #holders(): readonly SqlRow[] {
    return readHolders(this.#database);
  }

  /** Deletes the lease of a holder that has ended. @returns false if it is still active. */
  #deleteIfEnded(holder: SqlRow): boolean {
    return this.#hasEnded(holder) && endLease(this.#database, String(holder['token']), false);
  }

  #hasEnded(holder: SqlRow): boolean {
    const hasEnded = hasProcessEnded(holder, this.#self);
    // Shared leases do not exclude each other, so a process that is too busy for heartbeats keeps its own.
    if (hasEnded === false && this.isShared && isSharedLease(holder)) return false;
    return hasEnded === true || this.#stale.get(String(holder['token'])) === holder['heartbeat_at'];
  }

  #timeSinceHeartbeat(holder: SqlRow): number {
    return this.#clock.now() - Number(holder['heartbeat_at']);
  }

  #conflictError(first: SqlRow, blocking: readonly SqlRow[]): A2AError {
    const since = formatTime(first['since']);
    if (isSamePidNamespace(first, this.#self) && Number(first['pid']) === this.#self.pid) {
      return new A2AError('CONFLICT', `${this.#file} has been open in this process since ${since}`, {
        hint:
          'Use the open task store or close it first. Pass withoutLease: true for read access, or shared: true to every ' +
          'task store on this file.',
      });
    }
    const isOne = blocking.length === 1;
    const who = isOne ? describeHolder(first) : `${describeHolder(first)} and ${blocking.length - 1} more`;
    const use = isSharedLease(first) ? 'shared' : 'in use';
    const stop = isOne ? 'Stop that process' : 'Stop those processes';
    // The holder has recorded its own timeout.
    const waits = blocking.map((each) => Number(each['timeout']) - this.#timeSinceHeartbeat(each));
    const wait = blocking.some((each) => isSamePidNamespace(each, this.#self))
      ? ''
      : ` If ${isOne ? 'it has' : 'they have'} already ended, the lease expires in ${Math.ceil(Math.max(...waits) / 1_000)} seconds.`;
    return new A2AError('CONFLICT', `${this.#file} is ${use} by ${who} since ${since}`, {
      hint: `${stop}, use another file, or open the file with shared: true in all processes.${wait}`,
    });
  }

  #scheduleHeartbeat(): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(this.#timeout / heartbeatsPerTimeout, () => this.#sendHeartbeat());
  }

  #sendHeartbeat(): void {
    if (this.#error) {
      this.replace();
      return;
    }
    try {
      const now = this.#clock.now();
      if (inTransaction(this.#database, () => this.#renewToken.run([now, this.token])) === 0) this.check();
    } catch {
      // Either the lease is lost, which the next write reports, or the file is busy.
    }
    if (!this.#error) this.#scheduleHeartbeat();
  }

  /** The message may reach peers and names neither host nor file; the cause names them for the operator. */
  #leaseLostError(holder: SqlRow | undefined): A2AError {
    const event = holder
      ? `${describeHolder(holder)} took over the lease of ${this.#file} at ${formatTime(holder['since'])}`
      : `Another process took over the lease of ${this.#file} and released it`;
    return new A2AError('UNAVAILABLE', 'The task store is not available', {
      cause: new A2AError('CONFLICT', `${event}; this process can no longer write to it`),
      hint:
        this.isShared && holder && isSharedLease(holder)
          ? 'Restart this process.'
          : 'Restart this process after the other one has ended, or use another file.',
    });
  }
}

function describeHolder(holder: SqlRow): string {
  return `process ${holder['pid']} on ${holder['host']}`;
}

function formatTime(value: SqlRow[string] | undefined): string {
  return new Date(Number(value)).toISOString();
}
