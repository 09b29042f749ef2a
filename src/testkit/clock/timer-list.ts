/** A timer of a virtual clock. */
export interface ScheduledTimer {
  at: number;
  run: () => void;
  /** Background timers (intervals) do not advance an automatic clock. */
  readonly isBackground: boolean;
}

interface TimerEntry extends ScheduledTimer {
  order: number;
}

/** Timers sorted by due time, then by the order in which they were set. */
export class TimerList {
  /** In reverse order, so that removing the next timer is cheap. */
  readonly #entries: TimerEntry[] = [];
  #order = 0;
  #foreground = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** True if there is a foreground timer. */
  get hasForeground(): boolean {
    return this.#foreground > 0;
  }

  /** Due time of the next timer. */
  get next(): number | undefined {
    return this.#entries.at(-1)?.at;
  }

  /** @returns a function that cancels the timer */
  add(timer: ScheduledTimer): () => void {
    const entry: TimerEntry = { ...timer, order: this.#order++ };
    this.#entries.splice(this.#indexOf(entry), 0, entry);
    if (!entry.isBackground) this.#foreground++;
    return () => {
      const index = this.#indexOf(entry);
      if (this.#entries[index] !== entry) return;
      this.#entries.splice(index, 1);
      this.#onRemoved(entry);
    };
  }

  /** Removes and returns the next timer if it is due. */
  takeDue(now: number): ScheduledTimer | undefined {
    const entry = this.#entries.at(-1);
    if (!entry || entry.at > now) return undefined;
    this.#entries.pop();
    this.#onRemoved(entry);
    return entry;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#foreground = 0;
  }

  #onRemoved({ isBackground }: TimerEntry): void {
    if (!isBackground) this.#foreground--;
  }

  /** Finds the index of an entry by binary search. */
  #indexOf({ at, order }: TimerEntry): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#entries[middle] as TimerEntry;
      if (other.at > at || (other.at === at && other.order > order)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
