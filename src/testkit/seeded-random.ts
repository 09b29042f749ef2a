/** Pseudo-random number generator; the same seed produces the same numbers. */
export interface SeededRandom {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns an integer from `low` to `high`, both included. */
  between(low: number, high: number): number;
}

/** Creates a generator. Generators with the same seed and different `stream` numbers are independent. */
export function createSeededRandom(seed: number, stream = 0): SeededRandom {
  let state = (mix(seed) ^ mix(stream + 0x9e37_79b9)) >>> 0;
  const next = (): number => {
    // A Weyl sequence has the full period of 2^32 states.
    state = (state + 0x9e37_79b9) >>> 0;
    return mix(state) / 0x1_0000_0000;
  };
  return { next, between: (low, high) => low + Math.floor(next() * (high - low + 1)) };
}

/** Integer hash with good avalanche behavior. */
function mix(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
