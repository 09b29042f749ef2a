import { describe, expect, it } from 'vitest';
import { truncate } from './text.ts';

describe('truncate', () => {
  it('returns short texts unchanged', () => {
    expect(truncate('abc', 3)).toBe('abc');
    expect(truncate('abc', 3, { showLength: true })).toBe('abc');
  });

  it('limits the result to maxLength including the mark', () => {
    expect(truncate('abcd', 3)).toBe('ab…');
    expect(truncate('abcd', 0)).toBe('…');
  });

  it('appends the original length with showLength', () => {
    expect(truncate('abcd', 3, { showLength: true })).toBe('abc… (4 characters)');
  });
});
