/**
 * Returns the key under which a client is counted by its IP address. IPv6 addresses of one /64 network share a key,
 * because one client may use all of them; IPv4-mapped IPv6 addresses count as IPv4.
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
