import { describe, expect, it } from 'vitest';
import { replaceFormFields } from './form-fields.ts';

const replace = (text: string): string =>
  replaceFormFields(text, (name) => /^(?:token|x-key)$/i.test(name), '[redacted]');

describe('replaceFormFields', () => {
  it.each([
    ['token=a&b=c&TOKEN=d', 'token=[redacted]&b=c&TOKEN=[redacted]'],
    ['/path?b=c&x-key=d e', '/path?b=c&x-key=[redacted] e'],
    ['"token=a" b', '"token=[redacted]" b'],
    ['next=/login?token=a&b', 'next=/login?token=[redacted]&b'],
    ['token=a?x-key=b&c', 'token=[redacted]&c'],
    ['token=a=b token=', 'token=[redacted] token='],
    ['token==', 'token=[redacted]'],
  ])('replaces secret values in %s', (text, expected) => {
    expect(replace(text)).toBe(expected);
  });

  it.each(['', 'token', 'mytoken=a', 'a token b=c', ' = '])('keeps %j', (text) => {
    expect(replace(text)).toBe(text);
  });
});
