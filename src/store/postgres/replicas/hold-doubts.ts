import type { Clock } from '../../../primitives/clock.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { HeldTaskLog } from '../../durable/held-task-log.ts';
import { type LogCache, taskCacheKey } from '../../durable/log-cache.ts';
import type { UnfinishedTask } from '../../task-store.ts';
import type { PostgresConnection } from '../connection.ts';
import type { TaskHolds } from './task-holds.ts';

/** Milliseconds after a failed statement during which the database may still execute it. */
const maxDelay = 60_000;

/** Milliseconds between two checks. */
const checkInterval = 2_000;

/**
 * Knows when this replica may hold tasks or webhooks without knowing it. The answer to a statement that creates or claims
 * some is lost if its connection breaks, and the database may execute it even after that. So the replica compares what it
 * holds with what it knows for a while after every failure. It runs unfinished tasks that it did not know again, and
 * releases those that wait for a message, so that any replica can accept one.
 */
export class HoldDoubts {
  readonly #connection: Pick<PostgresConnection, 'failures'>;
  readonly #holds: TaskHolds;
  readonly #cache: LogCache<HeldTaskLog>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Creations on their way, by key of the task. */
  readonly #creating = new Map<string, Promise<unknown>>();
  /** Number of claims on their way, by key of the task. */
  readonly #claiming = new Map<string, number>();
  /** Tasks that this replica may have claimed without knowing it. */
  readonly #doubted = new Set<HeldTaskLog>();
  #seenFailures = 0;
  #until = 0;
  #nextCheck = 0;
  #isDueForTasks = false;
  #isDueForWebhooks = false;

  constructor(
    connection: Pick<PostgresConnection, 'failures'>,
    holds: TaskHolds,
    cache: LogCache<HeldTaskLog>,
    clock: Pick<Clock, 'monotonic'>,
  ) {
    this.#connection = connection;
    this.#holds = holds;
    this.#cache = cache;
    this.#clock = clock;
  }

  /** Creates a task and adds it to the cache. Until then, it is not unknown. */
  async create(log: HeldTaskLog, create: () => Promise<void>): Promise<void> {
    const key = taskCacheKey(log.owner, log.id);
    const creating = create().then(() => this.#cache.put(log));
    // The same task may be created twice at the same time; one of the statements is rejected.
    const all = Promise.allSettled([this.#creating.get(key), creating]);
    this.#creating.set(key, all);
    void all.then(() => {
      if (this.#creating.get(key) === all) this.#creating.delete(key);
    });
    try {
      await creating;
    } catch (error) {
      if (A2AError.from(error).reason !== 'CONFLICT') this.raise();
      throw error;
    }
  }

  /** Resolves when a creation of the task that is on its way was answered; undefined if there is none. */
  whenCreated(owner: string, id: string): Promise<unknown> | undefined {
    return this.#creating.size === 0 ? undefined : this.#creating.get(taskCacheKey(owner, id));
  }

  /** Claims a task. Until that has succeeded or failed, its hold is not unknown. */
  async claim(log: HeldTaskLog, claim: () => Promise<boolean>): Promise<boolean> {
    const key = taskCacheKey(log.owner, log.id);
    this.#claiming.set(key, (this.#claiming.get(key) ?? 0) + 1);
    try {
      return await claim();
    } catch (error) {
      this.raise(log);
      throw error;
    } finally {
      const left = (this.#claiming.get(key) ?? 1) - 1;
      if (left > 0) this.#claiming.set(key, left);
      else this.#claiming.delete(key);
    }
  }

  /** Called when this replica may hold a task without knowing it. @param log - of the task, if it is a known one. */
  raise(log?: HeldTaskLog): void {
    const now = this.#clock.monotonic();
    this.#until = now + maxDelay;
    if (!log || this.#doubted.has(log)) return;
    this.#doubted.add(log);
    this.#nextCheck = now;
  }

  /** Called when this replica turns out to hold a task whose log is not held. */
  noticeHold(log: HeldTaskLog): void {
    if (!this.#isKnown(log.owner, log.id)) this.raise(log);
  }

  /** Returns true if tasks and webhooks must be compared now. */
  check(): boolean {
    const now = this.#clock.monotonic();
    const { failures } = this.#connection;
    if (failures !== this.#seenFailures) {
      this.#seenFailures = failures;
      this.#until = now + maxDelay;
      this.#nextCheck = now;
    }
    if (now >= this.#until) this.#doubted.clear();
    if (now >= this.#until || now < this.#nextCheck) return false;
    this.#nextCheck = now + checkInterval;
    this.#isDueForTasks = this.#isDueForWebhooks = true;
    return true;
  }

  /** Releases the tasks that wait for a message and that this replica holds without knowing it. */
  async release(epoch: number): Promise<void> {
    const unknown = [...this.#doubted].filter((log) => !this.#isKnown(log.owner, log.id));
    if (unknown.length > 0)
      await this.#holds.releaseInterrupted(
        epoch,
        unknown.map(({ stored }) => stored.row),
      );
  }

  /** Returns the unfinished tasks that this replica holds and does not know, once after a check. */
  async takeTasks(epoch: number): Promise<UnfinishedTask[]> {
    if (!this.#isDueForTasks) return [];
    this.#isDueForTasks = false;
    const known = this.#cache.logs().flatMap(({ isHeld, stored }) => (isHeld ? [stored.row] : []));
    const tasks = await this.#holds.listUnknown(epoch, known);
    // Some may have become known meanwhile.
    return tasks.filter(({ owner, id }) => !this.#isKnown(owner, id));
  }

  #isKnown(owner: string, id: string): boolean {
    const key = taskCacheKey(owner, id);
    return this.#creating.has(key) || this.#claiming.has(key) || this.#cache.get(owner, id)?.isHeld === true;
  }

  /** Returns true once after a check: webhooks must be compared. */
  takeWebhooks(): boolean {
    const isDue = this.#isDueForWebhooks;
    this.#isDueForWebhooks = false;
    return isDue;
  }
}
