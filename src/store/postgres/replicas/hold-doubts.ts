import type { Clock } from '../../../primitives/clock.ts';
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
 * holds with what it knows for a while after every failure.
 */
export class HoldDoubts {
  readonly #connection: Pick<PostgresConnection, 'failures'>;
  readonly #holds: TaskHolds;
  readonly #cache: LogCache<HeldTaskLog>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Keys of the tasks whose creation is on its way. */
  readonly #creating = new Set<string>();
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
    this.#creating.add(key);
    try {
      await create();
      this.#cache.put(log);
    } finally {
      this.#creating.delete(key);
    }
  }

  /** Called when this replica turns out to hold a task that it does not know. */
  raise(): void {
    this.#until = this.#clock.monotonic() + maxDelay;
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
    if (now >= this.#until || now < this.#nextCheck) return false;
    this.#nextCheck = now + checkInterval;
    this.#isDueForTasks = this.#isDueForWebhooks = true;
    return true;
  }

  /** Returns the unfinished tasks that this replica holds and does not know, once after a check. */
  async takeTasks(epoch: number): Promise<UnfinishedTask[]> {
    if (!this.#isDueForTasks) return [];
    this.#isDueForTasks = false;
    const known = this.#cache.logs().flatMap(({ isHeld, stored }) => (isHeld ? [stored.row] : []));
    const tasks = await this.#holds.listUnknown(epoch, known);
    // Some may have become known meanwhile.
    return tasks.filter(
      ({ owner, id }) =>
        !this.#creating.has(taskCacheKey(owner, id)) && this.#cache.get(owner, id)?.isHeld !== true,
    );
  }

  /** Returns true once after a check: webhooks must be compared. */
  takeWebhooks(): boolean {
    const isDue = this.#isDueForWebhooks;
    this.#isDueForWebhooks = false;
    return isDue;
  }
}
