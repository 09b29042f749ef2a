import { randomUUID } from 'node:crypto';
import { type Clock, idleClock } from '../../protocol/clock.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { Database, Row, Statement } from './database.ts';
import { type ProcessIdentity, thisProcess } from './this-process.ts';

/** What a {@link Lease} needs to know. */
export interface LeaseOptions {
  /** The file, for those who are told. */
  file: string;
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
 * The right of one process to change the tasks of a file, noted in the file itself.
 *
 * It is renewed at intervals, so that others see it is meant; that costs one small row every few seconds. Whether it
 * is still there is asked within the transactions that write, so nothing is written by who has lost it.
 */
export class Lease {
  /** Names this lease among all others, those of this process included. */
  readonly token = randomUUID();
  readonly #file: string;
  readonly #timeout: number;
  readonly #onLost: ((fault: A2AError) => void) | undefined;
  readonly #clock: Clock;
  readonly #self: ProcessIdentity;
  readonly #row: Statement;
  readonly #renewal: Statement;
  readonly #removal: Statement;
  #fault: A2AError | undefined = undefined;
  #cancel: (() => void) | undefined = undefined;

  /**
   * Takes the file.
   *
   * @throws {@link A2AError} `CONFLICT` when another has it, with who that is and what can be done.
   */
  constructor(database: Database, options: LeaseOptions) {
    const { file, timeout, onLost, clock = idleClock, self = thisProcess } = options;
    if (!(timeout >= 1_000)) throw invalidField('leaseTimeout', 'must be at least 1,000 milliseconds');
    this.#file = file;
    this.#timeout = timeout;
    this.#onLost = onLost;
    this.#clock = clock;
    this.#self = self;
    this.#row = database.prepare('select * from lease');
    this.#renewal = database.prepare('update lease set seen = ? where token = ?');
    this.#removal = database.prepare('delete from lease where token = ?');
    this.#take(database);
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
      const row = this.#row.get([]);
      if (row?.['token'] === this.token) return;
      const fault = this.#lost(row);
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

  #take(database: Database): void {
    // Of two that open it at the same time, the second waits here and then sees the first.
    database.exec('begin immediate');
    try {
      const holder = this.#row.get([]);
      if (holder) this.#checkGone(holder);
      const { pid, host, pidSpace } = this.#self;
      const now = this.#clock.now();
      database
        .prepare(
          `insert or replace into lease (id, token, pid, host, pid_space, since, seen, timeout)
           values (1, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run([this.token, pid, host, pidSpace, now, now, this.#timeout]);
      database.exec('commit');
    } catch (fault) {
      database.exec('rollback');
      throw fault;
    }
  }

  /** Lets a holder pass that is there no more. */
  #checkGone(holder: Row): void {
    const silence = this.#clock.now() - Number(holder['seen']);
    // How long it may be silent is what the holder has said.
    const timeout = Number(holder['timeout']);
    // A sign of life from the future was given before the clock was put back.
    if (Math.abs(silence) >= timeout) return;
    const self = this.#self;
    const pid = Number(holder['pid']);
    const isNear = holder['host'] === self.host && holder['pid_space'] === self.pidSpace;
    if (isNear && !self.isAlive(pid)) return;
    const isSelf = isNear && pid === self.pid;
    // The same number, but before this process began: that of a process before it, as in a container that restarts.
    if (isSelf && Number(holder['since']) < self.startedAt) return;
    const since = momentOf(holder['since']);
    if (isSelf) {
      throw new A2AError('CONFLICT', `${this.#file} is open in this process already, since ${since}`, {
        hint: 'Use the ledger that is open, or close it first; whoever only looks opens it with guest: true.',
      });
    }
    const seconds = Math.ceil((timeout - silence) / 1_000);
    const wait = isNear ? '' : ` If it is gone already, the file is free in ${seconds} seconds.`;
    throw new A2AError('CONFLICT', `${this.#file} is in use by ${nameOf(holder)} since ${since}`, {
      hint: `Stop that process, or use another file.${wait}`,
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
  #lost(holder: Row | undefined): A2AError {
    const how = holder
      ? `${nameOf(holder)} took ${this.#file} over at ${momentOf(holder['since'])}`
      : `another process took ${this.#file} over and gave it up`;
    return new A2AError('UNAVAILABLE', 'The task store is not available', {
      cause: new A2AError('CONFLICT', `${how}, so this one writes nothing more to it`),
      hint: 'Restart this process when the other has ended, or give it another file.',
    });
  }
}

function nameOf(holder: Row): string {
  return `process ${holder['pid']} on ${holder['host']}`;
}

function momentOf(value: Row[string] | undefined): string {
  return new Date(Number(value)).toISOString();
}
