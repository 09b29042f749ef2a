import type { LookupFunction } from 'node:net';
import { nodeModule } from '../primitives/node/node-module.ts';
import { ipVersion, parseIpAddress } from './rules/ip-address.ts';
import type { DnsResolver } from './egress-options.ts';

/** Resolves a name with the system resolver, including its hosts file. */
export async function systemDnsResolver(host: string): Promise<string[]> {
  const found = await nodeModule('node:dns/promises').lookup(host, { all: true });
  return found.map(({ address }) => address);
}

/**
 * Creates a `lookup` for sockets that returns only checked addresses, which prevents DNS rebinding.
 *
 * One denied address denies the name: attackers mix public and private addresses.
 *
 * @param check - throws if the host or address is denied.
 */
export function createCheckedLookup(
  resolve: DnsResolver,
  check: (host: string, address?: string) => void,
): LookupFunction {
  const resolveChecked = async (host: string): Promise<readonly string[]> => {
    check(host);
    const addresses = parseIpAddress(host) ? [host] : await resolve(host);
    for (const address of addresses) check(host, address);
    return addresses;
  };
  return (host, options, callback) => {
    const wantedFamily = familyOf(options.family);
    resolveChecked(host).then(
      (addresses) => {
        const matches = addresses
          .map((address) => ({ address, family: ipVersion(address) }))
          .filter(({ family }) => wantedFamily === 0 || family === wantedFamily);
        const [first] = matches;
        // Outside of the promise, which would catch errors of the callback.
        if (!first) process.nextTick(callback, notFound(host), '', 0);
        else if (options.all) process.nextTick(callback, null, matches);
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
