import type { RateLimit } from './limits.ts';

/** A bucket of requests that fills by itself. */
export class TokenBucket {
  readonly #perMillisecond: number;
  readonly #size: number;
  #left: number;
  #at: number;

  /**
   * @param now - milliseconds, from whenever.
   */
  constructor({ perSecond, burst = perSecond }: RateLimit, now: number) {
    this.#perMillisecond = perSecond / 1_000;
    this.#size = Math.max(1, burst);
    this.#left = this.#size;
    this.#at = now;
  }

  /** Takes a request out. @returns 0, or after how many seconds there will be one. */
  take(now: number): number {
    this.#left = Math.min(this.#size, this.#left + (now - this.#at) * this.#perMillisecond);
    this.#at = now;
    if (this.#left >= 1) {
      this.#left--;
      return 0;
    }
    return (1 - this.#left) / this.#perMillisecond / 1_000;
  }
}
