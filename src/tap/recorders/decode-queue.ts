import { atEndOfTurn } from '../../primitives/clock.ts';
import type { TrafficLog } from '../traffic-log.ts';

/** Maximum number of queued characters; beyond it, records are queued without their bodies. */
const maxQueuedCharacters = 64 * 1_024 * 1_024;

/** Maximum queue length; further work is dropped. */
const maxQueuedWork = 50_000;

/** Milliseconds of decoding per event-loop turn. */
const timeSlice = 4;

interface QueuedWork {
  readonly size: number;
  readonly work: () => void;
}

const queues = new WeakMap<TrafficLog, DecodeQueue>();

/**
 * Queue of recorded traffic that is not decoded yet. Decoding and redaction are deferred so that they do not delay the
 * traffic. All recorders of one traffic log share a queue, which preserves the order.
 */
export class DecodeQueue {
  #queue: QueuedWork[] = [];
  /** Index of the first entry that has not run. */
  #next = 0;
  #size = 0;
  #isScheduled = false;

  static of(log: TrafficLog): DecodeQueue {
    let queue = queues.get(log);
    if (!queue) queues.set(log, (queue = new DecodeQueue()));
    return queue;
  }

  /** True if only records without bodies are accepted. */
  get isFull(): boolean {
    return this.#size > maxQueuedCharacters;
  }

  /** Queues work. @param size - approximate number of characters that it retains. */
  add(size: number, work: () => void): void {
    if (this.#queue.length - this.#next >= maxQueuedWork) return;
    this.#queue.push({ size, work });
    this.#size += size;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    atEndOfTurn(() => this.#runSlice());
  }

  /** Runs all queued work synchronously. */
  drain(): void {
    this.#run(Number.POSITIVE_INFINITY);
  }

  #runSlice(): void {
    this.#isScheduled = false;
    this.#run(performance.now() + timeSlice);
    if (this.#next === this.#queue.length) return;
    this.#isScheduled = true;
    atEndOfTurn(() => this.#runSlice());
  }

  #run(until: number): void {
    while (this.#next < this.#queue.length) {
      const { size, work } = this.#queue[this.#next++] as QueuedWork;
      this.#size -= size;
      try {
        work();
      } catch {
        // A recording error must not affect the traffic.
      }
      if (performance.now() >= until) break;
    }
    if (this.#next < this.#queue.length && this.#next < 1_024) return;
    this.#queue = this.#queue.slice(this.#next);
    this.#next = 0;
  }
}
