import { describe, expect, it } from 'vitest';
import { asJsonObject, copyJson, freezeJson, isJsonObject, parseJsonOrUndefined } from './json.ts';

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

describe('copyJson', () => {
  it('copies objects and lists', () => {
    const value = { a: [{ b: 1 }], c: 'x', d: null, e: undefined };
    const copy = copyJson(value);
    expect(copy).toStrictEqual(value);
    expect(copy.a).not.toBe(value.a);
    expect(copy.a[0]).not.toBe(value.a[0]);
  });

  it('preserves a member named __proto__', () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":[1]}}');
    expect(JSON.stringify(copyJson(value))).toBe('{"__proto__":{"a":[1]}}');
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  it('replaces other objects by their JSON form', () => {
    expect(copyJson({ at: new Date(0), url: new URL('http://a.example') })).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      url: 'http://a.example/',
    });
  });
});

describe('freezeJson', () => {
  it('makes all members immutable', () => {
    const value = freezeJson({ a: [{ b: 1 }] });
    expect(() => value.a.push({ b: 2 })).toThrow(TypeError);
    expect(() => Object.assign(value.a[0] ?? {}, { b: 2 })).toThrow(TypeError);
  });
});
