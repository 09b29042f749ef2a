import { expect, it } from 'vitest';
import { isUrl, parseUrl } from './parse-url.ts';

it('parses absolute and relative URLs', () => {
  expect(parseUrl('https://example.com/a')?.href).toBe('https://example.com/a');
  expect(parseUrl('b', 'https://example.com/a')?.href).toBe('https://example.com/b');
  expect(parseUrl('b')).toBeUndefined();
  expect(isUrl('http://[')).toBe(false);
});

it.each(['https://bücher.example/', 'https://example.com/café'])(
  'accepts %s however often it is called',
  (url) => {
    let accepted = 0;
    for (let n = 0; n < 100_000; n++) if (isUrl(url)) accepted++;
    expect(accepted).toBe(100_000);
  },
);
