/** How much a roll keeps. */
export interface RingBufferOptions<Item> {
  readonly maxItems?: number;
  readonly maxWeight?: number;
  readonly weigh?: (item: Item) => number;
}

/** A list that forgets its oldest items at a constant cost for each new one. */
export class RingBuffer<Item> {
  readonly #maxItems: number;
  readonly #maxWeight: number;
  readonly #weigh: (item: Item) => number;
  #items: Item[] = [];
  /** The index in `#items` of the oldest one that still counts. */
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

  /** The item at a place counted from the oldest. */
  at(index: number): Item | undefined {
    return index < 0 ? undefined : this.#items[this.#oldest + index];
  }

  /** The items from one place up to, but not with, another. */
  slice(first = 0, end = this.length): Item[] {
    return this.#items.slice(this.#oldest + Math.max(0, first), this.#oldest + Math.max(0, end));
  }

  /** Adds an item. @returns what had to be forgotten for it, oldest first. */
  push(item: Item): Item[] {
    this.#items.push(item);
    this.#weight += this.#weigh(item);
    const forgotten: Item[] = [];
    while (this.length > 1 && (this.length > this.#maxItems || this.#weight > this.#maxWeight)) {
      forgotten.push(this.shift() as Item);
    }
    return forgotten;
  }

  /** Forgets the oldest item. */
  shift(): Item | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#oldest++] as Item;
    this.#weight -= this.#weigh(item);
    // Moving everything each time would cost more than keeping as many dead items as live ones.
    if (this.#oldest * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#oldest);
      this.#oldest = 0;
    }
    return item;
  }

  /** Forgets everything. */
  clear(): void {
    this.#items = [];
    this.#oldest = 0;
    this.#weight = 0;
  }
}
