import { describe, expect, it } from 'vitest';
import { compareValues } from './compare-values.ts';

function formatMismatches(expected: unknown, actual: unknown): string[] {
  return compareValues(expected, actual, 'x').map(({ path, problem }) => `${path}: ${problem}`);
}

describe('compareValues', () => {
  it.each([
    ['an object with additional keys', { a: 1 }, { a: 1, b: 2 }],
    ['nested objects', { a: { b: [{ c: true }] } }, { a: { b: [{ c: true, d: 1 }], e: 1 } }],
    ['a list with additional items', [1], [1, 2]],
    ['different line ends', { a: 'x\ny' }, { a: 'x\r\ny' }],
    ['a _matches_regex key', { a_matches_regex: '^Re.*:\\s.*' }, { a: 'Request: now' }],
    ['a _contains key', { a_contains: 'quest' }, { a: 'Request' }],
    ['a _contains key with several values', { a_contains: ['Re', 'st'] }, { a: 'Request' }],
    ['a _contains key for a list', { a_contains: [{ b: 1 }] }, { a: [{ b: 2 }, { b: 1, c: 1 }] }],
    ['a _regex value', { a: { _regex: 'que' } }, { a: 'Request' }],
    ['an actual key that ends in _contains', { a_contains: 'b' }, { a_contains: 'b' }],
    ['null with a missing key', { a: null }, {}],
  ])('accepts %s', (_name, expected, actual) => {
    expect(formatMismatches(expected, actual)).toEqual([]);
  });

  it.each([
    ['a different value', { a: 1 }, { a: 2 }, ['x.a: is different']],
    ['a missing key', { a: 1 }, { b: 1 }, ['x.a: is missing']],
    ['a list that is too short', { a: [1, 2] }, { a: [1] }, ['x.a[1]: is missing']],
    ['a list in a different order', [1, 2], [2, 1], ['x[0]: is different', 'x[1]: is different']],
    ['a string instead of an object', { a: { b: 1 } }, { a: 'b' }, ['x.a: is not an object']],
    ['a string instead of a list', { a: [1] }, { a: '1' }, ['x.a: is not a list']],
    ['a partial match', { a_matches_regex: 'que' }, { a: 'Request' }, ['x.a_matches_regex: does not match']],
    ['no match', { a: { _regex: 'z' } }, { a: 'Request' }, ['x.a: does not match']],
    [
      'a missing substring',
      { a_contains: ['Re', 'z'] },
      { a: 'Request' },
      ['x.a_contains: does not contain the value'],
    ],
    ['a number instead of a string', { a: '1' }, { a: 1 }, ['x.a: is different']],
    [
      'all mismatches',
      { a: 1, b: { c: 2 } },
      { a: 2, b: { c: 3 } },
      ['x.a: is different', 'x.b.c: is different'],
    ],
  ])('reports %s', (_name, expected, actual, mismatches) => {
    expect(formatMismatches(expected, actual)).toEqual(mismatches);
  });

  it('returns the expected and the actual value', () => {
    expect(compareValues({ a: 'x' }, { a: 'y' }, 'p')).toEqual([
      { path: 'p.a', problem: 'is different', expected: 'x', actual: 'y' },
    ]);
  });
});
