/** Limits of a ring buffer. */
export interface RingBufferOptions<Item> {
  readonly maxItems?: number;
  readonly maxWeight?: number;
  readonly weigh?: (item: Item) => number;
}

/** A list that evicts its oldest items at constant cost per new item. */
export class RingBuffer<Item> {
  readonly #maxItems: number;
  readonly #maxWeight: number;
  readonly #weigh: (item: Item) => number;
  #items: Item[] = [];
  /** Index in `#items` of the oldest retained item. */
  #oldest = 0;
  #weight = 0;

  constructor({ maxItems = Infinity, maxWeight = Infinity, weigh = () => 0 }: RingBufferOptions<Item> = {}) {
    this.#maxItems = maxItems;
    this.#maxWeight = maxWeight;
    this.#weigh = weigh;
  }

  get length(): number {
    return this.#items.length - this.#oldest;
  }

  /** The item at a position, counted from the oldest. */
  at(index: number): Item | undefined {
    return index < 0 ? undefined : this.#items[this.#oldest + index];
  }

  /** The items in a range; the end is exclusive. */
  slice(first = 0, end = this.length): Item[] {
    return this.#items.slice(this.#oldest + Math.max(0, first), this.#oldest + Math.max(0, end));
  }

  /** Adds an item. @returns the evicted items, oldest first */
  push(item: Item): Item[] {
    this.#items.push(item);
    this.#weight += this.#weigh(item);
    const forgotten: Item[] = [];
    while (this.length > 1 && (this.length > this.#maxItems || this.#weight > this.#maxWeight)) {
      forgotten.push(this.shift() as Item);
    }
    return forgotten;
  }

  /** Evicts the oldest item. */
  shift(): Item | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#oldest++] as Item;
    this.#weight -= this.#weigh(item);
    // Compacting is amortized: at most half of the array is unused.
    if (this.#oldest * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#oldest);
      this.#oldest = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#oldest = 0;
    this.#weight = 0;
  }
}
