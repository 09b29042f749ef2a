import { describe, expect, it } from 'vitest';
import { backoffDelay, parseRetryAfter } from './backoff.ts';

describe('backoffDelay', () => {
  it.each([
    ['none', 0.25, [100, 200, 400, 500]],
    ['full', 0.25, [25, 50, 100, 125]],
    ['equal', 0.5, [75, 150, 300, 375]],
  ] as const)('doubles up to maxDelay with jitter %s', (jitter, random, delays) => {
    const options = { minDelay: 100, maxDelay: 500, jitter };
    expect([0, 1, 2, 5_000].map((attempt) => backoffDelay(attempt, options, () => random))).toEqual(delays);
  });

  it('returns 0 when minDelay is 0, after any number of attempts', () => {
    expect(backoffDelay(5_000, { minDelay: 0, maxDelay: 10, jitter: 'full' })).toBe(0);
  });
});

describe('parseRetryAfter', () => {
  const now = Date.UTC(2026, 0, 1);

  it.each([
    ['3', 3_000],
    [' 3 ', 3_000],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['soon', undefined],
    ['-3s', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('returns the milliseconds of %j', (value, milliseconds) => {
    expect(parseRetryAfter(value, now)).toBe(milliseconds);
  });
});
