import { expect, it } from 'vitest';
import { drawDuration } from './duration.ts';
import { SeededRandom } from './random.ts';

const many = <T>(draw: () => T): T[] => Array.from({ length: 10_000 }, draw);

it('repeats itself with the same seed and with no other', () => {
  const first = new SeededRandom('seed');
  const again = new SeededRandom('seed');
  const other = new SeededRandom(7);
  const numbers = many(() => first.next());
  expect(many(() => again.next())).toEqual(numbers);
  expect(many(() => other.next())).not.toEqual(numbers);
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...numbers)).toBeLessThan(1);
});

it('is spread evenly', () => {
  const random = new SeededRandom(1);
  const counts = [0, 0, 0, 0, 0, 0];
  for (const face of many(() => random.integer(1, 6))) counts[face - 1] = (counts[face - 1] ?? 0) + 1;
  for (const count of counts) expect(Math.abs(count - 10_000 / 6)).toBeLessThan(200);
});

it('has a source for each name, whoever draws meanwhile', () => {
  const random = new SeededRandom('seed');
  const fork = random.fork('task').next();
  random.next();
  expect(random.fork('task').next()).toBe(fork);
  expect(random.fork('other').next()).not.toBe(fork);
});

it('draws durations: fixed, evenly from a range, and around a mean but never less than none', () => {
  const random = new SeededRandom(3);
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
