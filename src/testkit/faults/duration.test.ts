import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../seeded-random.ts';
import { sampleDuration } from './duration.ts';

const many = <T>(sample: () => T): T[] => Array.from({ length: 10_000 }, sample);

describe('sampleDuration', () => {
  it('samples fixed, uniform and normal durations of at least 0', () => {
    const random = createSeededRandom(3);
    expect(sampleDuration(500, random)).toBe(500);
    const uniform = many(() => sampleDuration({ min: 10, max: 20 }, random));
    expect(Math.min(...uniform)).toBeGreaterThanOrEqual(10);
    expect(Math.max(...uniform)).toBeLessThan(20);
    const normal = many(() => sampleDuration({ mean: 1_000, deviation: 100 }, random));
    const mean = normal.reduce((sum, each) => sum + each, 0) / normal.length;
    expect(Math.abs(mean - 1_000)).toBeLessThan(10);
    const near = normal.filter((each) => Math.abs(each - 1_000) <= 100).length;
    expect(Math.abs(near - 6_827)).toBeLessThan(200);
    expect(Math.min(...many(() => sampleDuration({ mean: 1, deviation: 100 }, random)))).toBe(0);
  });

  it('samples the same durations with the same seed', () => {
    const samples = (seed: number): number[] => {
      const random = createSeededRandom(seed);
      return many(() => sampleDuration({ mean: 100, deviation: 30 }, random));
    };
    expect(samples(1)).toEqual(samples(1));
    expect(samples(1)).not.toEqual(samples(2));
  });
});
