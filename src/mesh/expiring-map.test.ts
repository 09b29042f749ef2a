import { expect, it } from 'vitest';
import { ExpiringMap } from './expiring-map.ts';

function remembering(isNeeded?: (value: string) => boolean) {
  let now = 0;
  const clock = { now: () => now, after: () => () => {}, every: () => () => {} };
  const kept = new ExpiringMap<string>({ size: 3, age: 100, clock, isNeeded });
  return { kept, pass: (milliseconds: number) => (now += milliseconds) };
}

it('forgets what was not put for the longest time first', () => {
  const { kept } = remembering();
  for (const key of ['a', 'b', 'c']) kept.set(key, key);
  kept.set('a', 'again');
  kept.set('d', 'd');
  expect([...kept.values()]).toEqual(['c', 'again', 'd']);
});

it('forgets what is too old', () => {
  const { kept, pass } = remembering();
  kept.set('a', 'a');
  pass(99);
  expect(kept.get('a')).toBe('a');
  pass(1);
  expect(kept.get('a')).toBeUndefined();
  expect(kept.size).toBe(0);
});

it('keeps what is needed', () => {
  const { kept, pass } = remembering((value) => value === 'a');
  for (const key of ['a', 'b', 'c', 'd']) kept.set(key, key);
  pass(1000);
  kept.set('e', 'e');
  expect(kept.get('a')).toBe('a');
  expect(kept.get('d')).toBeUndefined();
});
