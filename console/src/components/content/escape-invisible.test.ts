import { expect, it } from 'vitest';
import { escapeInvisible } from './escape-invisible.ts';

it('shows what would turn a text around', () => {
  expect(escapeInvisible('report\u202Efdp.exe')).toBe('report[U+202E]fdp.exe');
  expect(escapeInvisible('a\u200Bb\uFEFF')).toBe('a[U+200B]b[U+FEFF]');
});

it('leaves every script as it is', () => {
  const text = 'שלום, мир, 世界, 👩‍👩‍👧';
  expect(escapeInvisible(text)).toBe(text);
});
