import { describe, expect, it } from 'vitest';
import { deliveryDelay, parseRetryAfter } from './backoff.ts';

const pauses = { minDelay: 1_000, maxDelay: 60_000 };

describe('the pause before the next attempt', () => {
  it('may be twice as long after each failure, up to the longest', () => {
    const longest = [1, 2, 3, 4, 10, 5_000].map((failures) => deliveryDelay(failures, pauses, () => 1));
    expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 60_000, 60_000]);
  });

  it('is anywhere below that', () => {
    expect(deliveryDelay(3, pauses, () => 0)).toBe(0);
    expect(deliveryDelay(3, pauses, () => 0.25)).toBe(1_000);
  });

  it('is not shorter than the webhook asks for, within reason', () => {
    expect(deliveryDelay(1, pauses, () => 0, 5_000)).toBe(5_000);
    expect(deliveryDelay(1, pauses, () => 0.5, 5_000)).toBe(5_500);
    expect(deliveryDelay(1, pauses, () => 0, 1e12)).toBe(60_000);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-06-01T10:00:00Z');
  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Mon, 01 Jun 2026 10:00:30 GMT', 30_000],
    ['Mon, 01 Jun 2026 09:00:00 GMT', 0],
    ['soon', undefined],
    ['-5x', undefined],
    [undefined, undefined],
  ])('%j is %j', (text, expected) => {
    expect(parseRetryAfter(text, now)).toBe(expected);
  });
});
