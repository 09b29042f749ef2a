import { describe, expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import { clientAddressKey, isLoopbackAddress } from './client-address.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import { ClientLimiter } from './client-limiter.ts';
import { TokenBucket } from './token-bucket.ts';

function from(remoteAddress: string | undefined, id?: string): HttpServerRequest {
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

function refusalOf(work: () => unknown): A2AError {
  try {
    work();
  } catch (error) {
    if (error instanceof A2AError) return error;
  }
  throw new Error('it was expected to be refused');
}

describe('a bucket', () => {
  it('gives what it holds, then as much as flows in', () => {
    const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, 0);
    expect([0, 0, 0].map((now) => bucket.take(now))).toEqual([0, 0, 0]);
    expect(bucket.take(0)).toBeCloseTo(0.5);
    expect(bucket.take(250)).toBeCloseTo(0.25);
    expect(bucket.take(500)).toBe(0);
    expect(bucket.take(500)).toBeGreaterThan(0);
  });

  it('never holds more than its size, however long nobody comes', () => {
    const bucket = new TokenBucket({ perSecond: 100, burst: 1 }, 0);
    expect(bucket.take(1_000_000)).toBe(0);
    expect(bucket.take(1_000_000)).toBeGreaterThan(0);
  });

  it('holds at least one request, however slowly it fills', () => {
    const bucket = new TokenBucket({ perSecond: 0.1 }, 0);
    expect(bucket.take(0)).toBe(0);
    expect(bucket.take(0)).toBeCloseTo(10);
  });
});

describe('the guard', () => {
  it('refuses who asks too often, says when to come back, and lets others in', () => {
    let now = 0;
    const guard = new ClientLimiter({ limits: { rate: { perSecond: 0.5, burst: 1 } } }, () => now);
    guard.acquireRequest(from('10.0.0.1'));
    const error = refusalOf(() => guard.acquireRequest(from('10.0.0.1')));
    expect(error.reason).toBe('RESOURCE_EXHAUSTED');
    expect(error.details).toEqual({ limit: 'rate', retryAfter: '2' });
    expect(guard.acquireRequest(from('10.0.0.2'))).toBeDefined();
    now = 2_000;
    expect(guard.acquireRequest(from('10.0.0.1'))).toBeDefined();
  });

  it('says a time that can be said, even to those who may never come back', () => {
    const guard = new ClientLimiter({ limits: { rate: { perSecond: 0, burst: 1 } } }, () => 0);
    guard.acquireRequest(from('10.0.0.1'));
    expect(refusalOf(() => guard.acquireRequest(from('10.0.0.1'))).details.retryAfter).toBe('86400');
  });

  it('knows callers by their names before their addresses', () => {
    const guard = new ClientLimiter({ limits: { requestsPerClient: 1 } });
    guard.acquireRequest(from('10.0.0.1', 'alice'));
    expect(guard.acquireRequest(from('10.0.0.1', 'bob'))).toBeDefined();
    expect(refusalOf(() => guard.acquireRequest(from('10.0.0.9', 'alice'))).details.limit).toBe(
      'requestsPerCaller',
    );
    expect(guard.acquireRequest(from('alice'))).toBeDefined();
  });

  it('asks whoever knows the callers better', () => {
    const guard = new ClientLimiter({
      limits: { requestsPerClient: 1, clientKey: ({ headers }) => String(headers.from) },
    });
    const exchange = { ...from('10.0.0.1'), headers: { from: 'a' } };
    guard.acquireRequest(exchange);
    expect(guard.acquireRequest({ ...exchange, headers: { from: 'b' } })).toBeDefined();
    expect(refusalOf(() => guard.acquireRequest(exchange)).reason).toBe('RESOURCE_EXHAUSTED');
  });

  it('counts nothing where nothing is limited', () => {
    const guard = new ClientLimiter({ limits: { requestsPerClient: Infinity } });
    expect(guard.acquireRequest(from('10.0.0.1'))).toBeUndefined();
    expect(guard.trackedClients).toBe(0);
  });

  it('forgets callers that have nothing open', () => {
    const guard = new ClientLimiter({});
    const request = guard.acquireRequest(from('10.0.0.1'));
    const stream = guard.acquireStream(from('10.0.0.2'));
    expect(guard.trackedClients).toBe(2);
    if (request) guard.releaseRequest(request);
    guard.releaseStream(stream);
    expect(guard.trackedClients).toBe(0);
  });

  it('remembers a bounded number of callers, and none loses what it has open', () => {
    const guard = new ClientLimiter({ limits: { rate: { perSecond: 1 }, streamsPerClient: 1 } }, () => 0);
    guard.acquireStream(from('holder'));
    for (let each = 0; each < 10_500; each++) {
      const visitor = guard.acquireRequest(from(`10.0.${each >> 8}.${each & 255}`));
      if (visitor) guard.releaseRequest(visitor);
    }
    expect(guard.trackedClients).toBe(10_000);
    expect(refusalOf(() => guard.acquireStream(from('holder'))).reason).toBe('RESOURCE_EXHAUSTED');
  });

  it('counts the streams of all callers together too', () => {
    const guard = new ClientLimiter({ maxStreams: 2 });
    const first = guard.acquireStream(from('10.0.0.1'));
    guard.acquireStream(from('10.0.0.2'));
    expect(refusalOf(() => guard.acquireStream(from('10.0.0.3'))).details.limit).toBe('maxStreams');
    guard.releaseStream(first);
    expect(guard.acquireStream(from('10.0.0.3'))).toBeDefined();
  });
});

describe('an address', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, key) => {
    expect(clientAddressKey(address)).toBe(key);
  });

  it.each([
    ['127.0.0.1', true],
    ['::ffff:127.0.0.1', true],
    ['::1', true],
    ['10.0.0.1', false],
    ['12.7.0.1', false],
    [undefined, false],
  ])('%s is of this machine: %s', (address, isHere) => {
    expect(isLoopbackAddress(address)).toBe(isHere);
  });
});
