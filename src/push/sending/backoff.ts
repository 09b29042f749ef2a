/** How long the pauses between attempts are, in milliseconds. */
export interface DeliveryBackoff {
  /** The longest after the first failure; it doubles with each further one. */
  minDelay: number;
  /** The longest of all. */
  maxDelay: number;
}

/**
 * The pause before the next attempt: anywhere between nothing and a bound that grows, so that those who failed
 * together do not come back together.
 *
 * @param failures - how many there were in a row, at least 1.
 * @param retryAfter - what the webhook asked for, which counts up to the longest pause.
 */
export function deliveryDelay(
  failures: number,
  { minDelay, maxDelay }: DeliveryBackoff,
  random: () => number,
  retryAfter = 0,
): number {
  const bound = Math.min(maxDelay, minDelay * 2 ** Math.min(failures - 1, 60));
  return Math.min(maxDelay, retryAfter + random() * bound);
}

/** Reads the header `Retry-After`, seconds or a date, as milliseconds from now. */
export function parseRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(text)) return Number(text) * 1_000;
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}
