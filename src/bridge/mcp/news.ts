/** News as they come, the newest only: who reads slowly misses what is old. */
export class News implements AsyncIterable<string> {
  #newest: string | undefined;
  #isOver = false;
  #wake: (() => void) | undefined;

  tell(text: string): void {
    this.#newest = text;
    this.#wake?.();
  }

  /** There is nothing more to come. */
  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const text = this.#newest;
      this.#newest = undefined;
      if (text !== undefined) yield text;
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
