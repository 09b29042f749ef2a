import { randomUUID } from 'node:crypto';
import { type Clock, unrefClock } from '../../primitives/clock.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { Database, SqlRow, SqlStatement } from './database.ts';
import { type ProcessIdentity, currentProcess } from './process-identity.ts';

/** What a {@link Lease} needs to know. */
export interface LeaseOptions {
  /** The file, for those who are told. */
  file: string;
  /** Has the file together with others that share it, and not alone. */
  shared?: boolean;
  /** After how many milliseconds without a sign of life others may take the file: at least 1,000. */
  timeout: number;
  /** Is told, once, that another has taken it. */
  onLost?: (fault: A2AError) => void;
  clock?: Clock;
  self?: ProcessIdentity;
}

/** How often a sign of life is given before its absence means something. */
const signsPerTimeout = 3;

/**
 * The right to change the tasks of a file, noted in the file itself: of one process alone, or of all that share it.
 *
 * It is renewed at intervals, so that others see it is meant; that costs one small row every few seconds. Whether it
 * is still there is asked within the transactions that write, so nothing is written by who has lost it.
 */
export class Lease {
  /** Names this lease among all others, those of this process included. */
  readonly token = randomUUID();
  /** True when others may change tasks as well. */
  readonly isShared: boolean;
  readonly #file: string;
  readonly #timeout: number;
  readonly #onLost: ((fault: A2AError) => void) | undefined;
  readonly #clock: Clock;
  readonly #self: ProcessIdentity;
  readonly #database: Database;
  readonly #presence: SqlStatement;
  readonly #renewal: SqlStatement;
  readonly #removal: SqlStatement;
  #fault: A2AError | undefined = undefined;
  #cancel: (() => void) | undefined = undefined;

  /**
   * Takes the file.
   *
   * @throws {@link A2AError} `CONFLICT` when another has it, with who that is and what can be done.
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
    this.#presence = database.prepare('select 1 from lease where token = ?');
    this.#renewal = database.prepare('update lease set seen = ? where token = ?');
    this.#removal = database.prepare('delete from lease where token = ?');
    this.#take();
    this.#wait();
  }

  /** Why nothing may be written any more, as far as it is known. */
  get fault(): A2AError | undefined {
    return this.#fault;
  }

