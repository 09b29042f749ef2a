import { isTerminal } from '../../../protocol/task.ts';
import type { LogCache } from '../../durable/log-cache.ts';
import type { HeldTaskLog } from '../../durable/held-task-log.ts';
import type { PostgresTaskReader, StoredTask } from '../postgres-task-reader.ts';

/** Collaborators of {@link LogFollower}. */
interface FollowerContext {
  /** Returns true if another replica may change the task. */
  isFollowed(log: HeldTaskLog): boolean;
  epoch(): number;
  /** See `Replica.term`. */
  term(): number;
  /** Asks the other replicas to announce later changes of a task. */
  requestWakeUps(key: number): void;
  /** Called when this replica turns out to hold a task whose log is not held. */
  onUnknownHold(log: HeldTaskLog): void;
  /** Called when another replica turns out to hold the task. */
  lose(log: HeldTaskLog): void;
}

/** Applies the changes of other replicas to logs in memory. */
export class LogFollower {
  readonly #reader: PostgresTaskReader;
  readonly #cache: LogCache<HeldTaskLog>;
  readonly #context: FollowerContext;
  /** Logs that are being read; true: read again, because of a later wake-up. */
  readonly #reading = new Map<HeldTaskLog, boolean>();
  /** Logs for whose changes this replica has requested wake-ups. */
  readonly #requested = new WeakSet<HeldTaskLog>();
  /** Followed logs that changed while none of their subscribers waited. */
  readonly #changed = new WeakSet<HeldTaskLog>();
  #isPolling = false;

  constructor(reader: PostgresTaskReader, cache: LogCache<HeldTaskLog>, context: FollowerContext) {
    this.#reader = reader;
    this.#cache = cache;
    this.#context = context;
  }

  /** Reads the changes of followed logs with subscribers. @param keys - tasks that changed; undefined: any of them. */
  wake(keys: readonly number[] | undefined): void {
    if (keys === undefined) {
      void this.#poll();
      return;
    }
    for (const key of keys) {
      const log = this.#cache.getByRow(key);
      if (!log || !this.#context.isFollowed(log)) continue;
      if (log.hasWaitingSubscriptions) void this.#readInBackground(log);
      else this.#changed.add(log);
    }
  }

  /** Requests wake-ups for a log whose subscriber waits, once, and reads what changed before. */
  follow(log: HeldTaskLog): void {
    if (this.#changed.delete(log)) void this.#readInBackground(log);
    const { row } = log.stored;
    if (row === 0 || log.isFinished || this.#requested.has(log)) return;
    this.#requested.add(log);
    this.#context.requestWakeUps(row);
  }

  /** Requests wake-ups again for all logs with subscribers. */
  followAgain(): void {
    for (const log of this.#awaited()) this.#context.requestWakeUps(log.stored.row);
  }

  /** Applies what other replicas have stored. @returns false if the task was deleted. */
  async refresh(log: HeldTaskLog): Promise<boolean> {
    const { isHeld, hold } = log;
    const stored = await this.#reader.readChanges(log.stored.row, log.visible, log);
    if (!stored) {
      this.#cache.drop(log);
      return false;
    }
    const { holder } = stored;
    const isOwn = holder === this.#context.epoch() || (log.isReleasing && holder === undefined);
    // This replica may have released and claimed the task meanwhile.
    if (isHeld && log.isHeld && log.hold === hold && !isOwn) this.#context.lose(log);
    if (log.isHeld) return true;
    this.#apply(log, stored);
    if (isOwn && !isTerminal(stored.state)) this.#context.onUnknownHold(log);
    return true;
  }

  /** Loses the tasks that other replicas have taken over. */
  async checkHolds(): Promise<void> {
    const held = this.#cache.logs().filter(({ isHeld, isFinished }) => isHeld && !isFinished);
    await Promise.all(held.map((log) => this.refresh(log)));
  }

  /** Applies what earlier holders have stored to a log that this replica has just claimed. @returns true */
  async adopt(log: HeldTaskLog): Promise<boolean> {
    const term = this.#context.term();
    const { hold } = log;
    const stored = await this.#reader.readChanges(log.stored.row, log.visible, log);
    if (!stored) return false;
    // Before the answer arrived, the lease has ended, or another call has claimed the task.
    if (term !== this.#context.term() || hold !== log.hold) return this.adopt(log);
    const isHeld = stored.holder === this.#context.epoch();
    if (!log.isHeld) {
      this.#apply(log, stored);
      log.isHeld = isHeld;
    } else if (!isHeld) {
      // Lost: what its run has appended will never be stored.
      this.#context.lose(log);
    }
    return log.isHeld;
  }

  #apply(log: HeldTaskLog, stored: StoredTask): void {
    if (stored.sequence <= log.sequence) return;
    const changes = stored.changes.filter(({ sequence = 0 }) => sequence > log.sequence);
    log.stored.state = stored.state;
    log.stored.sequence = stored.sequence;
    log.stored.snapshotAt = stored.snapshotAt;
    // Counts as much as was read, so that the next commit of this replica writes a snapshot in time.
    log.changesSize += changes.length * 100;
    log.receive(changes);
  }

  #awaited(): HeldTaskLog[] {
    return this.#cache
      .logs()
      .filter((log) => log.hasWaitingSubscriptions && this.#context.isFollowed(log) && log.stored.row !== 0);
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    const logs = this.#awaited();
    if (logs.length === 0) return;
    this.#isPolling = true;
    try {
      const sequences = await this.#reader.readSequences(logs.map(({ stored }) => stored.row));
      for (const log of logs) {
        if (sequences.get(log.stored.row) === log.visible) continue;
        // No wake-up has arrived: the holder may be new, or one of the notifications was lost.
        this.#context.requestWakeUps(log.stored.row);
        await this.#readInBackground(log);
      }
    } catch {
      // The next poll reads again.
    } finally {
      this.#isPolling = false;
    }
  }

  async #readInBackground(log: HeldTaskLog): Promise<void> {
    if (this.#reading.has(log)) {
      this.#reading.set(log, true);
      return;
    }
    try {
      do {
        this.#reading.set(log, false);
        await this.refresh(log);
      } while (this.#reading.get(log));
    } catch {
      // The next poll reads again.
    } finally {
      this.#reading.delete(log);
    }
  }
}
