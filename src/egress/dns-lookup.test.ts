import type { LookupAddress, LookupOptions } from 'node:dns';
import { describe, expect, it } from 'vitest';
import type { EgressOptions } from './egress-options.ts';
import { egressPolicy } from './egress-policy.ts';

type Found = string | LookupAddress[];

/** Calls the lookup of a policy as a socket does. */
function lookUp(
  host: string,
  options: EgressOptions,
  lookupOptions: LookupOptions = { all: true },
  port?: number,
) {
  const policy = egressPolicy(options);
  const lookup = port === undefined ? policy.lookup : policy.lookupFor(port);
  return new Promise<Found>((resolve, reject) => {
    lookup(host, lookupOptions, (error, address) => (error ? reject(error) : resolve(address)));
  });
}

const resolvingTo = (...addresses: string[]) => ({ resolve: () => Promise.resolve(addresses) });
const denied = { reason: 'PERMISSION_DENIED' };

describe('EgressPolicy.lookup', () => {
  it('returns all addresses', async () => {
    expect(await lookUp('example.com', resolvingTo('8.8.8.8', '2606:4700::1'))).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
  });

  it('returns the first address, or the first of the requested family', async () => {
    const options = resolvingTo('8.8.8.8', '2606:4700::1');
    expect(await lookUp('example.com', options, {})).toBe('8.8.8.8');
    expect(await lookUp('example.com', options, { family: 6 })).toBe('2606:4700::1');
    expect(await lookUp('example.com', options, { family: 'IPv4' })).toBe('8.8.8.8');
  });

  it.each([
    [['8.8.8.8', '10.0.0.1']],
    [['10.0.0.1', '8.8.8.8']],
    [['8.8.8.8', '::1']],
    [['8.8.8.8', '::ffff:8.8.4.4']],
    [['8.8.8.8', 'fe80::1%eth0']],
    [['0.0.0.0']],
    [['169.254.169.254']],
    [['8.8.8.8', 'not an address']],
    [['0x7f.1']],
  ])('denies a name with the addresses %j', async (addresses) => {
    await expect(lookUp('example.com', resolvingTo(...addresses))).rejects.toMatchObject(denied);
    // Also if the denied address is of another family.
    await expect(lookUp('example.com', resolvingTo(...addresses), { family: 4 })).rejects.toMatchObject(
      denied,
    );
  });

  it('reveals the address only in the hint', async () => {
    const error = await lookUp('example.com', resolvingTo('10.9.8.7')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ hint: expect.stringContaining('10.9.8.7'), details: {} });
    expect(String(error)).not.toContain('10.9.8.7');
  });

  it('does not resolve denied names and IP addresses', async () => {
    const resolve = () => Promise.reject(new Error('resolved'));
    await expect(lookUp('localhost', { resolve })).rejects.toMatchObject(denied);
    await expect(lookUp('127.0.0.1', { resolve })).rejects.toMatchObject(denied);
    await expect(lookUp('denied.com', { resolve, deny: ['denied.com'] })).rejects.toMatchObject(denied);
    expect(await lookUp('8.8.8.8', { resolve }, {})).toBe('8.8.8.8');
  });

  it('forwards ENOTFOUND', async () => {
    await expect(lookUp('example.com', resolvingTo())).rejects.toMatchObject({ code: 'ENOTFOUND' });
    const gone = { resolve: () => Promise.reject(Object.assign(new Error('gone'), { code: 'EAI_AGAIN' })) };
    await expect(lookUp('example.com', gone)).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  });

  it('applies exceptions with a port only if the port is known', async () => {
    const options = { ...resolvingTo('10.0.0.1'), allow: ['hooks.example.com:8080'] };
    expect(await lookUp('hooks.example.com', options, {}, 8080)).toBe('10.0.0.1');
    await expect(lookUp('hooks.example.com', options, {}, 8081)).rejects.toMatchObject(denied);
    await expect(lookUp('hooks.example.com', options, {})).rejects.toMatchObject(denied);
  });

  it('applies deny rules with a port if the port is unknown', async () => {
    const options = { ...resolvingTo('8.8.8.8'), deny: ['8.8.8.8:53'] };
    expect(await lookUp('example.com', options, {}, 443)).toBe('8.8.8.8');
    await expect(lookUp('example.com', options, {}, 53)).rejects.toMatchObject(denied);
    await expect(lookUp('example.com', options, {})).rejects.toMatchObject(denied);
  });

  it('allows private addresses of an allowed name, but not metadata services', async () => {
    const allow = ['*.example.com'];
    expect(await lookUp('a.example.com', { ...resolvingTo('10.0.0.1'), allow }, {})).toBe('10.0.0.1');
    expect(await lookUp('a.example.com', { ...resolvingTo('127.0.0.1'), allow }, {})).toBe('127.0.0.1');
    const metadata = { ...resolvingTo('169.254.169.254'), allow };
    await expect(lookUp('a.example.com', metadata)).rejects.toMatchObject(denied);
    await expect(lookUp('a.example.org', { ...resolvingTo('10.0.0.1'), allow })).rejects.toMatchObject(
      denied,
    );
  });

  it('checks the resolved addresses against blocks of allowOnly', async () => {
    const only = ['8.8.8.0/24'];
    expect(await lookUp('example.com', { ...resolvingTo('8.8.8.8'), allowOnly: only }, {})).toBe('8.8.8.8');
    await expect(lookUp('example.com', { ...resolvingTo('8.8.4.4'), allowOnly: only })).rejects.toMatchObject(
      denied,
    );
  });

  it('uses the system resolver by default', async () => {
    const found = await lookUp('localhost', { allowLoopback: true });
    expect(found.length).toBeGreaterThan(0);
  });
});
