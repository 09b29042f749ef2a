import type { TrafficRecord } from './traffic-record.ts';

/** How much a tape keeps. */
export interface TrafficLogOptions {
  /** How many passages. @defaultValue 20,000 */
  readonly maxRecords?: number;
  /** How many characters of text in all. @defaultValue 64 Mi */
  readonly maxCharacters?: number;
}

/** Keeps what was seen on wires, the newest of it, for as many readers as there are. */
export class TrafficLog {
  readonly #maxPassages: number;
  readonly #maxCharacters: number;
  readonly #watchers = new Set<(passage: TrafficRecord) => void>();
  #kept: TrafficRecord[] = [];
  /** The index of the oldest passage in `#kept` that still counts. */
  #oldest = 0;
  #characters = 0;
  #last = 0;

  constructor({
    maxRecords: maxPassages = 20_000,
    maxCharacters = 64 * 1_024 * 1_024,
  }: TrafficLogOptions = {}) {
    this.#maxPassages = maxPassages;
    this.#maxCharacters = maxCharacters;
  }

  /** The sequence number of the newest passage; 0 before the first. */
  get lastSequence(): number {
    return this.#last;
  }

  /** Adds what was seen and tells everybody who watches. */
  add(draft: Omit<TrafficRecord, 'sequence'>): TrafficRecord {
    const passage: TrafficRecord = { sequence: ++this.#last, ...draft };
    this.#kept.push(passage);
    this.#characters += passage.text.length;
    while (this.#isFull()) this.#forget();
    for (const tell of this.#watchers) tell(passage);
    return passage;
  }

  /** What is kept of everything after a sequence number, oldest first. */
  recordsAfter(sequence = 0): readonly TrafficRecord[] {
    const first = this.#kept[this.#oldest]?.sequence ?? this.#last + 1;
    return this.#kept.slice(this.#oldest + Math.max(0, sequence + 1 - first));
  }

  /** Calls back with everything that comes. @returns what stops it. */
  subscribe(tell: (passage: TrafficRecord) => void): () => void {
    this.#watchers.add(tell);
    return () => this.#watchers.delete(tell);
  }

  /** Forgets what is kept; sequence numbers go on. */
  clear(): void {
    this.#kept = [];
    this.#oldest = 0;
    this.#characters = 0;
  }

  #isFull(): boolean {
    const count = this.#kept.length - this.#oldest;
    return count > 1 && (count > this.#maxPassages || this.#characters > this.#maxCharacters);
  }

  #forget(): void {
    this.#characters -= this.#kept[this.#oldest]?.text.length ?? 0;
    this.#oldest++;
    // Moving everything with each new passage would cost more than keeping a few dead ones.
    if (this.#oldest * 2 < this.#kept.length) return;
    this.#kept = this.#kept.slice(this.#oldest);
    this.#oldest = 0;
  }
}
