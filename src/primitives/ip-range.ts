/** An IP address as eight groups of 16 bits; IPv4 addresses are mapped to IPv6. */
type IpGroups = readonly number[];

/** A range of IP addresses: one address or a CIDR block. */
export class IpRange {
  readonly #groups: IpGroups;
  readonly #bits: number;

  private constructor(groups: IpGroups, bits: number) {
    this.#groups = groups;
    this.#bits = bits;
  }

  /** Parses an address or CIDR block, such as `10.0.0.0/8`. @returns undefined if it is invalid. */
  static parse(text: string): IpRange | undefined {
    const [address = '', prefix, ...rest] = text.trim().split('/');
    const groups = parseIp(address);
    if (!groups || rest.length > 0 || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return undefined;
    const size = address.includes(':') ? 128 : 32;
    const bits = prefix === undefined ? size : Number(prefix);
    return bits > size ? undefined : new IpRange(groups, 128 - size + bits);
  }

  /** Returns true if the range contains an IP address. Other text is not contained. */
  contains(address: string): boolean {
    const groups = parseIp(address);
    if (!groups) return false;
    for (let i = 0; i < 8; i++) {
      const bits = Math.min(16, Math.max(0, this.#bits - i * 16));
      const mask = (0xff_ff << (16 - bits)) & 0xff_ff;
      if (((groups[i] ?? 0) & mask) !== ((this.#groups[i] ?? 0) & mask)) return false;
    }
    return true;
  }
}

/** Returns true for an IPv4 or IPv6 address. */
export function isIpAddress(text: string): boolean {
  return parseIp(text) !== undefined;
}

function parseIp(text: string): IpGroups | undefined {
  if (!text.includes(':')) {
    const groups = parseIpv4(text);
    return groups && [0, 0, 0, 0, 0, 0xff_ff, ...groups];
  }
  const [withoutZone = ''] = text.split('%');
  const halves = withoutZone.split('::');
  if (halves.length > 2 || withoutZone.length > 45) return undefined;
  const [head, tail] = halves.map((half) => (half === '' ? [] : parseGroups(half.split(':'))));
  if (!head || (halves.length === 2 && !tail)) return undefined;
  if (!tail) return head.length === 8 ? head : undefined;
  const missing = 8 - head.length - tail.length;
  return missing < 1 ? undefined : [...head, ...Array<number>(missing).fill(0), ...tail];
}

/** Parses the groups of an IPv6 address; the last one may be an IPv4 address. */
function parseGroups(texts: readonly string[]): number[] | undefined {
  const groups: number[] = [];
  for (const [i, text] of texts.entries()) {
    const ipv4 = i === texts.length - 1 ? parseIpv4(text) : undefined;
    if (ipv4) groups.push(...ipv4);
    else if (/^[\da-f]{1,4}$/i.test(text)) groups.push(Number.parseInt(text, 16));
    else return undefined;
  }
  return groups;
}

function parseIpv4(text: string): [number, number] | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return Math.max(a, b, c, d) > 255 ? undefined : [a * 256 + b, c * 256 + d];
}
