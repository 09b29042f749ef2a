import { describe, expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import { clientAddressKey } from './client-address.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import { ClientLimiter } from './client-limiter.ts';
import { TokenBucket } from './token-bucket.ts';

function requestFrom(remoteAddress: string | undefined, id?: string): HttpServerRequest {
  return {
    method: 'POST',
    path: '/',
    query: '',
    headers: {},
    body: '',
    isSecure: false,
    remoteAddress,
    authentication: id === undefined ? undefined : { principal: { id }, schemes: [] },
    onDisconnect: () => {},
  };
}

function limitErrorOf(work: () => unknown): A2AError {
  try {
    work();
  } catch (error) {
    if (error instanceof A2AError) return error;
  }
  throw new Error('expected a limit error');
}

describe('TokenBucket', () => {
  it('allows a burst, then the configured rate', () => {
    const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, 0);
    expect([0, 0, 0].map((now) => bucket.take(now))).toEqual([0, 0, 0]);
    expect(bucket.take(0)).toBeCloseTo(0.5);
    expect(bucket.take(250)).toBeCloseTo(0.25);
    expect(bucket.take(500)).toBe(0);
    expect(bucket.take(500)).toBeGreaterThan(0);
  });

  it('never holds more tokens than burst', () => {
    const bucket = new TokenBucket({ perSecond: 100, burst: 1 }, 0);
    expect(bucket.take(1_000_000)).toBe(0);
    expect(bucket.take(1_000_000)).toBeGreaterThan(0);
  });

  it('holds at least one token at rates below 1', () => {
    const bucket = new TokenBucket({ perSecond: 0.1 }, 0);
    expect(bucket.take(0)).toBe(0);
    expect(bucket.take(0)).toBeCloseTo(10);
  });
});

