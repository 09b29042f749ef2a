/** Limits the number of concurrent operations; further ones wait in order. */
export class Semaphore {
  readonly #limit: number;
  readonly #waiting = new Set<() => void>();
  #inUse = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of running operations. */
  get inUse(): number {
    return this.#inUse;
  }

  /** Calls `begin` when a permit is available. @returns a function that releases the permit or stops waiting. */
  acquire(begin: () => void): () => void {
    let hasPermit = false;
    const start = (): void => {
      hasPermit = true;
      this.#inUse++;
      begin();
    };
    if (this.#inUse < this.#limit) start();
    else this.#waiting.add(start);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      if (!hasPermit) this.#waiting.delete(start);
      else this.#release();
    };
  }

  #release(): void {
    this.#inUse--;
    for (const next of this.#waiting) {
      this.#waiting.delete(next);
      next();
      return;
    }
  }
}
