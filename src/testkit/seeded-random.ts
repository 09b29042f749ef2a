/** Draws numbers that only look random: the same seed draws the same ones. */
export interface SeededRandom {
  /** At least 0 and below 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
}

/** Starts to draw from a seed; `stream` tells those apart that share a seed and must not influence each other. */
export function createSeededRandom(seed: number, stream = 0): SeededRandom {
  let state = (mix(seed) ^ mix(stream + 0x9e37_79b9)) >>> 0;
  const next = (): number => {
    // A Weyl sequence, stirred: it visits every state once before it repeats.
    state = (state + 0x9e37_79b9) >>> 0;
    return mix(state) / 0x1_0000_0000;
  };
  return { next, between: (low, high) => low + Math.floor(next() * (high - low + 1)) };
}

/** Stirs 32 bits so that a change of one of them changes half of the others. */
function mix(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
