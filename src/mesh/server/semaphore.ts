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

  /** Waits for a permit until the signal aborts. @returns a function that releases it. */
  acquire(signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(start);
        reject(signal.reason);
      };
      const start = (): void => {
        this.#inUse++;
        this.#waiting.delete(start);
        signal.removeEventListener('abort', leave);
        resolve(() => this.#release());
      };
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
      else if (this.#inUse < this.#limit) start();
      else this.#waiting.add(start);
    });
  }

  #release(): void {
    this.#inUse--;
    const [next] = this.#waiting;
    next?.();
  }
}
