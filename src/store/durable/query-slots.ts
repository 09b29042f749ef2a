/** Statements that may run at the same time. Others wait for their turn, in order, for a limited time. */
export class QuerySlots {
  readonly #timeout: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  /** @param timeout - milliseconds after which a waiting statement is given up. */
  constructor(count: number, timeout: number) {
    this.#free = count;
    this.#timeout = timeout;
  }

  /** @throws if no slot becomes free in time. */
  acquire(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const take = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(take);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(take);
        reject(new Error(`No connection to the database became free within ${this.#timeout} ms`));
      }, this.#timeout);
      this.#waiting.add(take);
    });
  }

  release(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#free++;
  }
}
