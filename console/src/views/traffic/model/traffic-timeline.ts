import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { type TrafficFilter, isBackgroundTraffic, createMatcher } from '../filter.ts';
import { Participants } from '../diagram/participants.ts';
import { RingBuffer } from './ring-buffer.ts';
import { TaskCorrelation } from './task-correlation.ts';

/** Limits of a timeline. */
export interface TrafficTimelineOptions {
  /** @defaultValue 20,000 */
  readonly maxPassages?: number;
  /** Characters of text. @defaultValue 64 Mi */
  readonly maxCharacters?: number;
}

/** Retains the newest records and their filtered view, at constant cost per new record. */
export class TrafficTimeline {
  readonly #all: RingBuffer<TrafficRecord>;
  readonly #shown = new RingBuffer<TrafficRecord>();
  readonly #threads = new TaskCorrelation();
  readonly #parties = new Participants();
  #filter: TrafficFilter = {};
  #matches: (passage: TrafficRecord) => boolean = () => true;
  #forgotten = 0;
  #housekeeping = 0;

  constructor({ maxPassages = 20_000, maxCharacters = 64 * 1_024 * 1_024 }: TrafficTimelineOptions = {}) {
    this.#all = new RingBuffer({
      maxItems: maxPassages,
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
  get forgotten(): number {
    return this.#forgotten;
  }

  get threads(): Omit<TaskCorrelation, 'add' | 'remove'> {
    return this.#threads;
  }

  /** The participants of the filtered records. */
  get parties(): Pick<Participants, 'names' | 'columnOf'> {
    return this.#parties;
  }

  /** Sequence number of the newest record; 0 if there is none. */
  get last(): number {
    return this.#all.at(this.#all.length - 1)?.sequence ?? 0;
  }

  /** Adds new records. */
  add(passages: Iterable<TrafficRecord>): void {
    let isLate = false;
    for (const passage of passages) {
      this.#parties.add(passage);
      if (isBackgroundTraffic(passage)) this.#housekeeping++;
      const learned = this.#threads.add(passage);
      // The task of an exchange may become known after its first rows were filtered out.
      isLate ||= learned && passage.decoded?.taskId === this.#filter.task;
      for (const old of this.#all.push(passage)) this.#forget(old);
      if (this.#matches(passage)) this.#show(passage);
    }
    if (isLate) this.#look();
  }

  /** Sets the filter. */
  filter(filter: TrafficFilter): void {
    this.#filter = filter;
    this.#matches = createMatcher(filter, this.#threads);
    this.#look();
  }

  clear(): void {
    for (const passage of this.#all.slice()) {
      this.#threads.remove(passage);
      this.#parties.remove(passage);
    }
    this.#all.clear();
    this.#housekeeping = 0;
    this.#look();
  }

  /** All records of an exchange, or all records, oldest first. */
  passages(isWanted: (passage: TrafficRecord) => boolean = () => true): TrafficRecord[] {
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

  #show(passage: TrafficRecord): void {
    this.#shown.push(passage);
    this.#parties.show(passage);
  }

  #forget(passage: TrafficRecord): void {
    this.#threads.remove(passage);
    this.#parties.remove(passage);
    if (isBackgroundTraffic(passage)) this.#housekeeping--;
    if (this.#shown.at(0) !== passage) return;
    this.#shown.shift();
    this.#parties.hide(passage);
    this.#forgotten++;
  }

  #look(): void {
    this.#shown.clear();
    this.#parties.hideAll();
    this.#forgotten = 0;
    for (const passage of this.#all.slice()) if (this.#matches(passage)) this.#show(passage);
  }
}

/** Binary search: sequence numbers increase, with gaps. */
function placeOf(passages: Pick<RingBuffer<TrafficRecord>, 'at' | 'length'>, sequence: number): number {
  let low = 0;
  let high = passages.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = passages.at(middle)?.sequence ?? 0;
    if (found === sequence) return middle;
    if (found < sequence) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
