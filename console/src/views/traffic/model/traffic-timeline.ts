import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { type TrafficFilter, isBackgroundTraffic, createMatcher } from '../filter.ts';
import { Participants } from '../diagram/participants.ts';
import { RingBuffer } from './ring-buffer.ts';
import { TaskCorrelation } from './task-correlation.ts';

/** Limits of a timeline. */
export interface TrafficTimelineOptions {
  /** @defaultValue 20,000 */
  readonly maxRecords?: number;
  /** Characters of text. @defaultValue 64 Mi */
  readonly maxCharacters?: number;
}

/** Retains the newest records and their filtered view, at constant cost per new record. */
export class TrafficTimeline {
  readonly #all: RingBuffer<TrafficRecord>;
  readonly #shown = new RingBuffer<TrafficRecord>();
  readonly #correlation = new TaskCorrelation();
  readonly #participants = new Participants();
  #filter: TrafficFilter = {};
  #matches: (record: TrafficRecord) => boolean = () => true;
  #evictedCount = 0;
  #housekeeping = 0;

  constructor({ maxRecords = 20_000, maxCharacters = 64 * 1_024 * 1_024 }: TrafficTimelineOptions = {}) {
    this.#all = new RingBuffer({
      maxItems: maxRecords,
      maxWeight: maxCharacters,
      weigh: ({ text }) => text.length,
    });
  }

  /** Number of retained records. */
  get length(): number {
    return this.#all.length;
  }

  /** Number of retained card requests and health checks. */
  get housekeeping(): number {
    return this.#housekeeping;
  }

  /** The filtered records, oldest first. */
  get shown(): Pick<RingBuffer<TrafficRecord>, 'at' | 'slice' | 'length'> {
    return this.#shown;
  }

  /** Number of rows evicted at the top since the filter was set; used to correct the scroll position. */
  get evictedCount(): number {
    return this.#evictedCount;
  }

  get correlation(): Omit<TaskCorrelation, 'add' | 'remove'> {
    return this.#correlation;
  }

  /** The participants of the filtered records. */
  get participants(): Pick<Participants, 'names' | 'columnOf'> {
    return this.#participants;
  }

  /** Sequence number of the newest record; 0 if there is none. */
  get last(): number {
    return this.#all.at(this.#all.length - 1)?.sequence ?? 0;
  }

  /** Adds new records. */
  add(records: Iterable<TrafficRecord>): void {
    let isLate = false;
    for (const record of records) {
      this.#participants.add(record);
      if (isBackgroundTraffic(record)) this.#housekeeping++;
      const learned = this.#correlation.add(record);
      // The task of an exchange may become known after its first rows were filtered out.
      isLate ||= learned && record.decoded?.taskId === this.#filter.task;
      for (const old of this.#all.push(record)) this.#evict(old);
      if (this.#matches(record)) this.#show(record);
    }
    if (isLate) this.#look();
  }

  /** Sets the filter. */
  filter(filter: TrafficFilter): void {
    this.#filter = filter;
    this.#matches = createMatcher(filter, this.#correlation);
    this.#look();
  }

  clear(): void {
    for (const record of this.#all.slice()) {
      this.#correlation.remove(record);
      this.#participants.remove(record);
    }
    this.#all.clear();
    this.#housekeeping = 0;
    this.#look();
  }

  /** All records of an exchange, or all records, oldest first. */
  records(isWanted: (record: TrafficRecord) => boolean = () => true): TrafficRecord[] {
    return this.#all.slice().filter(isWanted);
  }

  /** The record with a sequence number, if retained. */
  find(sequence: number): TrafficRecord | undefined {
    const index = placeOf(this.#all, sequence);
    return index < 0 ? undefined : this.#all.at(index);
  }

  /** The row of a record in the filtered view; -1 if filtered out. */
  rowOf(sequence: number): number {
    return placeOf(this.#shown, sequence);
  }

  #show(record: TrafficRecord): void {
    this.#shown.push(record);
    this.#participants.show(record);
  }

  #evict(record: TrafficRecord): void {
    this.#correlation.remove(record);
    this.#participants.remove(record);
    if (isBackgroundTraffic(record)) this.#housekeeping--;
    if (this.#shown.at(0) !== record) return;
    this.#shown.shift();
    this.#participants.hide(record);
    this.#evictedCount++;
  }

  #look(): void {
    this.#shown.clear();
    this.#participants.hideAll();
    this.#evictedCount = 0;
    for (const record of this.#all.slice()) if (this.#matches(record)) this.#show(record);
  }
}

/** Binary search: sequence numbers increase, with gaps. */
function placeOf(records: Pick<RingBuffer<TrafficRecord>, 'at' | 'length'>, sequence: number): number {
  let low = 0;
  let high = records.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = records.at(middle)?.sequence ?? 0;
    if (found === sequence) return middle;
    if (found < sequence) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
