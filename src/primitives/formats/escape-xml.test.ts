import { describe, expect, it } from 'vitest';
import { escapeXml } from './escape-xml.ts';

describe('escapeXml', () => {
  it('escapes markup and removes characters that XML does not allow', () => {
    expect(escapeXml(`<a b="c" d='e'>&\u0000\u0008\uFFFE🐉\n`)).toBe(
      '&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;🐉\n',
    );
  });
});
