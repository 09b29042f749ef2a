import { describe, expect, it } from 'vitest';
import { asJsonObject, isJsonObject, parseJsonOrUndefined } from './json.ts';

describe('isJsonObject', () => {
  it.each([
    [{}, true],
    [{ a: 1 }, true],
    [[], false],
    [null, false],
    ['{}', false],
    [undefined, false],
  ])('classifies %j', (value, isObject) => {
    expect(isJsonObject(value)).toBe(isObject);
    expect(asJsonObject(value)).toBe(isObject ? value : undefined);
  });
});

describe('parseJsonOrUndefined', () => {
  it('returns undefined for malformed text', () => {
    expect(parseJsonOrUndefined('{"a":1}')).toEqual({ a: 1 });
    expect(parseJsonOrUndefined('{"a":')).toBeUndefined();
  });
});
