import { expect, it } from 'vitest';
import { visible } from './escape-invisible.ts';

it('shows what would turn a text around', () => {
  expect(visible('report\u202Efdp.exe')).toBe('report[U+202E]fdp.exe');
  expect(visible('a\u200Bb\uFEFF')).toBe('a[U+200B]b[U+FEFF]');
});

it('leaves every script as it is', () => {
  const text = 'שלום, мир, 世界, 👩‍👩‍👧';
  expect(visible(text)).toBe(text);
});
