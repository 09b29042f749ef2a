/** Bounds of an exponential backoff, in milliseconds. */
export interface BackoffOptions {
  /** Upper bound of the first delay; it doubles with each attempt. */
  readonly minDelay: number;
  /** Upper bound of all delays. */
  readonly maxDelay: number;
  /** Random part of the delay: `full` covers 0 to the bound, `equal` half of the bound to the bound. */
  readonly jitter: 'full' | 'equal' | 'none';
}

/**
 * Returns the delay before the next attempt, in milliseconds.
 *
 * @param attempt - number of earlier delays, 0 for the first one.
 */
export function backoffDelay(
  attempt: number,
  { minDelay, maxDelay, jitter }: BackoffOptions,
  random: () => number = Math.random,
): number {
  const bound = Math.min(maxDelay, minDelay * 2 ** Math.min(attempt, 60));
  if (jitter === 'none') return bound;
  return jitter === 'full' ? random() * bound : bound * (0.5 + random() / 2);
}

/**
 * Parses a `Retry-After` header, which holds seconds or an HTTP date.
 *
 * @param now - current time, in milliseconds since 1970.
 * @returns milliseconds from now, at least 0; undefined if missing or malformed.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
