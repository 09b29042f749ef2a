import { expect, it } from 'vitest';
import { publishCopying, sharedViewOf } from './shared-view.ts';

it('returns the object without copies', () => {
  const shared = { read: () => 1 };
  const copying = publishCopying({ read: () => 2 }, shared);
  expect(sharedViewOf(copying)).toBe(shared);
});

it('returns the object itself if it was not published', () => {
  const other = {};
  expect(sharedViewOf(other)).toBe(other);
});

it('returns the object itself after a member was replaced or added', () => {
  const replaced = publishCopying({ read: () => 2 }, { read: () => 1 });
  replaced.read = () => 3;
  expect(sharedViewOf(replaced)).toBe(replaced);
  const extended = publishCopying<{ read(): number; close?(): void }>({ read: () => 2 }, { read: () => 1 });
  extended.close = () => {};
  expect(sharedViewOf(extended)).toBe(extended);
});
