import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../seeded-random.ts';
import { FaultSelector } from './fault-selector.ts';
import type { Fault } from './fault.ts';

const disconnect: Fault = { kind: 'disconnect' };

describe('FaultSelector', () => {
  it('selects a fault at most `times` times', () => {
    const twice: Fault = { kind: 'unauthorized', times: 2 };
    const selector = new FaultSelector(createSeededRandom(1));
    const selectKinds = () => selector.select([twice, disconnect]).map(({ kind }) => kind);
    expect([selectKinds(), selectKinds(), selectKinds()]).toEqual([
      ['unauthorized', 'disconnect'],
      ['unauthorized', 'disconnect'],
      ['disconnect'],
    ]);
    selector.reset();
    expect(selectKinds()).toEqual(['unauthorized', 'disconnect']);
  });

  it('selects selector by `on`', () => {
    const card: Fault = { kind: 'delay', duration: 1, on: 'card' };
    const any: Fault = { kind: 'reset', on: 'any' };
    const selector = new FaultSelector(createSeededRandom(1));
    expect(selector.select([disconnect, card, any])).toEqual([disconnect, any]);
    expect(selector.select([disconnect, card, any], 'card')).toEqual([card, any]);
  });

  it('selects selector by probability, reproducibly with the same seed', () => {
    const some: Fault = { kind: 'disconnect', probability: 0.3 };
    const run = (seed: number): boolean[] => {
      const selector = new FaultSelector(createSeededRandom(seed));
      return Array.from({ length: 2_000 }, () => selector.select([some]).length === 1);
    };
    const selectedCount = run(5).filter(Boolean).length;
    expect(Math.abs(selectedCount - 600)).toBeLessThan(80);
    expect(run(5)).toEqual(run(5));
    expect(run(5)).not.toEqual(run(6));
  });
});
