/** Something that is to happen at a moment. */
export interface ScheduledTimer {
  at: number;
  run: () => void;
  /** Ticks of a background do not make time go on by themselves. */
  readonly isBackground: boolean;
}

interface Entry extends ScheduledTimer {
  order: number;
}

/** Timers in the order of their moments; those of one moment in the order in which they were set. */
export class TimerList {
  /** The next one last, where taking it costs nothing. */
  readonly #entries: Entry[] = [];
  #order = 0;
  #foreground = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** True when there is something that time has to go on for. */
  get hasForeground(): boolean {
    return this.#foreground > 0;
  }

  /** The moment of the next timer. */
  get next(): number | undefined {
    return this.#entries.at(-1)?.at;
  }

  /** @returns what takes the timer out again. */
  add(timer: ScheduledTimer): () => void {
    const entry: Entry = { ...timer, order: this.#order++ };
    this.#entries.splice(this.#indexOf(entry), 0, entry);
    if (!entry.isBackground) this.#foreground++;
    return () => {
      const index = this.#indexOf(entry);
      if (this.#entries[index] !== entry) return;
      this.#entries.splice(index, 1);
      this.#onRemoved(entry);
    };
  }

  /** Takes the next timer out if its moment has come. */
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

  #onRemoved({ isBackground }: Entry): void {
    if (!isBackground) this.#foreground--;
  }

  /** Where an entry is or belongs. */
  #indexOf({ at, order }: Entry): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#entries[middle] as Entry;
      if (other.at > at || (other.at === at && other.order > order)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
