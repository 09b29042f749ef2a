/** Numbers that look like chance and are the same for the same seed. */
export class SeededRandom {
  readonly #seed: string;
  #state: number;

  constructor(seed: string | number) {
    this.#seed = String(seed);
    this.#state = hash(this.#seed);
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    // A counter in steps that reach every state, stirred until neighbours have nothing in common (splitmix32).
    this.#state = (this.#state + 0x9e37_79b9) | 0;
    let mixed = this.#state ^ (this.#state >>> 16);
    mixed = Math.imul(mixed, 0x21f0_aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a_2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** A number around a mean: two of three are no further away than the deviation. */
  normal(mean: number, deviation: number): number {
    // Two even numbers make one normal one (Box and Muller); 0 has no logarithm.
    const distance = Math.sqrt(-2 * Math.log(1 - this.next()));
    return mean + deviation * distance * Math.cos(2 * Math.PI * this.next());
  }

  /** Another source, the same for the same name, that is not disturbed by who else draws from this one. */
  fork(name: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${name}`);
  }
}

/** FNV-1a. */
function hash(text: string): number {
  let sum = 0x811c_9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x0100_0193);
  return sum;
}
