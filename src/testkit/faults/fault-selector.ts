import type { SeededRandom } from '../seeded-random.ts';
import type { Fault } from './fault.ts';

/** Decides which faults strike, by their chance and by how often they did before. */
export class FaultSelector {
  readonly #random: SeededRandom;
  #struck = new Map<Fault, number>();

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** The faults that strike an answer. A fault is known by its identity, so hand in the same object each time. */
  select(faults: readonly Fault[], on: 'message' | 'card' = 'message'): readonly Fault[] {
    return faults.filter((fault) => {
      const { on: where = 'message', times = Number.POSITIVE_INFINITY, chance = 1 } = fault;
      if (where !== on && where !== 'any') return false;
      const struck = this.#struck.get(fault) ?? 0;
      if (struck >= times) return false;
      if (chance < 1 && this.#random.next() >= chance) return false;
      // Only what can end has to be counted, so what is kept is bounded by what somebody wrote.
      if (times !== Number.POSITIVE_INFINITY) this.#struck.set(fault, struck + 1);
      return true;
    });
  }

  /** Forgets how often each struck. */
  reset(): void {
    this.#struck.clear();
  }
}
