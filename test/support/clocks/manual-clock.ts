import type { Clock } from '../../../src/primitives/clock.ts';

interface Timer {
  at: number;
  run: () => void;
}

/** A clock that stands still until it is told to go on. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  #timers = new Set<Timer>();
  #waiting: { wants: (milliseconds: number) => boolean; found: () => void }[] = [];
  /** Every delay that was asked for. */
  readonly delays: number[] = [];

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.#now + milliseconds, run };
    this.#timers.add(timer);
    this.delays.push(milliseconds);
    this.#waiting = this.#waiting.filter(({ wants, found }) => {
      if (!wants(milliseconds)) return true;
      found();
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

  /** Resolves when a matching delay is requested. */
  asked(wants: (milliseconds: number) => boolean): Promise<void> {
    return new Promise((found) => this.#waiting.push({ wants, found }));
  }

  /** Lets time pass; what is due happens in order. */
  advance(milliseconds: number): void {
    this.#now += milliseconds;
    const due = [...this.#timers].filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at);
    for (const timer of due) if (this.#timers.delete(timer)) timer.run();
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }
}
