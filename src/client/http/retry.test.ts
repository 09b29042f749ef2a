import { describe, expect, it } from 'vitest';
import { HttpTransportError } from './http-client.ts';
import { retryDelay, fullJitterDelay, isSafeToRetry, parseRetryAfter } from './retry.ts';

const answer = (status: number, retryAfter?: string) => ({
  status,
  header: (name: string) => (name === 'retry-after' ? retryAfter : undefined),
});
const context = { attempt: 0, now: 0, random: () => 0.5 };
const refused = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });

describe('repeating a request', () => {
  it.each([
    ['getTask', 503, undefined, 100],
    ['getTask', 502, undefined, 100],
    ['getTask', 500, undefined, undefined],
    ['getTask', 404, undefined, undefined],
    ['getTask', 429, '2', 2000],
    ['getTask', 429, '31', undefined],
    ['send', 503, undefined, undefined],
    ['send', 503, '0', 0],
    ['send', 502, '1', undefined],
    ['cancelTask', 504, undefined, undefined],
    ['subscribe', 504, undefined, 100],
  ] as const)('after %s with HTTP %i and Retry-After %s waits %s', (operation, status, after, delay) => {
    expect(retryDelay(operation, answer(status, after), context)).toBe(delay);
  });

  it.each([
    ['getTask', refused, true, true],
    ['send', refused, false, true],
    ['send', refused, true, false],
    ['getTask', Object.assign(new Error('no'), { code: 'CERT_HAS_EXPIRED' }), false, false],
  ] as const)('%s after %s (sent: %s) is allowed: %s', (operation, cause, sent, allowed) => {
    expect(isSafeToRetry(operation, new HttpTransportError(cause, sent))).toBe(allowed);
  });

  it('waits longer each time, up to a bound', () => {
    const delays = [0, 1, 2, 10, 100].map((attempt) => fullJitterDelay(attempt, () => 1));
    expect(delays).toEqual([200, 400, 800, 10_000, 10_000]);
    expect(fullJitterDelay(3, () => 0)).toBe(0);
  });

  it('reads dates', () => {
    const now = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');
    expect(parseRetryAfter('Wed, 21 Oct 2026 07:28:05 GMT', now)).toBe(5000);
    expect(parseRetryAfter('Wed, 21 Oct 2026 07:27:00 GMT', now)).toBe(0);
    expect(parseRetryAfter('soon', now)).toBeUndefined();
  });

  it('finds the word for a failure in its causes', () => {
    expect(new HttpTransportError(new TypeError('fetch failed', { cause: refused }), true).code).toBe(
      'ECONNREFUSED',
    );
    expect(new HttpTransportError(new AggregateError([refused]), true).code).toBe('ECONNREFUSED');
    expect(new HttpTransportError('what', true).code).toBeUndefined();
  });
});
