import { backoffDelay } from '../../primitives/backoff.ts';

/** Bounds of the webhook retry backoff, in milliseconds. */
export interface RetryBackoff {
  minDelay: number;
  maxDelay: number;
}

/**
 * Returns the delay before the next attempt: exponential backoff with full jitter, at least `retryAfter`.
 *
 * @param failures - number of consecutive failures, at least 1.
 * @param retryAfter - `Retry-After` of the webhook in milliseconds; limited to `maxDelay`.
 */
export function webhookRetryDelay(
  failures: number,
  { minDelay, maxDelay }: RetryBackoff,
  random: () => number,
  retryAfter = 0,
): number {
  const delay = backoffDelay(failures - 1, { minDelay, maxDelay, jitter: 'full' }, random);
  return Math.min(maxDelay, retryAfter + delay);
}
