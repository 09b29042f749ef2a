import { describe, expect, it } from 'vitest';
import { constantTimeEqual } from './constant-time-equal.ts';

describe('constantTimeEqual', () => {
  it.each([
    ['secret', 'secret', true],
    ['secret', 'Secret', false],
    ['secret', 'secret2', false],
    ['', '', true],
    ['secret', '', false],
  ])('compares %j with %j', (a, b, isEqual) => {
    expect(constantTimeEqual(a, b)).toBe(isEqual);
  });
});
