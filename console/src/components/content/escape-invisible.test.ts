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

it('escapes controls, and keeps line ends and joined emoji', () => {
  expect(escapeInvisible('a\u001B[31m\u061C\u2066')).toBe('a[U+001B][31m[U+061C][U+2066]');
  expect(escapeInvisible('a\r\n\tb \u{1F468}\u200D\u{1F469}')).toBe('a\r\n\tb \u{1F468}\u200D\u{1F469}');
});
