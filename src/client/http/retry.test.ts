import { describe, expect, it } from 'vitest';
import { HttpTransportError } from './http-client.ts';
import { backoffDelay } from '../../primitives/backoff.ts';
import { isSafeToRetry, retryBackoff, retryDelay } from './retry.ts';

const response = (status: number, retryAfter?: string) => ({
  status,
  header: (name: string) => (name === 'retry-after' ? retryAfter : undefined),
});
const context = { attempt: 0, now: 0, random: () => 0.5 };
const refusedError = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });

describe('retries', () => {
  it.each([
    ['getTask', 503, undefined, 100],
    ['getTask', 502, undefined, 100],
    ['getTask', 408, undefined, 100],
    ['getTask', 500, undefined, undefined],
    ['getTask', 404, undefined, undefined],
    ['getTask', 429, '2', 2000],
    ['getTask', 429, '31', undefined],
    ['send', 503, undefined, undefined],
    ['send', 503, '0', 0],
    ['send', 502, '1', undefined],
    ['send', 408, undefined, undefined],
    ['cancelTask', 504, undefined, undefined],
    ['subscribe', 504, undefined, 100],
  ] as const)(
    'delays a retry of %s after HTTP %i with Retry-After %s by %s',
    (operation, status, after, delay) => {
      expect(retryDelay({ operation }, response(status, after), context)).toBe(delay);
    },
  );

  it.each([
    ['getTask', refusedError, true, true],
    ['send', refusedError, false, true],
    ['send', refusedError, true, false],
    ['getTask', Object.assign(new Error('no'), { code: 'CERT_HAS_EXPIRED' }), false, false],
  ] as const)('of %s after %s (sent: %s) are allowed: %s', (operation, cause, sent, allowed) => {
    expect(isSafeToRetry({ operation }, new HttpTransportError(cause, sent))).toBe(allowed);
  });

  it('delays retries by an exponential backoff with full jitter', () => {
    const delays = [0, 1, 2, 10, 100].map((attempt) => backoffDelay(attempt, retryBackoff, () => 1));
    expect(delays).toEqual([200, 400, 800, 10_000, 10_000]);
    expect(backoffDelay(3, retryBackoff, () => 0)).toBe(0);
  });

  it('finds the error code in the causes of an error', () => {
    expect(new HttpTransportError(new TypeError('fetch failed', { cause: refusedError }), true).code).toBe(
      'ECONNREFUSED',
    );
    expect(new HttpTransportError(new AggregateError([refusedError]), true).code).toBe('ECONNREFUSED');
    expect(new HttpTransportError('what', true).code).toBeUndefined();
  });
});
