/** Collects items and delivers them once per animation frame. */
export class FrameBatcher<Item> {
  readonly #hand: (items: readonly Item[]) => void;
  #items: Item[] = [];

  constructor(hand: (items: readonly Item[]) => void) {
    this.#hand = hand;
  }

  add(item: Item): void {
    this.#items.push(item);
    if (this.#items.length > 1) return;
    // Background pages have no animation frames, but timers still run.
    if (document.hidden) setTimeout(() => this.flush(), 200);
    else requestAnimationFrame(() => this.flush());
  }

  /** Delivers pending items immediately. */
  flush(): void {
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) this.#hand(items);
  }
}
