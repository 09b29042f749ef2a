/**
 * The name that a caller has by its address. A household of IPv6 has 64 bits to choose from, so it counts as one; IPv4
 * written as IPv6 is IPv4.
 */
export function clientAddressKey(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    while (groups.length + last.length < 8) groups.push('0');
    groups.push(...last);
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** True for an address of this machine itself. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(::ffff:)?127\./i.test(address));
}

/** True for a host, as URLs have it, that is this machine itself. A name that only begins like an address is a stranger's. */
export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|127(?:\.\d+){3}|\[::1\]|::1)$/.test(host);
}
