import { describe, expect, it } from 'vitest';
import { webhookRetryDelay } from './retry-delay.ts';

const backoff = { minDelay: 1_000, maxDelay: 60_000 };

describe('webhookRetryDelay', () => {
  it('doubles the upper bound after each failure up to maxDelay', () => {
    const delays = [1, 2, 3, 4, 10, 5_000].map((failures) => webhookRetryDelay(failures, backoff, () => 1));
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 60_000, 60_000]);
  });

  it('applies full jitter', () => {
    expect(webhookRetryDelay(3, backoff, () => 0)).toBe(0);
    expect(webhookRetryDelay(3, backoff, () => 0.25)).toBe(1_000);
  });

  it('adds Retry-After up to maxDelay', () => {
    expect(webhookRetryDelay(1, backoff, () => 0, 5_000)).toBe(5_000);
    expect(webhookRetryDelay(1, backoff, () => 0.5, 5_000)).toBe(5_500);
    expect(webhookRetryDelay(1, backoff, () => 0, 1e12)).toBe(60_000);
  });
});