  /**
   * Looks whether the file is still held. Within a transaction that may write, the answer is good until its end.
   *
   * @throws {@link A2AError} `UNAVAILABLE` when another has taken it.
   */
  check(): void {
    if (!this.#fault) {
      if (this.#presence.get([this.token])) return;
      const fault = this.#lost(this.#holders().at(-1));
      this.#fault = fault;
      this.#cancel?.();
      // What is being written is taken back first.
      queueMicrotask(() => this.#onLost?.(fault));
    }
    throw this.#fault;
  }

  /** Gives the file up, if it is still held. */
  release(): void {
    this.#cancel?.();
    try {
      this.#removal.run([this.token]);
    } catch {
      // It cannot be written to. Whoever comes next finds that this process is gone.
    }
  }

  #take(): void {
    const database = this.#database;
    // Of two that open it at the same time, the second waits here and then sees the first.
    database.exec('begin immediate');
    try {
      const living = this.#holders().filter((holder) => !this.#sweep(holder));
      const obstacles = this.isShared ? living.filter((holder) => !isSharing(holder)) : living;
      const [first] = obstacles;
      if (first) throw this.#refusal(first, obstacles);
      const { pid, host, pidSpace } = this.#self;
      const now = this.#clock.now();
      database
        .prepare(
          `insert into lease (token, shared, pid, host, pid_space, since, seen, timeout)
           values (?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run([this.token, this.isShared ? 1 : 0, pid, host, pidSpace, now, now, this.#timeout]);
      database.exec('commit');
    } catch (fault) {
      database.exec('rollback');
      throw fault;
    }
  }

  /** All who have the file, as far as is known, in the order in which they came. */
  #holders(): readonly SqlRow[] {
    return this.#database.prepare('select * from lease order by since').all([]);
  }

  /** Removes a holder that is there no more. @returns false when it is there. */
  #sweep(holder: SqlRow): boolean {
    return this.#isGone(holder) && this.#removal.run([String(holder['token'])]) > 0;
  }

  #isGone(holder: SqlRow): boolean {
    if (this.#isNear(holder)) {
      const self = this.#self;
      const pid = Number(holder['pid']);
      if (!self.isAlive(pid)) return true;
      // The same number, but before this process began: that of a process before it, as in a container that restarts.
      if (pid === self.pid && Number(holder['since']) < self.startedAt) return true;
      // Those that share are not in each other's way, so one that is too busy to give a sign of life may stay.
      if (this.isShared && isSharing(holder)) return false;
    }
    // A sign of life from the future was given before the clock was put back.
    return Math.abs(this.#silenceOf(holder)) >= Number(holder['timeout']);
  }

  /** True when its number means something here. */
  #isNear(holder: SqlRow): boolean {
    return holder['host'] === this.#self.host && holder['pid_space'] === this.#self.pidSpace;
  }

  #silenceOf(holder: SqlRow): number {
    return this.#clock.now() - Number(holder['seen']);
  }

  #refusal(first: SqlRow, obstacles: readonly SqlRow[]): A2AError {
    const since = momentOf(first['since']);
    if (this.#isNear(first) && Number(first['pid']) === this.#self.pid) {
      return new A2AError('CONFLICT', `${this.#file} is open in this process already, since ${since}`, {
        hint:
          'Use the ledger that is open, or close it first; whoever only looks opens it with guest: true. ' +
          'To have it open more than once, open it with shared: true each time.',
      });
    }
    const isOne = obstacles.length === 1;
    const who = isOne ? nameOf(first) : `${nameOf(first)} and ${obstacles.length - 1} more`;
    const use = isSharing(first) ? 'shared' : 'in use';
    const stop = isOne ? 'Stop that process' : 'Stop those processes';
    // How long it may be silent is what the holder has said.
    const waits = obstacles.map((each) => Number(each['timeout']) - this.#silenceOf(each));
    const wait = obstacles.some((each) => this.#isNear(each))
      ? ''
      : ` If ${isOne ? 'it is' : 'they are'} gone already, the file is free in ${Math.ceil(Math.max(...waits) / 1_000)} seconds.`;
    return new A2AError('CONFLICT', `${this.#file} is ${use} by ${who} since ${since}`, {
      hint: `${stop}, use another file, or let all of them share it (shared: true).${wait}`,
    });
  }

  #wait(): void {
    this.#cancel = this.#clock.after(this.#timeout / signsPerTimeout, () => this.#renew());
  }

  #renew(): void {
    try {
      if (this.#renewal.run([this.#clock.now(), this.token]) === 0) this.check();
    } catch {
      // Either it is lost, which whoever writes next is told, or the file is busy.
    }
    if (!this.#fault) this.#wait();
  }

  /** The words for peers say nothing of this machine; those for its people are in the cause. */
  #lost(holder: SqlRow | undefined): A2AError {
    const how = holder
      ? `${nameOf(holder)} took ${this.#file} over at ${momentOf(holder['since'])}`
      : `another process took ${this.#file} over and gave it up`;
    return new A2AError('UNAVAILABLE', 'The task store is not available', {
      cause: new A2AError('CONFLICT', `${how}, so this one writes nothing more to it`),
      hint:
        this.isShared && holder && isSharing(holder)
          ? 'Restart this process.'
          : 'Restart this process when the other has ended, or give it another file.',
    });
  }
}

function isSharing(holder: SqlRow): boolean {
  return Number(holder['shared']) === 1;
}

function nameOf(holder: SqlRow): string {
  return `process ${holder['pid']} on ${holder['host']}`;
}

function momentOf(value: SqlRow[string] | undefined): string {
  return new Date(Number(value)).toISOString();
}
