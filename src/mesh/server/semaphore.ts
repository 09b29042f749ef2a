/** Lets so many work at once; the others wait in line. */
export class Semaphore {
  readonly #size: number;
  readonly #line = new Set<() => void>();
  #taken = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** How many work now. */
  get taken(): number {
    return this.#taken;
  }

  /** Begins when there is room. @returns what gives the room back, or leaves the line. */
  take(begin: () => void): () => void {
    let given = false;
    const start = (): void => {
      given = true;
      this.#taken++;
      begin();
    };
    if (this.#taken < this.#size) start();
    else this.#line.add(start);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      if (!given) this.#line.delete(start);
      else this.#giveBack();
    };
  }

  #giveBack(): void {
    this.#taken--;
    for (const next of this.#line) {
      this.#line.delete(next);
      next();
      return;
    }
  }
}
