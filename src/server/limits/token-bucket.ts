import type { RateLimit } from './limits.ts';

/** Token bucket of a rate limit. */
export class TokenBucket {
  readonly #perMillisecond: number;
  readonly #size: number;
  #tokens: number;
  #updatedAt: number;

  /** @param now - monotonic time in milliseconds. */
  constructor({ perSecond, burst = perSecond }: RateLimit, now: number) {
    this.#perMillisecond = perSecond / 1_000;
    this.#size = Math.max(1, burst);
    this.#tokens = this.#size;
    this.#updatedAt = now;
  }

  /** Takes a token. @returns 0, or the seconds until the next token. */
  take(now: number): number {
    const wait = this.wait(now);
    if (wait === 0) this.#tokens--;
    return wait;
  }

  /** Returns the seconds until a token is available, without taking it. */
  wait(now: number): number {
    this.#tokens = Math.min(this.#size, this.#tokens + (now - this.#updatedAt) * this.#perMillisecond);
    this.#updatedAt = now;
    return this.#tokens >= 1 ? 0 : (1 - this.#tokens) / this.#perMillisecond / 1_000;
  }
}
