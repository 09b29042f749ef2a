import type { LookupAddress, LookupOptions } from 'node:dns';
import { describe, expect, it } from 'vitest';
import type { EgressOptions } from './egress-options.ts';
import { egressPolicy } from './egress-policy.ts';

type Found = string | LookupAddress[];

/** Asks the lookup of a policy as a socket would. */
function look(host: string, options: EgressOptions, asked: LookupOptions = { all: true }, port?: number) {
  const policy = egressPolicy(options);
  const lookup = port === undefined ? policy.lookup : policy.lookupFor(port);
  return new Promise<Found>((resolve, reject) => {
    lookup(host, asked, (error, address) => (error ? reject(error) : resolve(address)));
  });
}

const answering = (...addresses: string[]) => ({ resolve: () => Promise.resolve(addresses) });
const refused = { reason: 'PERMISSION_DENIED' };

describe('a lookup', () => {
  it('gives all addresses', async () => {
    expect(await look('example.com', answering('8.8.8.8', '2606:4700::1'))).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
  });

  it('gives the first, or the first of a family, to who wants one', async () => {
    const options = answering('8.8.8.8', '2606:4700::1');
    expect(await look('example.com', options, {})).toBe('8.8.8.8');
    expect(await look('example.com', options, { family: 6 })).toBe('2606:4700::1');
    expect(await look('example.com', options, { family: 'IPv4' })).toBe('8.8.8.8');
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
  ])('refuses a name with the addresses %j', async (addresses) => {
    await expect(look('example.com', answering(...addresses))).rejects.toMatchObject(refused);
    // Also if the forbidden one is of a family that nobody asked for.
    await expect(look('example.com', answering(...addresses), { family: 4 })).rejects.toMatchObject(refused);
  });

  it('says nothing about the address but in the hint', async () => {
    const error = await look('example.com', answering('10.9.8.7')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ hint: expect.stringContaining('10.9.8.7'), details: {} });
    expect(String(error)).not.toContain('10.9.8.7');
  });

  it('asks nobody about names that are forbidden, or addresses', async () => {
    const resolve = () => Promise.reject(new Error('was asked'));
    await expect(look('localhost', { resolve })).rejects.toMatchObject(refused);
    await expect(look('127.0.0.1', { resolve })).rejects.toMatchObject(refused);
    await expect(look('denied.com', { resolve, deny: ['denied.com'] })).rejects.toMatchObject(refused);
    expect(await look('8.8.8.8', { resolve }, {})).toBe('8.8.8.8');
  });

  it('passes on that there is no such name', async () => {
    await expect(look('example.com', answering())).rejects.toMatchObject({ code: 'ENOTFOUND' });
    const gone = { resolve: () => Promise.reject(Object.assign(new Error('gone'), { code: 'EAI_AGAIN' })) };
    await expect(look('example.com', gone)).rejects.toMatchObject({ code: 'EAI_AGAIN' });
  });

  it('counts exceptions with a port only where the port is known', async () => {
    const options = { ...answering('10.0.0.1'), allow: ['hooks.example.com:8080'] };
    expect(await look('hooks.example.com', options, {}, 8080)).toBe('10.0.0.1');
    await expect(look('hooks.example.com', options, {}, 8081)).rejects.toMatchObject(refused);
    await expect(look('hooks.example.com', options, {})).rejects.toMatchObject(refused);
  });

  it('counts prohibitions with a port where the port is not known', async () => {
    const options = { ...answering('8.8.8.8'), deny: ['8.8.8.8:53'] };
    expect(await look('example.com', options, {}, 443)).toBe('8.8.8.8');
    await expect(look('example.com', options, {}, 53)).rejects.toMatchObject(refused);
    await expect(look('example.com', options, {})).rejects.toMatchObject(refused);
  });

  it('lets an allowed name lead to a private network, but not to the metadata of a cloud', async () => {
    const allow = ['*.example.com'];
    expect(await look('a.example.com', { ...answering('10.0.0.1'), allow }, {})).toBe('10.0.0.1');
    expect(await look('a.example.com', { ...answering('127.0.0.1'), allow }, {})).toBe('127.0.0.1');
    const metadata = { ...answering('169.254.169.254'), allow };
    await expect(look('a.example.com', metadata)).rejects.toMatchObject(refused);
    await expect(look('a.example.org', { ...answering('10.0.0.1'), allow })).rejects.toMatchObject(refused);
  });

  it('lets the addresses decide where only blocks are wanted', async () => {
    const only = ['8.8.8.0/24'];
    expect(await look('example.com', { ...answering('8.8.8.8'), allowOnly: only }, {})).toBe('8.8.8.8');
    await expect(look('example.com', { ...answering('8.8.4.4'), allowOnly: only })).rejects.toMatchObject(
      refused,
    );
  });

  it('asks the system by default', async () => {
    const found = await look('localhost', { allowLoopback: true });
    expect(found.length).toBeGreaterThan(0);
  });
});
