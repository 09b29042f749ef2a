import { describe, expect, it } from 'vitest';
import { compositeKey } from './composite-key.ts';

describe('compositeKey', () => {
  it('returns different keys for different parts', () => {
    const parts = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['', 'abc'], ['1:a'], ['a'], []];
    expect(new Set(parts.map((each) => compositeKey(...each))).size).toBe(parts.length);
    expect(compositeKey('a', 'b')).toBe(compositeKey('a', 'b'));
  });
});
