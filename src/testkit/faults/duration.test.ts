import { expect, it } from 'vitest';
import { createSeededRandom } from '../seeded-random.ts';
import { drawDuration } from './duration.ts';

const many = <T>(draw: () => T): T[] => Array.from({ length: 10_000 }, draw);

it('is drawn: fixed, evenly from a range, and around a mean but never less than none', () => {
  const random = createSeededRandom(3);
  expect(drawDuration(500, random)).toBe(500);
  const even = many(() => drawDuration({ min: 10, max: 20 }, random));
  expect(Math.min(...even)).toBeGreaterThanOrEqual(10);
  expect(Math.max(...even)).toBeLessThan(20);
  const normal = many(() => drawDuration({ mean: 1_000, deviation: 100 }, random));
  const mean = normal.reduce((sum, each) => sum + each, 0) / normal.length;
  expect(Math.abs(mean - 1_000)).toBeLessThan(10);
  const near = normal.filter((each) => Math.abs(each - 1_000) <= 100).length;
  expect(Math.abs(near - 6_827)).toBeLessThan(200);
  expect(Math.min(...many(() => drawDuration({ mean: 1, deviation: 100 }, random)))).toBe(0);
});

it('is the same with the same seed', () => {
  const draws = (seed: number): number[] => {
    const random = createSeededRandom(seed);
    return many(() => drawDuration({ mean: 100, deviation: 30 }, random));
  };
  expect(draws(1)).toEqual(draws(1));
  expect(draws(1)).not.toEqual(draws(2));
});
