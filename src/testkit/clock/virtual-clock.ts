import { A2AError } from '../../protocol/errors.ts';
import { waitForIdle } from './wait-for-idle.ts';
import { sleepOn, type TestClock } from './test-clock.ts';
import { TimerList } from './timer-list.ts';

/** Options of {@link VirtualClock}. */
export interface VirtualClockOptions {
  /** Initial time in milliseconds since 1970. @defaultValue now */
  readonly start?: number;
  /**
   * Advances to the next timer automatically when this thread is idle. Work of other threads and processes is not
   * detected: a client in another process needs its own clock.
   * @defaultValue false: time advances only with `advance()`
   */
  readonly auto?: boolean;
  /** Idle event-loop turns before time advances. @defaultValue 32 */
  readonly turns?: number;
  /** Maximum number of due times in one `advance()`. @defaultValue 100,000 */
  readonly maxStops?: number;
}

/**
 * Virtual clock: time advances on demand, or automatically when the process is idle.
 *
 * Timers run in the order of their due times. Everything that a timer triggers finishes before the next timer runs, so
 * ten minutes with twenty timers take only the time of their work. As in Node.js, a delay is at least one millisecond,
 * so that a timer that reschedules itself advances the time.
 */
export class VirtualClock implements TestClock {
  readonly #timers = new TimerList();
  readonly #turns: number;
  readonly #maxStops: number;
  #now: number;
  #isAuto: boolean;
  #isRunning = false;
  /** Calls of `advance()` run one after the other. */
  #lastAdvance: Promise<void> = Promise.resolve();
  /** Time after all pending calls of `advance()`. */
  #target: number;

  constructor(options: VirtualClockOptions = {}) {
    const { start = Date.now(), auto = false, turns = 32, maxStops = 100_000 } = options;
    this.#now = start;
    this.#target = start;
    this.#isAuto = auto;
    this.#turns = turns;
    this.#maxStops = maxStops;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Due time of the next timer. */
  get next(): number | undefined {
    return this.#timers.next;
  }

  /** Whether time advances automatically. */
  get isAuto(): boolean {
    return this.#isAuto;
  }

  set isAuto(isAuto: boolean) {
    this.#isAuto = isAuto;
    this.#startAuto();
  }

  after(milliseconds: number, run: () => void): () => void {
    if (milliseconds === Number.POSITIVE_INFINITY) return () => {};
    const cancel = this.#timers.add({ at: this.#now + atLeastOne(milliseconds), run, isBackground: false });
    this.#startAuto();
    return cancel;
  }

  every(milliseconds: number, tick: () => void): () => void {
    const delay = atLeastOne(milliseconds);
    let cancel = (): void => {};
    const schedule = (): void => {
      cancel = this.#timers.add({
        at: this.#now + delay,
        isBackground: true,
        run: () => {
          schedule();
          tick();
        },
      });
    };
    schedule();
    return () => cancel();
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, milliseconds, signal);
  }

  /** Advances the time. Resolves when all due timers and their effects have finished. */
  advance(milliseconds: number): Promise<void> {
    return this.advanceTo(Math.max(this.#target, this.#now) + Math.max(0, milliseconds));
  }

  /** Advances the time to a point in milliseconds since 1970; past times have no effect. */
  advanceTo(time: number): Promise<void> {
    this.#target = Math.max(this.#target, time);
    const advanced = this.#lastAdvance.then(() => this.#advanceNow(time));
    this.#lastAdvance = advanced.catch(() => {
      // The next call starts from the time that this one reached.
      this.#target = this.#now;
    });
    return advanced;
  }

  /** Cancels all timers. */
  clear(): void {
    this.#timers.clear();
  }

  async #advanceNow(time: number): Promise<void> {
    // Pending work may be about to set a timer.
    await waitForIdle(this.#turns);
    for (let stops = 0; (this.#timers.next ?? Number.POSITIVE_INFINITY) <= time; stops++) {
      if (stops === this.#maxStops)
        throw new A2AError('INTERNAL_ERROR', `The clock reached ${stops} due times in one call`, {
          hint: 'A timer reschedules itself without advancing time. Advance in smaller steps or raise `maxStops`.',
        });
      this.#runNextTimers();
      await waitForIdle(this.#turns);
    }
    this.#now = Math.max(this.#now, time);
  }

  /** Advances to the next due time and runs its timers. */
  #runNextTimers(): void {
    this.#now = Math.max(this.#now, this.#timers.next ?? this.#now);
    // New timers are due at least one millisecond later, so this loop ends.
    for (let due = this.#timers.takeDue(this.#now); due; due = this.#timers.takeDue(this.#now)) due.run();
  }

  #startAuto(): void {
    if (!this.#isAuto || this.#isRunning || !this.#timers.hasForeground) return;
    this.#isRunning = true;
    void this.#runAuto();
  }

  async #runAuto(): Promise<void> {
    try {
      for (;;) {
        await waitForIdle(this.#turns);
        if (!this.#isAuto || !this.#timers.hasForeground) return;
        await this.#lastAdvance;
        this.#runNextTimers();
      }
    } finally {
      this.#isRunning = false;
      // An exception in a timer is uncaught, as with system timers; the other timers still run.
      this.#startAuto();
    }
  }
}

function atLeastOne(milliseconds: number): number {
  return milliseconds >= 1 ? milliseconds : 1;
}
