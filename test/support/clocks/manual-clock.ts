import type { Clock } from '../../../src/primitives/clock.ts';

interface Timer {
  at: number;
  run: () => void;
}

/** A clock that stands still until `advance()` is called. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  /** Difference of the wall clock. */
  #offset = 0;
  #timers = new Set<Timer>();
  #waiting: { matches: (milliseconds: number) => boolean; resolve: () => void }[] = [];
  /** The delays of all timers so far, in milliseconds. */
  readonly delays: number[] = [];

  now(): number {
    return this.#now + this.#offset;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Sets the wall clock forward or back; timers and the monotonic time do not change. */
  step(milliseconds: number): void {
    this.#offset += milliseconds;
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.#now + milliseconds, run };
    this.#timers.add(timer);
    this.delays.push(milliseconds);
    this.#waiting = this.#waiting.filter(({ matches, resolve }) => {
      if (!matches(milliseconds)) return true;
      resolve();
      return false;
    });
    return () => this.#timers.delete(timer);
  }

  every(milliseconds: number, tick: () => void): () => void {
    let timer: Timer;
    const schedule = (): void => {
      timer = { at: this.#now + milliseconds, run: () => (schedule(), tick()) };
      this.#timers.add(timer);
    };
    schedule();
    return () => this.#timers.delete(timer);
  }

  /** Waits until a timer with a matching delay is set. */
  waitForDelay(matches: (milliseconds: number) => boolean): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ matches, resolve }));
  }

  /** Advances the time and runs due timers in order. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
    const due = [...this.#timers].filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);
    for (const timer of due) if (this.#timers.delete(timer)) timer.run();
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.#timers.size;
  }
}
