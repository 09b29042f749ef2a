import { describe, expect, it } from 'vitest';
import { compareValues } from './compare-values.ts';

function pathsOf(expected: unknown, actual: unknown): string[] {
  return compareValues(expected, actual, 'x').map(({ path, problem }) => `${path}: ${problem}`);
}

describe('the comparison', () => {
  it.each([
    ['a mapping by the keys that are named', { a: 1 }, { a: 1, b: 2 }],
    ['mappings within mappings', { a: { b: [{ c: true }] } }, { a: { b: [{ c: true, d: 1 }], e: 1 } }],
    ['a list by the places that are named', [1], [1, 2]],
    ['texts with other line ends', { a: 'x\ny' }, { a: 'x\r\ny' }],
    ['a key that matches as a whole', { a_matches_regex: '^Re.*:\\s.*' }, { a: 'Request: now' }],
    ['a key that contains', { a_contains: 'quest' }, { a: 'Request' }],
    ['a key that contains several', { a_contains: ['Re', 'st'] }, { a: 'Request' }],
    ['a list that contains', { a_contains: [{ b: 1 }] }, { a: [{ b: 2 }, { b: 1, c: 1 }] }],
    ['a value that matches somewhere', { a: { _regex: 'que' } }, { a: 'Request' }],
    ['a key that is really called so', { a_contains: 'b' }, { a_contains: 'b' }],
    ['nothing with nothing', { a: null }, {}],
  ])('takes %s', (_what, expected, actual) => {
    expect(pathsOf(expected, actual)).toEqual([]);
  });

  it.each([
    ['another value', { a: 1 }, { a: 2 }, ['x.a: is not the same']],
    ['a missing key', { a: 1 }, { b: 1 }, ['x.a: is missing']],
    ['a list that is too short', { a: [1, 2] }, { a: [1] }, ['x.a[1]: is missing']],
    ['a list in another order', [1, 2], [2, 1], ['x[0]: is not the same', 'x[1]: is not the same']],
    ['a text for a mapping', { a: { b: 1 } }, { a: 'b' }, ['x.a: is no mapping']],
    ['a text for a list', { a: [1] }, { a: '1' }, ['x.a: is no list']],
    ['half a match', { a_matches_regex: 'que' }, { a: 'Request' }, ['x.a_matches_regex: does not match']],
    ['no match', { a: { _regex: 'z' } }, { a: 'Request' }, ['x.a: does not match']],
    [
      'what is not in it',
      { a_contains: ['Re', 'z'] },
      { a: 'Request' },
      ['x.a_contains: does not contain it'],
    ],
    ['a number for a text', { a: '1' }, { a: 1 }, ['x.a: is not the same']],
    [
      'every difference',
      { a: 1, b: { c: 2 } },
      { a: 2, b: { c: 3 } },
      ['x.a: is not the same', 'x.b.c: is not the same'],
    ],
  ])('finds %s', (_what, expected, actual, found) => {
    expect(pathsOf(expected, actual)).toEqual(found);
  });

  it('tells what was expected and what was there', () => {
    expect(compareValues({ a: 'x' }, { a: 'y' }, 'p')).toEqual([
      { path: 'p.a', problem: 'is not the same', expected: 'x', actual: 'y' },
    ]);
  });
});
