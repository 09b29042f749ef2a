import { describe, expect, it } from 'vitest';
import { LruMap, LruSet } from './lru-map.ts';

describe('LruMap', () => {
  it('evicts the least recently used entry', () => {
    const map = new LruMap<string, number>({ maxEntries: 2 });
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3]);
    expect([...map.values()]).toEqual([1, 3]);
    expect([map.has('c'), map.delete('c'), map.has('c'), map.size]).toEqual([true, true, false, 1]);
    map.clear();
    expect(map.size).toBe(0);
  });

  it('expires entries maxAge after they were set', () => {
    let now = 0;
    const map = new LruMap<string, number>({ maxEntries: 9, maxAge: 10, clock: { monotonic: () => now } });
    map.set('a', 1);
    now = 9;
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    now = 10;
    expect([map.has('a'), [...map.values()], map.get('a'), map.size]).toEqual([false, [2], undefined, 1]);
  });

  it('retains entries that must not be evicted beyond size and age', () => {
    let now = 0;
    const needed = new Set([1]);
    const map = new LruMap<string, number>({
      maxEntries: 1,
      maxAge: 10,
      clock: { monotonic: () => now },
      canEvict: (value) => !needed.has(value),
    });
    map.set('a', 1);
    now = 20;
    map.set('b', 2);
    expect([map.get('a'), map.get('b')]).toEqual([1, undefined]);
    needed.clear();
    expect(map.get('a')).toBeUndefined();
  });
});

describe('LruSet', () => {
  it('evicts the least recently added key', () => {
    const set = new LruSet<string>({ maxEntries: 2 });
    for (const key of ['a', 'b', 'a', 'c']) set.add(key);
    expect([set.has('a'), set.has('b'), set.has('c'), set.size]).toEqual([true, false, true, 2]);
    expect([set.delete('a'), set.has('a')]).toEqual([true, false]);
    set.clear();
    expect(set.size).toBe(0);
  });
});
