import { freezeJson } from '../primitives/json.ts';
import type { TrafficRecord } from './traffic-record.ts';

/** Limits of a {@link TrafficLog}. */
export interface TrafficLogOptions {
  /** Maximum number of records. @defaultValue 20,000 */
  readonly maxRecords?: number;
  /** Maximum number of text characters in total. @defaultValue 64 Mi */
  readonly maxCharacters?: number;
}

/** Bounded buffer of traffic records. Evicts the oldest records first. */
export class TrafficLog {
  readonly #maxRecords: number;
  readonly #maxCharacters: number;
  readonly #subscribers = new Set<(record: TrafficRecord) => void>();
  #records: TrafficRecord[] = [];
  /** Index of the oldest record in `#records` that is not evicted. */
  #oldest = 0;
  #characters = 0;
  #last = 0;

  constructor({ maxRecords = 20_000, maxCharacters = 64 * 1_024 * 1_024 }: TrafficLogOptions = {}) {
    this.#maxRecords = maxRecords;
    this.#maxCharacters = maxCharacters;
  }

  /** Sequence number of the newest record; 0 if the log is empty. */
  get lastSequence(): number {
    return this.#last;
  }

  /** Appends a record and notifies the subscribers. */
  add(draft: Omit<TrafficRecord, 'sequence'>): TrafficRecord {
    // All readers share the record.
    const record: TrafficRecord = freezeJson({ sequence: ++this.#last, ...draft });
    this.#records.push(record);
    this.#characters += record.text.length;
    while (this.#isFull()) this.#evictOldest();
    for (const notify of this.#subscribers) notify(record);
    return record;
  }

  /** Returns the retained records after a sequence number, oldest first. */
  recordsAfter(sequence = 0): readonly TrafficRecord[] {
    const first = this.#records[this.#oldest]?.sequence ?? this.#last + 1;
    return this.#records.slice(this.#oldest + Math.max(0, sequence + 1 - first));
  }

  /** Calls `notify` with each new record. @returns a function that ends the subscription. */
  subscribe(notify: (record: TrafficRecord) => void): () => void {
    this.#subscribers.add(notify);
    return () => this.#subscribers.delete(notify);
  }

  /** Removes all records; sequence numbers continue. */
  clear(): void {
    this.#records = [];
    this.#oldest = 0;
    this.#characters = 0;
  }

  #isFull(): boolean {
    const count = this.#records.length - this.#oldest;
    return count > 1 && (count > this.#maxRecords || this.#characters > this.#maxCharacters);
  }

  #evictOldest(): void {
    this.#characters -= this.#records[this.#oldest]?.text.length ?? 0;
    this.#oldest++;
    // Shifting the array on every append would cost more than retaining some evicted records.
    if (this.#oldest * 2 < this.#records.length) return;
    this.#records = this.#records.slice(this.#oldest);
    this.#oldest = 0;
  }
}
