import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RecencyEntry, RecencyIndex } from './recency-index.ts';

interface Thing extends RecencyEntry {
  name: number;
}

/** The same as a plain list that is sorted whenever somebody asks. */
class Naive {
  things: Thing[] = [];

  before(touched: number): number[] {
    return this.things
      .filter((thing) => thing.touched < touched)
      .sort((a, b) => b.touched - a.touched)
      .map(({ name }) => name);
  }
}

describe('Recency', () => {
  it('is the same as a sorted list, whatever is done to it', () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), name: fc.nat(60) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('move' as const), name: fc.nat(60) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), name: fc.nat(60) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: 'max' }), fc.nat(700), (steps, place) => {
        const recency = new RecencyIndex<Thing>();
        const naive = new Naive();
        let touched = 0;
        for (const { kind, name } of steps) {
          const there = naive.things.find((thing) => thing.name === name);
          if (there && kind !== 'add') {
            recency.remove(there);
            naive.things = naive.things.filter((thing) => thing !== there);
          }
          if ((there && kind === 'move') || (!there && kind === 'add')) {
            const thing = there ?? { name, touched: 0 };
            thing.touched = ++touched;
            recency.add(thing);
            naive.things.push(thing);
          }
        }
        const names = (from: number): number[] => [...recency.before(from)].map((thing) => thing.name);
        expect(recency.size).toBe(naive.things.length);
        expect(names(Number.POSITIVE_INFINITY)).toEqual(naive.before(Number.POSITIVE_INFINITY));
        expect(names(place)).toEqual(naive.before(place));
      }),
      { numRuns: 200 },
    );
  });

  it('ignores a thing that is not where it says it is', () => {
    const recency = new RecencyIndex<Thing>();
    const [a, b] = [
      { name: 1, touched: 1 },
      { name: 2, touched: 2 },
    ];
    recency.add(a);
    recency.add(b);
    recency.remove(a, 2);
    recency.remove({ name: 3, touched: 1 });
    expect(recency.size).toBe(2);
  });

  it('keeps the place of a page while it is swept', () => {
    const recency = new RecencyIndex<Thing>();
    const things = Array.from({ length: 1_000 }, (_, n) => ({ name: n, touched: n + 1 }));
    for (const thing of things) recency.add(thing);
    for (const thing of things.slice(10)) recency.remove(thing);
    expect([...recency.before(6)].map(({ name }) => name)).toEqual([4, 3, 2, 1, 0]);
    recency.add({ name: 1_000, touched: 1_001 });
    expect([...recency.before(Number.POSITIVE_INFINITY)]).toHaveLength(11);
  });
});
