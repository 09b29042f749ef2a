import type { Clock } from '../primitives/clock.ts';

/** Returns a function that formats the current time. Timestamps never decrease, and each millisecond is formatted once. */
export function monotonicTimestamps(clock: Pick<Clock, 'now'>): () => string {
  let last = Number.NEGATIVE_INFINITY;
  let text = '';
  return () => {
    const now = clock.now();
    if (now > last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}
