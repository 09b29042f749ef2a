import { describe, expect, it } from 'vitest';
import { resolvePublicUrl } from './public-url.ts';

const seen = (headers: Record<string, string>, isSecure = false) => ({ headers, isSecure });
const forwarded = {
  host: 'inside:1',
  'x-forwarded-host': 'agents.example',
  'x-forwarded-proto': 'https',
  'x-forwarded-prefix': '/gw/',
};

describe('the address that a card gives', () => {
  it.each([
    [
      'the public one',
      seen(forwarded),
      { publicUrl: 'https://p.example/x', trustForwarded: true },
      'https://p.example/x',
    ],
    ['the one that was called', seen({ host: 'a.example' }, true), { basePath: '/b' }, 'https://a.example/b'],
    ['not what anybody forwards', seen(forwarded), { basePath: '/b' }, 'http://inside:1/b'],
    [
      'what a trusted proxy says',
      seen(forwarded),
      { basePath: '/b', trustForwarded: true },
      'https://agents.example/gw/b',
    ],
    [
      'what the first of several proxies says',
      seen({ ...forwarded, 'x-forwarded-proto': 'https, http', 'x-forwarded-prefix': '' }),
      { trustForwarded: true },
      'https://agents.example',
    ],
    ['no host that is none', seen({ host: 'a"b' }), {}, 'http://localhost'],
    [
      'no prefix that is none',
      seen({ host: 'a.example', 'x-forwarded-prefix': '//evil.example/' }),
      { trustForwarded: true },
      'http://a.example',
    ],
  ])('is %s', (_what, exchange, options, url) => {
    expect(resolvePublicUrl(exchange, options)).toBe(url);
  });
});
