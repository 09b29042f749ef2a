import { describe, expect, it } from 'vitest';
import { initialWindow, tailWindow, extendBackward, extendForward } from './text-window.ts';

const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at}`).join('\n');
const cut = (text: string, { start, end }: { start: number; end: number }) => text.slice(start, end);

describe('text window', () => {
  it('contains a short text completely', () => {
    expect(tailWindow('short')).toBe(initialWindow);
    expect(cut('short', initialWindow)).toBe('short');
  });

  it('shows the end of a growing text from the start of a line', () => {
    const shown = cut(lines, tailWindow(lines));
    expect(shown).toMatch(/^line \d+\n[^]*\nline 2999$/);
    expect(shown.length).toBeGreaterThan(7_500);
    expect(shown.length).toBeLessThanOrEqual(8_000);
  });

  it('never splits a surrogate pair', () => {
    for (const odd of ['', 'x']) {
      const text = odd + '😀'.repeat(9_000);
      expect(cut(text, tailWindow(text)).codePointAt(0)).toBe(0x1f600);
    }
  });

  it('expands at both ends without a gap', () => {
    let shown = tailWindow(lines);
    for (let i = 0; i < 3; i++) {
      const more = extendBackward(lines, shown);
      expect(cut(lines, more).endsWith(cut(lines, shown))).toBe(true);
      shown = more;
    }
    expect(cut(lines, shown)).toBe(lines);
    expect(extendForward(initialWindow)).toEqual({ start: 0, end: 32_000 });
  });
});
