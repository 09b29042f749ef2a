import { describe, expect, it } from 'vitest';
import { isLocalHost, isLoopbackAddress, isLoopbackHost } from './loopback.ts';

describe('isLoopbackAddress', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1'])('accepts %s', (ip) => {
    expect(isLoopbackAddress(ip)).toBe(true);
  });

  it.each([undefined, '', '10.0.0.1', '1.127.0.0', '::2', '0.0.0.0'])('rejects %s', (ip) => {
    expect(isLoopbackAddress(ip)).toBe(false);
  });
});

describe('isLoopbackHost', () => {
  it.each(['localhost', '127.0.0.1', '127.1.2.3', '[::1]', '::1'])('accepts %s', (host) => {
    expect(isLoopbackHost(host)).toBe(true);
    expect(isLocalHost(host)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'localhost.evil.test',
    'a.localhost',
    '127.0.0.1.evil.test',
    '127.evil.test',
    '0.0.0.0',
  ])('rejects %s', (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });
});

describe('isLocalHost', () => {
  it.each(['0.0.0.0', '[::]'])('accepts the unspecified address %s', (host) => {
    expect(isLocalHost(host)).toBe(true);
  });

  it.each(['10.0.0.1', 'localhost.evil.test', '[::2]'])('rejects %s', (host) => {
    expect(isLocalHost(host)).toBe(false);
  });
});
