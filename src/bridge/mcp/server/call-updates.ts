type DeferredWork = () => Promise<void>;

/** Queue of the updates of a call. A slow consumer receives only the newest progress text, but all deferred work. */
export class CallUpdates implements AsyncIterable<string | DeferredWork> {
  readonly #deferred: DeferredWork[] = [];
  #newest: string | undefined;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  push(text: string): void {
    this.#newest = text;
    this.#wake?.();
  }

  /** Lets the consumer run `work`. @returns the result of `work` */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#deferred.push(() => work().then(resolve, reject));
      this.#wake?.();
    });
  }

  /** Ends the iteration after the pending updates. */
  end(): void {
    this.#hasEnded = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | DeferredWork> {
    for (;;) {
      const next = this.#newest ?? this.#deferred.shift();
      if (next === this.#newest) this.#newest = undefined;
      if (next !== undefined) yield next;
      else if (this.#hasEnded) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }
}
