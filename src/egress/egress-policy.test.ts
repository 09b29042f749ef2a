import { describe, expect, it } from 'vitest';
import { A2AError } from '../protocol/errors.ts';
import type { EgressOptions, EgressPurpose, EgressDenial } from './egress-options.ts';
import { egressPolicy } from './egress-policy.ts';

/** Returns the error of a check. */
function denialOf(url: string, options: EgressOptions = {}, purpose?: EgressPurpose): A2AError | undefined {
  try {
    egressPolicy(options).check(url, purpose);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof A2AError) return thrown;
    throw thrown;
  }
}

describe('egressPolicy with defaults', () => {
  it.each([
    'https://example.com/',
    'http://example.com:8080/card',
    'https://sub.example.co.uk/x?y=z#w',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/',
    'https://my_host.example.com/',
    'https://example.com./',
    'https://localhost.example.com/',
    'https://10.0.0.1.nip.example.com/',
  ])('allows %s', (url) => {
    expect(denialOf(url)).toBeUndefined();
  });

  it('allows a name with letters that are not ASCII however often it is checked', () => {
    const policy = egressPolicy();
    expect(() => {
      for (let n = 0; n < 50_000; n++) policy.check('https://bücher.example/');
    }).not.toThrow();
  });

  it('returns a copy of the URL', () => {
    const given = new URL('https://Example.COM./a');
    const checked = egressPolicy().check(given);
    given.hostname = '127.0.0.1';
    expect(checked.href).toBe('https://example.com/a');
  });

  it.each<[string, EgressPurpose]>([
    ['http://example.com/', 'webhook'],
    ['http://example.com/', 'file'],
    ['https://example.com:22/', 'webhook'],
    ['https://example.com:6379/', 'webhook'],
    ['https://example.com:2376/', 'file'],
  ])('denies %s for a %s', (url, purpose) => {
    expect(denialOf(url, {}, purpose)?.reason).toBe('PERMISSION_DENIED');
  });

  it.each<[string, EgressPurpose]>([
    ['http://example.com:22/', 'card'],
    ['http://example.com:6379/', 'call'],
    ['https://example.com/', 'webhook'],
    ['https://example.com:8443/', 'file'],
    ['https://example.com:80/', 'file'],
  ])('allows %s for a %s', (url, purpose) => {
    expect(denialOf(url, {}, purpose)).toBeUndefined();
  });

  it('names the option in the hint and no address in the message', () => {
    const policy = egressPolicy();
    const check = () => policy.checkAddress('10.9.8.7', 'example.com', 443);
    expect(check).toThrow(/^Access to example\.com:443 denied: host is not on the public internet$/);
    expect(denialOf('http://10.0.0.1/')?.hint).toContain('allowPrivate');
    expect(denialOf('http://localhost/')?.hint).toContain('allowLoopback');
    expect(denialOf('http://169.254.169.254/')?.hint).toContain('`allow`');
    expect(denialOf('http://example.com/', {}, 'webhook')?.hint).toContain('schemes');
    expect(denialOf('https://example.com:22/', {}, 'webhook')?.hint).toContain('ports');
  });

  it('does not include credentials or the query in the message', () => {
    expect(denialOf('https://user:secret@example.com/?token=secret')?.message).not.toContain('secret');
  });
});

