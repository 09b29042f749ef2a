/** A thing that has a place in a {@link RecencyIndex}. */
export interface RecencyEntry {
  /** Grows with each change of any task; tells which is newer. */
  touched: number;
}

/**
 * Things in the order of their last change, as an array that only grows at its end: what changes moves there and
 * leaves a hole, and holes are swept out when they are half of it. So a change costs the same however many things
 * there are, and a page costs its size.
 */
export class RecencyIndex<T extends RecencyEntry> {
  /** How many things there are. */
  size = 0;
  #slots: (T | undefined)[] = [];
  #touched: number[] = [];
  #sweptAt = 64;

  /** Puts a thing at the end. Its `touched` must be newer than all others. */
  add(thing: T): void {
    if (this.#slots.length >= this.#sweptAt) this.#sweep();
    this.#slots.push(thing);
    this.#touched.push(thing.touched);
    this.size++;
  }

  /** Takes a thing away, given where it stood. */
  remove(thing: T, touched = thing.touched): void {
    const at = this.#find(touched);
    if (this.#slots[at] !== thing) return;
    this.size--;
    if (at === this.#slots.length - 1) {
      this.#slots.pop();
      this.#touched.pop();
    } else this.#slots[at] = undefined;
    // A state that many tasks left at once must not keep their holes until as many come back.
    if (this.#slots.length > 64 && this.size * 4 < this.#slots.length) this.#sweep();
  }

  /** Goes through the things that are older than a place, newest first. */
  *before(touched: number): Generator<T, void, undefined> {
    for (let at = this.#find(touched) - 1; at >= 0; at--) {
      const thing = this.#slots[at];
      if (thing) yield thing;
    }
  }

  /** The first slot that is not older than a place. */
  #find(touched: number): number {
    let low = 0;
    let high = this.#touched.length;
    // What changes was often the last to change before: look there first.
    if (high > 0 && this.#touched[high - 1] === touched) return high - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#touched[middle] ?? 0) < touched) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #sweep(): void {
    if (this.size * 2 <= this.#slots.length) {
      const kept = this.#slots.filter((thing) => thing !== undefined);
      this.#slots = kept;
      this.#touched = kept.map((thing) => thing.touched);
    }
    this.#sweptAt = Math.max(64, this.#slots.length * 2);
  }
}
