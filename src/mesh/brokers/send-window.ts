import { A2AError } from '../../protocol/errors.ts';
import type { Clock } from '../../primitives/clock.ts';
import { Fifo } from './fifo.ts';

/** Milliseconds until messages are sent again that the broker could not store. */
const retryDelay = 100;

/** A message that the broker has not stored yet. */
interface PendingMessage<T> {
  readonly message: T;
  settle(error?: A2AError): void;
}

/**
 * Messages sent to a broker and not acknowledged yet. The window limits their number (backpressure); after an
 * interruption, unacknowledged messages are sent again in order.
 */
export class SendWindow<T> {
  readonly #clock: Clock;
  readonly #send: (message: T, number: number) => void;
  readonly #pending = new Map<number, PendingMessage<T>>();
  readonly #waiting = new Fifo<number>();
  readonly #unacknowledged = new Set<number>();
  readonly #timers = new Set<() => void>();
  #numbers = 0;
  #limit = 1;
  #isUp = false;
  #isPaused = false;
  #onEmpty: (() => void) | undefined;

  constructor(clock: Clock, send: (message: T, number: number) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Number of messages that the broker has not stored yet. */
  get size(): number {
    return this.#pending.size;
  }

  /** Sends a message when the window has room. Resolves when it is settled. */
  push(message: T): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: A2AError): void => (error ? reject(error) : resolve());
      this.#pending.set(++this.#numbers, { message, settle });
      this.#waiting.push(this.#numbers);
      this.#flush();
    });
  }

  /** Removes a message that the broker has acknowledged or rejected. */
  settle(number: number, error?: A2AError): void {
    this.#unacknowledged.delete(number);
    this.#pending.get(number)?.settle(error);
    this.#pending.delete(number);
    if (this.#pending.size === 0) this.#onEmpty?.();
    this.#flush();
  }

  /** Opens the window after a connection was established. */
  open(limit: number): void {
    this.#limit = limit;
    this.#isUp = true;
    this.#flush();
  }

  /** Closes the window after an interruption. */
  pause(): void {
    this.#isUp = false;
    this.#requeue();
  }

  /** Sends all unacknowledged messages again later. Following ones wait too, which preserves the order. */
  retryLater(): void {
    if (this.#isPaused || !this.#isUp) return;
    this.#isPaused = true;
    this.#requeue();
    this.#after(() => {
      this.#isPaused = false;
      this.#flush();
    });
  }

  /** Sends one message again later. Following ones do not wait for it. */
  retryOneLater(number: number): void {
    this.#unacknowledged.delete(number);
    this.#flush();
    this.#after(() => {
      this.#waiting.push(number);
      this.#flush();
    });
  }

  /** Waits until all messages are settled, at most `timeout` milliseconds, and rejects the rest. */
  async close(timeout: number): Promise<void> {
    if (this.#pending.size > 0) {
      await new Promise<void>((resolve) => {
        const stopTimer = this.#clock.after(timeout, resolve);
        this.#onEmpty = () => {
          stopTimer();
          resolve();
        };
      });
    }
    this.#isUp = false;
    for (const stopTimer of this.#timers) stopTimer();
    const text = 'The connection was closed before the broker stored the message';
    for (const pending of this.#pending.values()) pending.settle(new A2AError('UNAVAILABLE', text));
    this.#pending.clear();
  }

  #after(run: () => void): void {
    const stopTimer = this.#clock.after(retryDelay, () => {
      this.#timers.delete(stopTimer);
      run();
    });
    this.#timers.add(stopTimer);
  }

  #requeue(): void {
    this.#waiting.unshift([...this.#unacknowledged]);
    this.#unacknowledged.clear();
  }

  #flush(): void {
    while (this.#isUp && !this.#isPaused && this.#unacknowledged.size < this.#limit) {
      const number = this.#waiting.shift();
      if (number === undefined) return;
      const pending = this.#pending.get(number);
      // The acknowledgement of an earlier transmission may have arrived meanwhile.
      if (!pending) continue;
      this.#unacknowledged.add(number);
      this.#send(pending.message, number);
    }
  }
}