describe('egressPolicy', () => {
  it('calls onDenied with target, address and reason', () => {
    const refusals: EgressDenial[] = [];
    const policy = egressPolicy({ onDenied: (refusal) => refusals.push(refusal) });
    expect(() => policy.check('http://localhost/')).toThrow(A2AError);
    expect(() => policy.checkAddress('10.9.8.7', 'example.com', 443)).toThrow(A2AError);
    expect(refusals).toMatchObject([
      { target: 'http://localhost' },
      {
        target: 'example.com:443',
        address: '10.9.8.7',
        reason: expect.stringContaining('10.9.8.7 is private'),
      },
    ]);
  });

  it.each<[EgressOptions, string, boolean]>([
    [{ allowLoopback: true }, 'http://localhost:3000/', true],
    [{ allowLoopback: true }, 'http://a.localhost:3000/', true],
    [{ allowLoopback: true }, 'http://127.0.0.1:6379/', true],
    [{ allowLoopback: true }, 'http://[::1]:3000/', true],
    [{ allowLoopback: true }, 'http://10.0.0.1/', false],
    [{ allowLoopback: true }, 'http://[::ffff:127.0.0.1]/', false],
    [{ allowLoopback: true }, 'http://example.com/', false],
    [{ allowPrivate: true }, 'https://10.0.0.1/', true],
    [{ allowPrivate: true }, 'https://hooks.internal/', true],
    [{ allowPrivate: true }, 'https://hooks/', true],
    [{ allowPrivate: true }, 'https://[fd12::1]/', true],
    [{ allowPrivate: true }, 'https://127.0.0.1/', false],
    [{ allowPrivate: true }, 'https://localhost/', false],
    [{ allowPrivate: true }, 'https://169.254.169.254/', false],
    [{ allowPrivate: true }, 'https://[fd00:ec2::254]/', false],
    [{ allowPrivate: true }, 'https://100.100.100.200/', false],
    [{ allow: ['hooks.internal'] }, 'https://hooks.internal/', true],
    [{ allow: ['Hooks.Internal.'] }, 'https://hooks.internal/', true],
    [{ allow: ['hooks.internal'] }, 'https://x.hooks.internal/', false],
    [{ allow: ['*.corp'] }, 'https://a.b.corp/', true],
    [{ allow: ['*.corp'] }, 'https://corp/', false],
    [{ allow: ['*.corp'] }, 'https://evilcorp/', false],
    [{ allow: ['hooks:8080'] }, 'https://hooks:8080/', true],
    [{ allow: ['hooks:8080'] }, 'https://hooks:8081/', false],
    [{ allow: ['hooks:22'] }, 'https://hooks:22/', true],
    [{ allow: ['hooks'] }, 'https://hooks:22/', false],
    [{ allow: ['hooks'] }, 'http://hooks/', false],
    [{ allow: ['10.0.0.0/8'] }, 'https://10.9.9.9/', true],
    [{ allow: ['10.0.0.0/8'] }, 'https://11.0.0.1:22/', false],
    [{ allow: ['10.0.0.7:22'] }, 'https://10.0.0.7:22/', true],
    [{ allow: ['10.0.0.7:22'] }, 'https://10.0.0.7/', false],
    [{ allow: ['[fd12::7]:8080'] }, 'https://[fd12::7]:8080/', true],
    [{ allow: ['fd12::7'] }, 'https://[fd12::7]/', true],
    [{ allow: ['169.254.0.0/16'] }, 'https://169.254.169.254/', true],
    [{ allow: ['64:ff9b::/96'] }, 'https://[64:ff9b::8.8.8.8]/', true],
    [{ allow: ['64:ff9b::/96'] }, 'https://[64:ff9b::10.0.0.1]/', false],
    [{ allow: ['64:ff9b::/96'], allowPrivate: true }, 'https://[64:ff9b::10.0.0.1]/', true],
    [{ deny: ['example.com'] }, 'https://example.com/', false],
    [{ deny: ['example.com'] }, 'https://example.com./', false],
    [{ deny: ['example.com'] }, 'https://EXAMPLE.com/', false],
    [{ deny: ['example.com:8443'] }, 'https://example.com/', true],
    [{ deny: ['example.com:8443'] }, 'https://example.com:8443/', false],
    [{ deny: ['8.8.0.0/16'] }, 'https://8.8.4.4/', false],
    [{ deny: ['hooks'], allow: ['hooks'] }, 'https://hooks/', false],
    [{ deny: ['10.0.0.7'], allowPrivate: true }, 'https://10.0.0.7/', false],
    [{ deny: ['8.8.8.8'], allow: ['::ffff:0:0/96'] }, 'https://[::ffff:8.8.8.8]/', false],
    [{ allowOnly: ['*.example.com'] }, 'https://a.example.com/', true],
    [{ allowOnly: ['*.example.com'] }, 'https://example.org/', false],
    [{ allowOnly: ['*.example.com'] }, 'https://8.8.8.8/', false],
    [{ allowOnly: [] }, 'https://example.com/', false],
    [{ allowOnly: ['hooks.internal'] }, 'https://hooks.internal/', false],
    [{ allowOnly: ['8.8.8.0/24'] }, 'https://8.8.8.8/', true],
    [{ allowOnly: ['8.8.8.0/24'] }, 'https://8.8.4.4/', false],
    [{ ports: [443] }, 'https://example.com:8443/', false],
    [{ ports: [[20, 30]] }, 'https://example.com:22/', true],
    [{ schemes: ['http', 'https'] }, 'http://example.com/', true],
    [{ schemes: ['https'] }, 'http://example.com/', false],
  ])('checks, with %j, the webhook %s: %j', (options, url, isAllowed) => {
    expect(denialOf(url, options, 'webhook') === undefined).toBe(isAllowed);
  });

  it('applies configured ports and schemes to calls', () => {
    expect(denialOf('http://example.com/', { schemes: ['https'] }, 'call')).toBeDefined();
    expect(denialOf('https://example.com:444/', { ports: [443] }, 'card')).toBeDefined();
  });

  it.each([
    '',
    '*',
    '*.',
    '10/8',
    '10.0.0.0/33',
    '10.0.0.0/8:80',
    'a b',
    'host:0',
    'host:70000',
    'http://x/',
    'a@b',
  ])('rejects %j as a list entry', (entry) => {
    expect(() => egressPolicy({ allow: ['example.com', entry] })).toThrow(/^allow\[1\] must be/);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('rejects a timeout of %d', (timeout) => {
    expect(() => egressPolicy({ timeout })).toThrow('timeout must be');
  });

  it('follows no redirects of webhooks by default', () => {
    expect(egressPolicy().redirectsFor('webhook')).toBe(0);
    expect(egressPolicy().redirectsFor('card')).toBe(3);
    expect(egressPolicy({ maxRedirects: 1 }).redirectsFor('webhook')).toBe(1);
  });
});
