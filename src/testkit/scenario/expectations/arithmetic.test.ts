import { describe, expect, it } from 'vitest';
import { calculate } from './arithmetic.ts';

describe('calculate', () => {
  it.each([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['7 / 2', '3.5'],
    ['8 / 2', '4.0'],
    ['7 // 2', '3'],
    ['-7 // 2', '-4'],
    ['-7 % 3', '2'],
    ['2 ** 3 ** 2', '512'],
    ['-2 ** 2', '-4'],
    ['2 ** -1', '0.5'],
    ['1.5 * 2', '3.0'],
    ['10-4-3', '3'],
  ])('evaluates %s like Python', (expression, result) => {
    expect(calculate(expression)).toBe(result);
  });

  it.each(['', '1 +', '(1', '1)', 'a', '1 / 0', 'process.exit()', '2 3', '1..2'])(
    'returns undefined for %j',
    (expression) => {
      expect(calculate(expression)).toBeUndefined();
    },
  );
});
