import { describe, expect, it } from 'vitest';
import { resolvePublicUrl } from './public-url.ts';

const requestWith = (headers: Record<string, string>, isSecure = false) => ({ headers, isSecure });
const forwarded = {
  host: 'inside:1',
  'x-forwarded-host': 'agents.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-prefix': '/gw/',
};

describe('resolvePublicUrl', () => {
  it.each([
    [
      'publicUrl',
      requestWith(forwarded),
      { publicUrl: 'https://p.example/x', trustForwarded: true },
      'https://p.example/x',
    ],
    [
      'the URL of the Host header',
      requestWith({ host: 'a.example' }, true),
      { basePath: '/b' },
      'https://a.example/b',
    ],
    [
      'the Host header without trustForwarded',
      requestWith(forwarded),
      { basePath: '/b' },
      'http://inside:1/b',
    ],
    [
      'the forwarded URL with trustForwarded',
      requestWith(forwarded),
      { basePath: '/b', trustForwarded: true },
      'https://agents.example/gw/b',
    ],
    [
      'the first value of several proxies',
      requestWith({ ...forwarded, 'x-forwarded-proto': 'https, http', 'x-forwarded-prefix': '' }),
      { trustForwarded: true },
      'https://agents.example',
    ],
    ['localhost for an invalid host', requestWith({ host: 'a"b' }), {}, 'http://localhost'],
    [
      'no prefix for an invalid one',
      requestWith({ host: 'a.example', 'x-forwarded-prefix': '//evil.example/' }),
      { trustForwarded: true },
      'http://a.example',
    ],
  ])('returns %s', (_what, request, options, url) => {
    expect(resolvePublicUrl(request, options)).toBe(url);
  });
});
