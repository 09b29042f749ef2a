/** FIFO queue with amortized constant-time `shift`. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    } else if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Inserts items at the front, in their order. */
  unshift(items: readonly T[]): void {
    this.#items = [...items, ...this.#items.slice(this.#head)];
    this.#head = 0;
  }

  /** Removes and returns the items that match. */
  remove(isUnwanted: (item: T) => boolean): T[] {
    const items = this.#items.slice(this.#head) as T[];
    this.#items = items.filter((item) => !isUnwanted(item));
    this.#head = 0;
    return items.filter(isUnwanted);
  }
}
