import { sleep } from '../../client/abortable-sleep.ts';
import { A2AError } from '../../protocol/errors.ts';
import { waitForIdle } from './wait-for-idle.ts';
import type { TestClock } from './test-clock.ts';
import { TimerList } from './timer-list.ts';

/** How a virtual clock goes. */
export interface VirtualClockOptions {
  /** The moment at which it begins, in milliseconds since 1970. @defaultValue now */
  readonly start?: number;
  /**
   * Goes on to the next timer by itself whenever nothing else is going on in this thread. What another thread or
   * process does meanwhile is not seen: give a client of another process a clock of its own.
   * @defaultValue false: it stands still until it is told to go on
   */
  readonly auto?: boolean;
  /** How many turns of the event loop have to be quiet before time goes on. @defaultValue 32 */
  readonly turns?: number;
  /** How many moments one `advance` may stop at. @defaultValue 100,000 */
  readonly maxStops?: number;
}

/**
 * Time that passes when it is told to, or as fast as everything happens.
 *
 * What is due happens in the order of its time, and all that follows from it happens before the next: ten minutes with
 * twenty things in them take as long as the twenty things. As with the timers of Node a delay is a millisecond at least,
 * so that whatever sets itself again for ever lets time pass.
 */
export class VirtualClock implements TestClock {
  readonly #timers = new TimerList();
  readonly #turns: number;
  readonly #maxStops: number;
  #now: number;
  #isAuto: boolean;
  #isRunning = false;
  /** One at a time goes on, in the order in which they asked. */
  #lastAdvance: Promise<void> = Promise.resolve();
  /** Where time will be once everybody had their way. */
  #target: number;

  constructor({
    start = Date.now(),
    auto = false,
    turns = 32,
    maxStops = 100_000,
  }: VirtualClockOptions = {}) {
    this.#now = start;
    this.#target = start;
    this.#isAuto = auto;
    this.#turns = turns;
    this.#maxStops = maxStops;
  }

  now(): number {
    return this.#now;
  }

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** The moment of the next timer, if there is one. */
  get next(): number | undefined {
    return this.#timers.next;
  }

  /** True while time goes on by itself. */
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
    const arm = (): void => {
      cancel = this.#timers.add({
        at: this.#now + delay,
        isBackground: true,
        run: () => {
          arm();
          tick();
        },
      });
    };
    arm();
    return () => cancel();
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return sleep(this, milliseconds, signal);
  }

  /** Lets time pass. @returns when all that was due has happened, with what followed from it. */
  advance(milliseconds: number): Promise<void> {
    return this.advanceTo(Math.max(this.#target, this.#now) + Math.max(0, milliseconds));
  }

  /** Lets time pass up to a moment; one that is past already changes nothing. */
  advanceTo(moment: number): Promise<void> {
    this.#target = Math.max(this.#target, moment);
    const moved = this.#lastAdvance.then(() => this.#advanceNow(moment));
    this.#lastAdvance = moved.catch(() => {
      // Who asks next starts from where this one came to.
      this.#target = this.#now;
    });
    return moved;
  }

  /** Forgets every timer. */
  clear(): void {
    this.#timers.clear();
  }

  async #advanceNow(moment: number): Promise<void> {
    // What was asked for just now may be about to set a timer.
    await waitForIdle(this.#turns);
    for (let stops = 0; (this.#timers.next ?? Number.POSITIVE_INFINITY) <= moment; stops++) {
      if (stops === this.#maxStops)
        throw new A2AError('INTERNAL_ERROR', `Time stopped ${stops} times on its way`, {
          hint: 'A timer sets itself again and again. Let less time pass at once, or raise `maxStops`.',
        });
      this.#runNextTimers();
      await waitForIdle(this.#turns);
    }
    this.#now = Math.max(this.#now, moment);
  }

  /** Goes to the next moment at which something is due and lets it happen. */
  #runNextTimers(): void {
    this.#now = Math.max(this.#now, this.#timers.next ?? this.#now);
    // New ones are at least a millisecond away, so this ends.
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
      // A timer that threw is an uncaught error, as it is with the clock of the machine; the others still ring.
      this.#startAuto();
    }
  }
}

function atLeastOne(milliseconds: number): number {
  return milliseconds >= 1 ? milliseconds : 1;
}
