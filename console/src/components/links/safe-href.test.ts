import { describe, expect, it } from 'vitest';
import { isSafeHref } from './safe-href.ts';

describe('isSafeHref', () => {
  it.each(['http://example.org', 'https://example.org/a?b#c', 'HTTPS://EXAMPLE.ORG'])(
    'accepts %s',
    (href) => {
      expect(isSafeHref(href)).toBe(true);
    },
  );

  it.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>1</script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:http://localhost/1',
    '//example.org',
    '/api/agents',
    '#wire',
    '',
    'http://',
    'https://bank.example@evil.example/',
    `https://example.org/${'a'.repeat(5000)}`,
  ])('may not be %j', (href) => {
    expect(isSafeHref(href)).toBe(false);
  });
});
