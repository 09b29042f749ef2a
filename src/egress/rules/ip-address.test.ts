import { isIP } from 'node:net';
import * as fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { type AddressKind, classifyAddress, parseIpAddress, embeddedIpv4, ipVersion } from './ip-address.ts';

const kind = (text: string): AddressKind | undefined => {
  const address = parseIpAddress(text);
  return address && classifyAddress(address);
};

/** All blocks of the IANA special-purpose registries, returned blocks and blocks with embedded IPv4 addresses. */
const specialBlocks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '255.255.255.255/32',
  '168.63.129.16/32',
  '::/128',
  '::1/128',
  '::/96',
  '::/8',
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001::/32',
  '2001:2::/48',
  '2001:10::/28',
  '2001:20::/28',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3ffe::/16',
  '3fff::/20',
  '4000::/3',
  '5f00::/16',
  '8000::/1',
  'fc00::/7',
  'fd00:ec2::/32',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** Arbitrary address of a block. */
const addressIn = (block: string): fc.Arbitrary<string> => {
  const [first, prefix] = ipaddr.parseCIDR(block);
  const bytes = first.toByteArray();
  return fc.uint8Array({ minLength: bytes.length, maxLength: bytes.length }).map((random) => {
    const mixed = bytes.map((byte, index) => {
      const mask = 0xff >> Math.min(8, Math.max(0, prefix - index * 8));
      return (byte & ~mask) | ((random[index] ?? 0) & mask);
    });
    return ipaddr.fromByteArray(mixed).toString();
  });
};

describe('classifyAddress', () => {
  it.each(specialBlocks)('never classifies addresses of %s as public', (block) => {
    fc.assert(
      fc.property(addressIn(block), (address) => {
        expect(kind(address)).not.toBe('public');
      }),
      { numRuns: 60 },
    );
  });

  it('never classifies addresses with embedded IPv4 as public', () => {
    const prefixes = ['::ffff:', '::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '2606:4700::5efe:'];
    const tail = fc.ipV4().map((text) => ipaddr.IPv4.parse(text).octets);
    fc.assert(
      fc.property(fc.constantFrom(...prefixes), tail, (prefix, [a = 0, b = 0, c = 0, d = 0]) => {
        const words = [a * 256 + b, c * 256 + d].map((word) => word.toString(16)).join(':');
        expect(kind(`${prefix}${words}`)).not.toBe('public');
      }),
    );
  });

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.215.14',
    '172.32.0.1',
    '100.128.0.1',
    '198.20.0.1',
    '223.255.255.255',
  ])('classifies %s as public', (text) => {
    expect(kind(text)).toBe('public');
  });

  it.each(['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001::200e', '2400:cb00::1'])(
    'classifies %s as public',
    (text) => {
      expect(kind(text)).toBe('public');
    },
  );

  it.each<[string, AddressKind]>([
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['100.64.0.1', 'private'],
    ['fd12::1', 'private'],
    ['169.254.169.254', 'special'],
    ['100.100.100.200', 'special'],
    ['fd00:ec2::254', 'special'],
    ['::1%lo', 'special'],
    ['fd12::1%eth0', 'special'],
    ['2606:4700::1%eth0', 'special'],
  ])('classifies %s as %s', (text, expected) => {
    expect(kind(text)).toBe(expected);
  });

  it.each([
    '127.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '[::1]',
    '127.0.0.1:80',
    '',
    ' 127.0.0.1',
    '10.0.0.0/8',
  ])('does not parse %j, which programs interpret differently', (text) => {
    expect(parseIpAddress(text)).toBeUndefined();
  });

  it.each<[string, string[]]>([
    ['::ffff:10.0.0.1', ['10.0.0.1']],
    ['::10.0.0.1', ['10.0.0.1']],
    ['::ffff:0:10.0.0.1', ['10.0.0.1']],
    ['64:ff9b::10.0.0.1', ['10.0.0.1']],
    ['2002:a00:1::', ['10.0.0.1']],
    ['2001:0:808:808:0:0:f5ff:fffe', ['8.8.8.8', '10.0.0.1']],
    ['2606:4700::200:5efe:10.0.0.1', ['10.0.0.1']],
    ['2606:4700::1', []],
    ['::1', []],
    ['10.0.0.1', []],
  ])('finds the IPv4 addresses embedded in %s: %j', (text, expected) => {
    const address = parseIpAddress(text);
    expect(address && embeddedIpv4(address).map(String)).toEqual(expected);
  });
});

describe('ipVersion', () => {
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV4Extended(),
    fc.ipV6(),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdf:.x'.split('')), maxLength: 30 }),
    fc
      .tuple(fc.ipV6(), fc.ipV4Extended())
      .map(([start, end]) => `${start.slice(0, start.lastIndexOf(':') + 1)}${end}`),
    fc.tuple(fc.ipV6(), fc.constantFrom('%', '%1', '%eth0', '%25', '/64')).map((parts) => parts.join('')),
  );

  it('rejects zones that the parser does not accept', () => {
    for (const text of ['::1%.', '::1%a%b']) expect(parseIpAddress(text)).toBeUndefined();
  });

  it('agrees with isIP of Node', () => {
    fc.assert(
      fc.property(address, (text) => {
        expect(ipVersion(text)).toBe(isIP(text));
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    '',
    '1',
    '1.2.3',
    '01.2.3.4',
    '1.2.3.256',
    '::',
    '::1',
    '1::2::3',
    '::ffff:1.2.3.4',
    '::1.2.3.04',
    ':::',
    '[::1]',
    ' ::1',
  ])('agrees with isIP of Node for "%s"', (text) => {
    expect(ipVersion(text)).toBe(isIP(text));
  });
});
