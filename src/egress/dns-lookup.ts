import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { parseIpAddress } from './rules/ip-address.ts';
import type { DnsResolver } from './egress-options.ts';

/** Asks the system, which knows its file of hosts too. */
export async function systemDnsResolver(host: string): Promise<string[]> {
  const found = await systemLookup(host, { all: true });
  return found.map(({ address }) => address);
}

/**
 * Makes a `lookup` for sockets whose answers have been checked, so that the connection goes where the check looked.
 *
 * One forbidden address condemns the name: who mixes public and private ones hopes for luck with the second.
 *
 * @param check - Throws for a host or an address that is forbidden.
 */
export function createCheckedLookup(
  resolve: DnsResolver,
  check: (host: string, address?: string) => void,
): LookupFunction {
  const find = async (host: string): Promise<readonly string[]> => {
    check(host);
    const addresses = parseIpAddress(host) ? [host] : await resolve(host);
    for (const address of addresses) check(host, address);
    return addresses;
  };
  return (host, options, callback) => {
    const wanted = familyOf(options.family);
    find(host).then(
      (addresses) => {
        const found = addresses
          .map((address) => ({ address, family: isIP(address) }))
          .filter(({ family }) => wanted === 0 || family === wanted);
        const [first] = found;
        // Off the promise, which would take an error of the callback for its own.
        if (!first) process.nextTick(callback, notFound(host), '', 0);
        else if (options.all) process.nextTick(callback, null, found);
        else process.nextTick(callback, null, first.address, first.family);
      },
      (thrown: unknown) => process.nextTick(callback, thrown, '', 0),
    );
  };
}

function familyOf(family: number | 'IPv4' | 'IPv6' | undefined): number {
  if (family === 'IPv4') return 4;
  return family === 'IPv6' ? 6 : (family ?? 0);
}

function notFound(host: string): Error {
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}
