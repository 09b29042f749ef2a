import { describe, expect, it } from 'vitest';
import { TrustedProxies } from './trusted-proxies.ts';

const proxies = new TrustedProxies(['10.0.0.0/8', '::1', '2001:db8:1::/48']);
const client = (remoteAddress: string, headers: Record<string, string>) =>
  proxies.clientAddress({ remoteAddress, headers });

describe('TrustedProxies', () => {
  it.each<[string, string, Record<string, string>, string]>([
    ['no header', '10.0.0.1', {}, '10.0.0.1'],
    ['one hop', '10.0.0.1', { 'x-forwarded-for': '1.2.3.4' }, '1.2.3.4'],
    ['an IPv4-mapped peer', '::ffff:10.0.0.1', { 'x-forwarded-for': '1.2.3.4' }, '1.2.3.4'],
    ['an entry of the client', '10.0.0.1', { 'x-forwarded-for': '9.9.9.9, 1.2.3.4' }, '1.2.3.4'],
    ['two trusted proxies', '::1', { 'x-forwarded-for': '9.9.9.9, 1.2.3.4, 10.2.3.4' }, '1.2.3.4'],
    ['only trusted proxies', '::1', { 'x-forwarded-for': '10.0.0.9, 10.2.3.4' }, '10.0.0.9'],
    ['a port', '10.0.0.1', { 'x-forwarded-for': '1.2.3.4:5678' }, '1.2.3.4'],
    ['text instead of an address', '10.0.0.1', { 'x-forwarded-for': '1.2.3.4, unknown' }, '10.0.0.1'],
    ['Forwarded', '10.0.0.1', { forwarded: 'for=9.9.9.9, for=1.2.3.4;proto=https' }, '1.2.3.4'],
    ['Forwarded with IPv6', '10.0.0.1', { forwarded: 'by=x;For="[2001:db8:2::7]:80"' }, '2001:db8:2::7'],
    ['an untrusted peer', '8.8.8.8', { 'x-forwarded-for': '1.2.3.4' }, '8.8.8.8'],
    ['an IPv6 block', '2001:db8:1:2::3', { 'x-forwarded-for': '1.2.3.4' }, '1.2.3.4'],
    ['a peer beside the IPv6 block', '2001:db8:2::3', { 'x-forwarded-for': '1.2.3.4' }, '2001:db8:2::3'],
    [
      'two headers that disagree',
      '10.0.0.1',
      { 'x-forwarded-for': '1.2.3.4', forwarded: 'for=9.9.9.9' },
      '10.0.0.1',
    ],
  ])('finds the client with %s', (_case, peer, headers, expected) => {
    expect(client(peer, headers)).toBe(expected);
  });

  it.each([
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0',
    '1.2.3.256',
    '::1/129',
    ':::',
    '1:2:3:4:5:6:7:8:9',
    '10.0.0.1/8/9',
  ])('rejects the entry "%s"', (entry) => {
    expect(() => new TrustedProxies([entry])).toThrow('trustProxy');
  });
});
