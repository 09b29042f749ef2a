import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RecencyEntry, RecencyIndex } from './recency-index.ts';

interface NamedEntry extends RecencyEntry {
  name: number;
}

/** Reference implementation: a list that is sorted on every read. */
class SortedList {
  entries: NamedEntry[] = [];

  before(touched: number): number[] {
    return this.entries
      .filter((entry) => entry.touched < touched)
      .sort((a, b) => b.touched - a.touched)
      .map(({ name }) => name);
  }
}

describe('RecencyIndex', () => {
  it('matches a sorted list after any sequence of operations', () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), name: fc.nat(60) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('move' as const), name: fc.nat(60) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), name: fc.nat(60) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: 'max' }), fc.nat(700), (steps, position) => {
        const index = new RecencyIndex<NamedEntry>();
        const reference = new SortedList();
        let touched = 0;
        for (const { kind, name } of steps) {
          const existing = reference.entries.find((entry) => entry.name === name);
          if (existing && kind !== 'add') {
            index.remove(existing);
            reference.entries = reference.entries.filter((entry) => entry !== existing);
          }
          if ((existing && kind === 'move') || (!existing && kind === 'add')) {
            const entry = existing ?? { name, touched: 0 };
            entry.touched = ++touched;
            index.add(entry);
            reference.entries.push(entry);
          }
        }
        const names = (from: number): number[] => [...index.before(from)].map((entry) => entry.name);
        expect(index.size).toBe(reference.entries.length);
        expect(names(Number.POSITIVE_INFINITY)).toEqual(reference.before(Number.POSITIVE_INFINITY));
        expect(names(position)).toEqual(reference.before(position));
      }),
      { numRuns: 200 },
    );
  });

  it('ignores the removal of an entry that is not at its position', () => {
    const index = new RecencyIndex<NamedEntry>();
    const [a, b] = [
      { name: 1, touched: 1 },
      { name: 2, touched: 2 },
    ];
    index.add(a);
    index.add(b);
    index.remove(a, 2);
    index.remove({ name: 3, touched: 1 });
    expect(index.size).toBe(2);
  });

  it('keeps page positions after compaction', () => {
    const index = new RecencyIndex<NamedEntry>();
    const entries = Array.from({ length: 1_000 }, (_, n) => ({ name: n, touched: n + 1 }));
    for (const entry of entries) index.add(entry);
    for (const entry of entries.slice(10)) index.remove(entry);
    expect([...index.before(6)].map(({ name }) => name)).toEqual([4, 3, 2, 1, 0]);
    index.add({ name: 1_000, touched: 1_001 });
    expect([...index.before(Number.POSITIVE_INFINITY)]).toHaveLength(11);
  });
});
