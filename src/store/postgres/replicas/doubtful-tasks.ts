import type { Clock } from '../../../primitives/clock.ts';
import type { TaskHolds } from './task-holds.ts';

/** Milliseconds after the end of an outage during which a statement may still be executed. */
const maxDelay = 60_000;

interface DoubtfulTask {
  readonly ownerRow: number;
  readonly id: string;
  firstCheckedAt?: number;
}

/**
 * New tasks that may have been stored although their commit failed. Their clients received an error, and no run of this
 * replica continues them, so they are left to recovery. The database may also execute a statement after its connection was
 * closed, so each of them is looked up several times.
 */
export class DoubtfulTasks {
  readonly #holds: TaskHolds;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #tasks = new Map<string, DoubtfulTask>();

  constructor(holds: TaskHolds, clock: Pick<Clock, 'monotonic'>) {
    this.#holds = holds;
    this.#clock = clock;
  }

  add(ownerRow: number, id: string): void {
    this.#tasks.set(toKey(ownerRow, id), { ownerRow, id });
  }

  /** Removes a task that was created with the same id by a later request. */
  remove(ownerRow: number, id: string): void {
    if (this.#tasks.size > 0) this.#tasks.delete(toKey(ownerRow, id));
  }

  /** Clears the holder of those that were stored. */
  async release(epoch: number): Promise<void> {
    if (this.#tasks.size === 0) return;
    const tasks = [...this.#tasks.values()];
    const released = await this.#holds.handOver(epoch, tasks);
    const now = this.#clock.monotonic();
    const old = tasks.filter((task) => now - (task.firstCheckedAt ??= now) > maxDelay);
    for (const { ownerRow, id } of [...released, ...old]) this.remove(ownerRow, id);
  }
}

const toKey = (ownerRow: number, id: string): string => `${ownerRow} ${id}`;
