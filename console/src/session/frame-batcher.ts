/** Gathers what comes and hands it on once in a frame, however much it is. */
export class FrameBatcher<Item> {
  readonly #hand: (items: readonly Item[]) => void;
  #items: Item[] = [];

  constructor(hand: (items: readonly Item[]) => void) {
    this.#hand = hand;
  }

  add(item: Item): void {
    this.#items.push(item);
    if (this.#items.length > 1) return;
    // A page in the background has no frames, but its clock goes on.
    if (document.hidden) setTimeout(() => this.flush(), 200);
    else requestAnimationFrame(() => this.flush());
  }

  /** Hands on what there is, without waiting. */
  flush(): void {
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) this.#hand(items);
  }
}
