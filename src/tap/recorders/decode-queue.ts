import type { TrafficLog } from '../traffic-log.ts';

/** How much may wait, in characters; beyond that only heads are kept. */
const maxWaiting = 64 * 1_024 * 1_024;

/** How many sightings may wait; beyond that none is kept. */
const maxSightings = 50_000;

/** For how many milliseconds sightings are worked off before traffic has its turn again. */
const turn = 4;

interface QueuedWork {
  readonly size: number;
  readonly work: () => void;
}

/** Outside of Node a turn is as long as a timer takes. */
const afterTraffic: (callback: () => void) => unknown =
  typeof setImmediate === 'function' ? setImmediate : (callback) => setTimeout(callback, 0);

const backlogs = new WeakMap<TrafficLog, DecodeQueue>();

/**
 * What was seen and not yet looked at: to read and to clean it costs more than to see it, and traffic comes first. All
 * who record on one tape share one, so that everything is kept in the order in which it was seen.
 */
export class DecodeQueue {
  #waiting: QueuedWork[] = [];
  /** The first one that was not worked off. */
  #next = 0;
  #size = 0;
  #isCalled = false;

  /** The backlog of a tape. */
  static of(tape: TrafficLog): DecodeQueue {
    let backlog = backlogs.get(tape);
    if (!backlog) backlogs.set(tape, (backlog = new DecodeQueue()));
    return backlog;
  }

  /** True when there is no room for more than heads. */
  get isFull(): boolean {
    return this.#size > maxWaiting;
  }

  /** Has something looked at later. @param size - about how many characters it holds. */
  add(size: number, work: () => void): void {
    if (this.#waiting.length - this.#next >= maxSightings) return;
    this.#waiting.push({ size, work });
    this.#size += size;
    if (this.#isCalled) return;
    this.#isCalled = true;
    afterTraffic(() => this.#go());
  }

  /** Looks at everything that waits, now. */
  drain(): void {
    this.#work(Number.POSITIVE_INFINITY);
  }

  #go(): void {
    this.#isCalled = false;
    this.#work(performance.now() + turn);
    if (this.#next === this.#waiting.length) return;
    this.#isCalled = true;
    afterTraffic(() => this.#go());
  }

  #work(until: number): void {
    while (this.#next < this.#waiting.length) {
      const { size, work } = this.#waiting[this.#next++] as QueuedWork;
      this.#size -= size;
      try {
        work();
      } catch {
        // What cannot be recorded is no reason for the traffic to stop.
      }
      if (performance.now() >= until) break;
    }
    if (this.#next < this.#waiting.length && this.#next < 1_024) return;
    this.#waiting = this.#waiting.slice(this.#next);
    this.#next = 0;
  }
}
