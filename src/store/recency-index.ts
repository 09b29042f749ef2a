/** An entry of a {@link RecencyIndex}. */
export interface RecencyEntry {
  /** Sequence number of the last change. A higher number is newer. */
  touched: number;
}

/**
 * Entries in order of their last change, in an array that grows at its end: a changed entry moves there and leaves a
 * hole, and the array is compacted when half of it are holes. A change takes amortized constant time; reading a page
 * takes time proportional to its size.
 */
export class RecencyIndex<T extends RecencyEntry> {
  size = 0;
  #slots: (T | undefined)[] = [];
  #touched: number[] = [];
  #compactAt = 64;
  /** All slots before this one are holes. */
  #start = 0;

  /** Appends an entry. Its `touched` must be higher than that of all others. */
  add(entry: T): void {
    if (this.#slots.length >= this.#compactAt) this.#compact();
    this.#slots.push(entry);
    this.#touched.push(entry.touched);
    this.size++;
  }

  /** Removes an entry, given the `touched` with which it was added. */
  remove(entry: T, touched = entry.touched): void {
    const index = this.#find(touched);
    if (this.#slots[index] !== entry) return;
    this.size--;
    if (index === this.#slots.length - 1) {
      this.#slots.pop();
      this.#touched.pop();
      this.#start = Math.min(this.#start, this.#slots.length);
    } else this.#slots[index] = undefined;
    // Without this, a state that many tasks left at once would keep their holes until as many tasks return.
    if (this.#slots.length > 64 && this.size * 4 < this.#slots.length) this.#compact();
  }

  /** Returns the entry that has been unchanged for the longest time. */
  oldest(): T | undefined {
    while (this.#start < this.#slots.length && this.#slots[this.#start] === undefined) this.#start++;
    return this.#slots[this.#start];
  }

  /** Yields the entries older than `touched`, newest first. */
  *before(touched: number): Generator<T, void, undefined> {
    for (let index = this.#find(touched) - 1; index >= 0; index--) {
      const entry = this.#slots[index];
      if (entry) yield entry;
    }
  }

  /** Returns the index of the first slot that is not older than `touched` (binary search). */
  #find(touched: number): number {
    let low = 0;
    let high = this.#touched.length;
    // The entry that changed last is often the next to change: try it first.
    if (high > 0 && this.#touched[high - 1] === touched) return high - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#touched[middle] ?? 0) < touched) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compact(): void {
    if (this.size * 2 <= this.#slots.length) {
      const remaining = this.#slots.filter((entry) => entry !== undefined);
      this.#slots = remaining;
      this.#start = 0;
      this.#touched = remaining.map((entry) => entry.touched);
    }
    this.#compactAt = Math.max(64, this.#slots.length * 2);
  }
}
