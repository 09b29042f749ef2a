import type { SeededRandom } from '../seeded-random.ts';
import type { Fault } from './fault.ts';

/** Selects the faults to inject, by `probability` and `times`. */
export class FaultSelector {
  readonly #random: SeededRandom;
  #counts = new Map<Fault, number>();

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** Selects the faults of one response. Counts are kept per object identity: pass the same objects each time. */
  select(faults: readonly Fault[], on: 'message' | 'card' = 'message'): readonly Fault[] {
    return faults.filter((fault) => {
      const { on: target = 'message', times = Number.POSITIVE_INFINITY, probability = 1 } = fault;
      if (target !== on && target !== 'any') return false;
      const count = this.#counts.get(fault) ?? 0;
      if (count >= times) return false;
      if (probability < 1 && this.#random.next() >= probability) return false;
      // Only faults with a limit are counted, which bounds the size of the map.
      if (times !== Number.POSITIVE_INFINITY) this.#counts.set(fault, count + 1);
      return true;
    });
  }

  reset(): void {
    this.#counts.clear();
  }
}
