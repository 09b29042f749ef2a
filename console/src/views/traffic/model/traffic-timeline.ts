import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { type TrafficFilter, isBackgroundTraffic, createMatcher } from '../filter.ts';
import { Participants } from '../diagram/participants.ts';
import { RingBuffer } from './ring-buffer.ts';
import { TaskCorrelation } from './task-correlation.ts';

/** How much a timeline keeps. */
export interface TrafficTimelineOptions {
  /** @defaultValue 20,000 */
  readonly maxPassages?: number;
  /** Of text. @defaultValue 64 Mi */
  readonly maxCharacters?: number;
}

/** Keeps the newest passages, and of them those that are to be seen, at a constant cost for each new one. */
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

  /** How many passages are kept. */
  get length(): number {
    return this.#all.length;
  }

  /** How many of them are cards and the like. */
  get housekeeping(): number {
    return this.#housekeeping;
  }

  /** What is to be seen, oldest first. */
  get shown(): Pick<RingBuffer<TrafficRecord>, 'at' | 'slice' | 'length'> {
    return this.#shown;
  }

  /** How many rows went away at the top since the filter was last set; whoever scrolls takes them off. */
  get forgotten(): number {
    return this.#forgotten;
  }

  get threads(): Omit<TaskCorrelation, 'add' | 'remove'> {
    return this.#threads;
  }

  /** The parties of what is to be seen. */
  get parties(): Pick<Participants, 'names' | 'columnOf'> {
    return this.#parties;
  }

  /** The sequence number of the newest passage; 0 before the first. */
  get last(): number {
    return this.#all.at(this.#all.length - 1)?.sequence ?? 0;
  }

  /** Adds what was seen next. */
  add(passages: Iterable<TrafficRecord>): void {
    let isLate = false;
    for (const passage of passages) {
      this.#parties.add(passage);
      if (isBackgroundTraffic(passage)) this.#housekeeping++;
      const learned = this.#threads.add(passage);
      // What a trip is about comes to light after its first rows were passed over.
      isLate ||= learned && passage.decoded?.taskId === this.#filter.task;
      for (const old of this.#all.push(passage)) this.#forget(old);
      if (this.#matches(passage)) this.#show(passage);
    }
    if (isLate) this.#look();
  }

  /** Shows what a filter lets through. */
  filter(filter: TrafficFilter): void {
    this.#filter = filter;
    this.#matches = createMatcher(filter, this.#threads);
    this.#look();
  }

  /** Forgets everything. */
  clear(): void {
    for (const passage of this.#all.slice()) {
      this.#threads.remove(passage);
      this.#parties.remove(passage);
    }
    this.#all.clear();
    this.#housekeeping = 0;
    this.#look();
  }

  /** All passages of a trip, or of everything, oldest first. */
  passages(isWanted: (passage: TrafficRecord) => boolean = () => true): TrafficRecord[] {
    return this.#all.slice().filter(isWanted);
  }

  /** The passage of a sequence number, if it is kept. */
  find(sequence: number): TrafficRecord | undefined {
    const index = placeOf(this.#all, sequence);
    return index < 0 ? undefined : this.#all.at(index);
  }

  /** The row of a passage among those that are to be seen; -1 if it is not. */
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

/** Sequence numbers rise, but with gaps: halving finds one. */
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
