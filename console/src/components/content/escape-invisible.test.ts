import { expect, it } from 'vitest';
import { escapeInvisible } from './escape-invisible.ts';

it('escapes bidirectional control characters', () => {
  expect(escapeInvisible('report\u202Efdp.exe')).toBe('report[U+202E]fdp.exe');
  expect(escapeInvisible('a\u200Bb\uFEFF')).toBe('a[U+200B]b[U+FEFF]');
});

it('keeps text of all scripts', () => {
  const text = 'שלום, мир, 世界, 👩‍👩‍👧';
  expect(escapeInvisible(text)).toBe(text);
});
