import type { OwnerTasks } from './owner-tasks.ts';

/** Limits of {@link OwnerShares}. */
export interface ShareLimits {
  readonly maxTasks: number;
  readonly maxBytes: number;
}

/**
 * Decides which owner gives up its oldest task when the store is full, so that an owner that uses less than its share
 * never loses tasks to others. The share of an owner is the average use.
 */
export class OwnerShares {
  readonly #limits: ShareLimits;
  readonly #owners: ReadonlyMap<string, OwnerTasks>;
  /** Owners that used more than their share, largest last. Refilled when it is empty. */
  #candidates: OwnerTasks[] = [];

  constructor(limits: ShareLimits, owners: ReadonlyMap<string, OwnerTasks>) {
    this.#limits = limits;
    this.#owners = owners;
  }

  /**
   * Returns an owner that must give up a finished task.
   *
   * @param sender - the owner that needs room: if it uses its share or more, only its own tasks are evicted.
   * @returns undefined if no task may be evicted.
   */
  chooseOwner(sender: OwnerTasks, total: { count: number; bytes: number }): OwnerTasks | undefined {
    const share = this.#use(total.count, total.bytes) / Math.max(1, this.#owners.size);
    if (this.#useOf(sender) >= share) return sender.oldestFinished() && sender;
    const found = this.#nextCandidate(share);
    if (found) return found;
    this.#candidates = [...this.#owners.values()]
      .filter((owner) => this.#isAbove(owner, share))
      .sort((a, b) => this.#useOf(a) - this.#useOf(b));
    return this.#nextCandidate(share);
  }

  #nextCandidate(share: number): OwnerTasks | undefined {
    for (let owner = this.#candidates.at(-1); owner; owner = this.#candidates.at(-1)) {
      if (this.#isAbove(owner, share)) return owner;
      this.#candidates.pop();
    }
    return undefined;
  }

  #isAbove(owner: OwnerTasks, share: number): boolean {
    return this.#useOf(owner) > share && owner.oldestFinished() !== undefined;
  }

  #useOf({ tasks, bytes }: OwnerTasks): number {
    return this.#use(tasks.size, bytes);
  }

  #use(count: number, bytes: number): number {
    return count / this.#limits.maxTasks + bytes / this.#limits.maxBytes;
  }
}
