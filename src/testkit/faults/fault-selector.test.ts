import { expect, it } from 'vitest';
import { createSeededRandom } from '../seeded-random.ts';
import { FaultSelector } from './fault-selector.ts';
import type { Fault } from './fault.ts';

const cut: Fault = { kind: 'cut' };

it('lets a fault strike as often as it may', () => {
  const twice: Fault = { kind: 'unauthorized', times: 2 };
  const faults = new FaultSelector(createSeededRandom(1));
  const strikes = () => faults.select([twice, cut]).map(({ kind }) => kind);
  expect([strikes(), strikes(), strikes()]).toEqual([
    ['unauthorized', 'cut'],
    ['unauthorized', 'cut'],
    ['cut'],
  ]);
  faults.reset();
  expect(strikes()).toEqual(['unauthorized', 'cut']);
});

it('lets a fault strike where it is meant to', () => {
  const card: Fault = { kind: 'delay', duration: 1, on: 'card' };
  const any: Fault = { kind: 'reset', on: 'any' };
  const faults = new FaultSelector(createSeededRandom(1));
  expect(faults.select([cut, card, any])).toEqual([cut, any]);
  expect(faults.select([cut, card, any], 'card')).toEqual([card, any]);
});

it('lets a fault strike by chance, and the same seed the same way', () => {
  const some: Fault = { kind: 'cut', chance: 0.3 };
  const run = (seed: number): boolean[] => {
    const faults = new FaultSelector(createSeededRandom(seed));
    return Array.from({ length: 2_000 }, () => faults.select([some]).length === 1);
  };
  const struck = run(5).filter(Boolean).length;
  expect(Math.abs(struck - 600)).toBeLessThan(80);
  expect(run(5)).toEqual(run(5));
  expect(run(5)).not.toEqual(run(6));
});
