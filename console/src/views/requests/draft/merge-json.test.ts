import { describe, expect, it } from 'vitest';
import { mergeJson } from './merge-json.ts';

describe('mergeJson', () => {
  it.each([
    ['keeps members that the form does not know', { a: 1, x: 9 }, { a: 1 }, { a: 2 }, { a: 2, x: 9 }],
    ['removes members', { a: 1, x: 9 }, { a: 1 }, {}, { x: 9 }],
    ['adds members', { x: 9 }, {}, { a: { b: 1 } }, { x: 9, a: { b: 1 } }],
    ['merges items of lists of the same length', [{ a: 1, x: 9 }], [{ a: 1 }], [{ a: 2 }], [{ a: 2, x: 9 }]],
    ['replaces lists of another length', [{ a: 1, x: 9 }], [{ a: 1 }], [], []],
    ['changes nothing without a difference', { a: 7 }, { a: 1 }, { a: 1 }, { a: 7 }],
  ])('%s', (_what, written, before, after, expected) => {
    expect(mergeJson(written, before, after)).toEqual(expected);
  });

  it('treats __proto__ as a name like others', () => {
    const written: unknown = JSON.parse('{"__proto__": {"a": 1}, "b": 1}');
    expect(JSON.stringify(mergeJson(written, { b: 1 }, { b: 2 }))).toBe('{"__proto__":{"a":1},"b":2}');
  });
});
