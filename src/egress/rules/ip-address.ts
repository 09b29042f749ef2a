import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address as the library has read it. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** A block of addresses: its first one and the length of its prefix. */
export type CidrBlock = readonly [IpAddress, number];

/**
 * What an address is for. `private` is somebody's own network; `special` is everything else that is not the
 * public internet: link-local, multicast, reserved, wrapped and the doors of cloud machines.
 */
export type AddressKind = 'public' | 'loopback' | 'private' | 'special';

/**
 * Doors to the machine below, which hand out credentials to whoever asks. Some lie in blocks that are private, one in
 * a block that is public, so that neither may speak for them.
 */
const metadataServices: readonly CidrBlock[] = [
  '169.254.169.254/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
].map((block) => ipaddr.parseCIDR(block));

/** All of IPv6 that is routed publicly, and a part of it that was given back. */
const globalUnicast: CidrBlock = ipaddr.parseCIDR('2000::/3');
const formerTestNetwork: CidrBlock = ipaddr.parseCIDR('3ffe::/16');
const compatible: CidrBlock = ipaddr.parseCIDR('::/96');

/** Reads an address in its usual form. Other forms, which programs read in different ways, give `undefined`. */
export function parseIpAddress(text: string): IpAddress | undefined {
  return isIP(text) === 0 ? undefined : ipaddr.parse(text);
}

/** Says whether an address lies in a block. */
export function isInBlock(address: IpAddress, [first, prefix]: CidrBlock): boolean {
  return address.kind() === first.kind() && address.match(first, prefix);
}

/** Says what an address is for. Only what is known to be public is `public`. */
export function classifyAddress(address: IpAddress): AddressKind {
  if (metadataServices.some((block) => isInBlock(address, block))) return 'special';
  const range = address.range();
  if (range === 'loopback') return isZoned(address) ? 'special' : 'loopback';
  if (isZoned(address)) return 'special';
  if (range === 'private' || range === 'carrierGradeNat' || range === 'uniqueLocal') return 'private';
  if (range !== 'unicast') return 'special';
  if (address.kind() === 'ipv4') return 'public';
  const isRouted = isInBlock(address, globalUnicast) && !isInBlock(address, formerTestNetwork);
  return isRouted && embeddedIpv4(address).length === 0 ? 'public' : 'special';
}

/**
 * The IPv4 addresses that an IPv6 address carries and that a packet to it may end at: mapped, compatible, translated
 * (with a prefix of 96 bits), 6to4, Teredo (server and client) and ISATAP.
 */
export function embeddedIpv4(address: IpAddress): ipaddr.IPv4[] {
  if (!isIPv6(address)) return [];
  const [, a = 0, b = 0, c = 0, , marker = 0, y = 0, z = 0] = address.parts;
  switch (address.range()) {
    case 'loopback':
    case 'unspecified':
      return [];
    case 'ipv4Mapped':
    case 'rfc6145':
    case 'rfc6052':
      return [fromWords(y, z)];
    case '6to4':
      return [fromWords(a, b)];
    case 'teredo':
      return [fromWords(b, c), fromWords(~y, ~z)];
  }
  // ISATAP may lie in any network; its mark stands where a card's number would.
  const isIsatap = marker === 0x5efe && ((address.parts[4] ?? 0) & ~0x0200) === 0;
  return isIsatap || isInBlock(address, compatible) ? [fromWords(y, z)] : [];
}

function fromWords(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([(high >> 8) & 0xff, high & 0xff, (low >> 8) & 0xff, low & 0xff]);
}

function isIPv6(address: IpAddress): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6';
}

/** A zone names a card of this machine; nothing public needs one. */
function isZoned(address: IpAddress): boolean {
  return isIPv6(address) && address.zoneId !== undefined;
}
