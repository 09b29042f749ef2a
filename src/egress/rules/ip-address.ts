import ipaddr from 'ipaddr.js';

/** A parsed IP address. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** A CIDR block: first address and prefix length. */
export type CidrBlock = readonly [IpAddress, number];

/**
 * Scope of an address. `private` is a private network; `special` is everything else that is not the public internet:
 * link-local, multicast, reserved, embedded IPv4 and cloud metadata services.
 */
export type AddressKind = 'public' | 'loopback' | 'private' | 'special';

/**
 * Cloud metadata services, which return credentials to every client on the machine. Listed because some are in private
 * blocks and one is in a public block.
 */
const metadataServices: readonly CidrBlock[] = [
  '169.254.169.254/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
].map((block) => ipaddr.parseCIDR(block));

/** Publicly routed IPv6, and a part of it that was returned (6bone). */
const globalUnicast: CidrBlock = ipaddr.parseCIDR('2000::/3');
const formerTestNetwork: CidrBlock = ipaddr.parseCIDR('3ffe::/16');
const compatible: CidrBlock = ipaddr.parseCIDR('::/96');

/** Parses a canonical IP address. @returns undefined for other notations, which programs interpret differently */
export function parseIpAddress(text: string): IpAddress | undefined {
  return ipVersion(text) === 0 ? undefined : ipaddr.parse(text);
}

/** Returns 4 or 6 for a canonical IP address, else 0, like `isIP` of Node. */
export function ipVersion(text: string): 0 | 4 | 6 {
  if (!text.includes(':')) return ipaddr.IPv4.isValidFourPartDecimal(text) ? 4 : 0;
  if (!ipaddr.IPv6.isValid(text)) return 0;
  const [address = ''] = text.split('%', 1);
  const last = address.slice(address.lastIndexOf(':') + 1);
  return !last.includes('.') || ipaddr.IPv4.isValidFourPartDecimal(last) ? 6 : 0;
}

/** Returns true if the block contains the address. */
export function isInBlock(address: IpAddress, [first, prefix]: CidrBlock): boolean {
  return address.kind() === first.kind() && address.match(first, prefix);
}

/** Classifies an address; only known public ranges are `public`. */
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
 * Returns the IPv4 addresses embedded in an IPv6 address, where its packets may arrive: mapped, compatible, translated
 * (with a 96-bit prefix), 6to4, Teredo (server and client) and ISATAP.
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
  // ISATAP exists in all networks; its marker is in the interface identifier.
  const isIsatap = marker === 0x5efe && ((address.parts[4] ?? 0) & ~0x0200) === 0;
  return isIsatap || isInBlock(address, compatible) ? [fromWords(y, z)] : [];
}

function fromWords(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([(high >> 8) & 0xff, high & 0xff, (low >> 8) & 0xff, low & 0xff]);
}

function isIPv6(address: IpAddress): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6';
}

/** A zone id names a network interface of the local host; public addresses have none. */
function isZoned(address: IpAddress): boolean {
  return isIPv6(address) && address.zoneId !== undefined;
}