describe('ClientLimiter', () => {
  it('rejects a client above the rate limit with Retry-After and accepts others', () => {
    let now = 0;
    const limiter = new ClientLimiter({ limits: { rate: { perSecond: 0.5, burst: 1 } } }, () => now);
    expect(limiter.takeRate(requestFrom('10.0.0.1'))).toBeUndefined();
    const error = limiter.takeRate(requestFrom('10.0.0.1'));
    expect(error?.reason).toBe('RESOURCE_EXHAUSTED');
    expect(error?.details).toEqual({ limit: 'rate', retryAfter: '2' });
    expect(limiter.takeRate(requestFrom('10.0.0.2'))).toBeUndefined();
    now = 2_000;
    expect(limiter.takeRate(requestFrom('10.0.0.1'))).toBeUndefined();
  });

  it('caps Retry-After at one day', () => {
    const limiter = new ClientLimiter({ limits: { rate: { perSecond: 0, burst: 1 } } }, () => 0);
    limiter.takeRate(requestFrom('10.0.0.1'));
    expect(limiter.takeRate(requestFrom('10.0.0.1'))?.details.retryAfter).toBe('86400');
  });

  it('rejects an address above its rate before authentication', () => {
    let now = 0;
    const limiter = new ClientLimiter({ limits: { addressRate: { perSecond: 0.5, burst: 1 } } }, () => now);
    expect(limiter.admit(requestFrom('10.0.0.1'))).toBeUndefined();
    expect(limiter.admit(requestFrom('10.0.0.1'))?.details).toEqual({
      limit: 'addressRate',
      retryAfter: '2',
    });
    expect(limiter.admit(requestFrom('10.0.0.2'))).toBeUndefined();
    now = 2_000;
    expect(limiter.admit(requestFrom('10.0.0.1'))).toBeUndefined();
  });

  it('rejects an address with too many invalid credentials until its bucket has a token', () => {
    let now = 0;
    const limiter = new ClientLimiter({ limits: { failedAuthRate: { perSecond: 1, burst: 2 } } }, () => now);
    const wrong = (): unknown => {
      const refusal = limiter.admit(requestFrom('10.0.0.1'));
      if (!refusal) limiter.countInvalidCredentials(requestFrom('10.0.0.1'));
      return refusal?.details.limit;
    };
    expect([wrong(), wrong(), wrong(), wrong()]).toEqual([
      undefined,
      undefined,
      'failedAuthRate',
      'failedAuthRate',
    ]);
    expect(limiter.admit(requestFrom('10.0.0.2'))).toBeUndefined();
    now = 1_000;
    expect([wrong(), wrong()]).toEqual([undefined, 'failedAuthRate']);
  });

  it('identifies clients by principal before address', () => {
    const limiter = new ClientLimiter({ limits: { requestsPerClient: 1 } });
    limiter.acquireRequest(requestFrom('10.0.0.1', 'alice'));
    expect(limiter.acquireRequest(requestFrom('10.0.0.1', 'bob'))).toBeDefined();
    expect(limitErrorOf(() => limiter.acquireRequest(requestFrom('10.0.0.9', 'alice'))).details.limit).toBe(
      'requestsPerClient',
    );
    expect(limiter.acquireRequest(requestFrom('alice'))).toBeDefined();
  });

  it('uses clientKey to identify clients', () => {
    const limiter = new ClientLimiter({
      limits: { requestsPerClient: 1, clientKey: ({ headers }) => String(headers.requestFrom) },
    });
    const exchange = { ...requestFrom('10.0.0.1'), headers: { requestFrom: 'a' } };
    limiter.acquireRequest(exchange);
    expect(limiter.acquireRequest({ ...exchange, headers: { requestFrom: 'b' } })).toBeDefined();
    expect(limitErrorOf(() => limiter.acquireRequest(exchange)).reason).toBe('RESOURCE_EXHAUSTED');
  });

  it('tracks no clients without limits', () => {
    const limiter = new ClientLimiter({ limits: { requestsPerClient: Infinity } });
    expect(limiter.acquireRequest(requestFrom('10.0.0.1'))).toBeUndefined();
    expect(limiter.trackedClients).toBe(0);
  });

  it('evicts idle clients', () => {
    const limiter = new ClientLimiter({});
    const request = limiter.acquireRequest(requestFrom('10.0.0.1'));
    const stream = limiter.acquireStream(requestFrom('10.0.0.2'));
    expect(limiter.trackedClients).toBe(2);
    if (request) limiter.releaseRequest(request);
    limiter.releaseStream(stream);
    expect(limiter.trackedClients).toBe(0);
  });

  it('bounds the number of tracked clients and keeps active ones', () => {
    const limiter = new ClientLimiter({ limits: { rate: { perSecond: 1 }, streamsPerClient: 1 } }, () => 0);
    limiter.acquireStream(requestFrom('holder'));
    for (let each = 0; each < 10_500; each++) {
      const usage = limiter.acquireRequest(requestFrom(`10.0.${each >> 8}.${each & 255}`));
      if (usage) limiter.releaseRequest(usage);
    }
    expect(limiter.trackedClients).toBe(10_000);
    expect(limitErrorOf(() => limiter.acquireStream(requestFrom('holder'))).reason).toBe(
      'RESOURCE_EXHAUSTED',
    );
  });

  it('limits the streams of all clients together', () => {
    const limiter = new ClientLimiter({ maxStreams: 2 });
    const first = limiter.acquireStream(requestFrom('10.0.0.1'));
    limiter.acquireStream(requestFrom('10.0.0.2'));
    expect(limitErrorOf(() => limiter.acquireStream(requestFrom('10.0.0.3'))).details.limit).toBe(
      'maxStreams',
    );
    limiter.releaseStream(first);
    expect(limiter.acquireStream(requestFrom('10.0.0.3'))).toBeDefined();
  });
});

describe('clientAddressKey', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('maps %s to %s', (address, key) => {
    expect(clientAddressKey(address)).toBe(key);
  });
});
