/** Something that has to be seen to before anything else is told. */
type DeferredWork = () => Promise<void>;

/**
 * What happens during a call, in the order in which it can be told: the newest text only, because who reads slowly
 * misses what is old, and every errand.
 */
export class CallUpdates implements AsyncIterable<string | DeferredWork> {
  readonly #errands: DeferredWork[] = [];
  #newest: string | undefined;
  #isOver = false;
  #wake: (() => void) | undefined;

  push(text: string): void {
    this.#newest = text;
    this.#wake?.();
  }

  /** Has whoever reads do something, and gives what came of it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#errands.push(() => work().then(resolve, reject));
      this.#wake?.();
    });
  }

  /** There is nothing more to come. */
  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | DeferredWork> {
    for (;;) {
      const next = this.#newest ?? this.#errands.shift();
      if (next === this.#newest) this.#newest = undefined;
      if (next !== undefined) yield next;
      else if (this.#isOver) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }
}
