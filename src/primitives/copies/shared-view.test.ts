import { expect, it } from 'vitest';
import { isUnmodified, publishCopying, sharedViewOf } from './shared-view.ts';

it('returns the object without copies', () => {
  const shared = { read: () => 1 };
  const copying = publishCopying({ read: () => 2 }, shared);
  expect(sharedViewOf(copying)).toBe(shared);
});

it('returns the object itself if it was not published', () => {
  const other = {};
  expect(sharedViewOf(other)).toBe(other);
});

it('uses a replaced member, and the others without copies', () => {
  const published = () =>
    publishCopying({ read: () => 2, write: () => 2 }, { read: () => 1, write: () => 1 });
  const replaced = published();
  replaced.read = () => 3;
  for (const object of [replaced, { ...published(), read: () => 3 }]) {
    const view = sharedViewOf(object);
    expect([view.read(), view.write()]).toEqual([3, 1]);
    expect(isUnmodified(object)).toBe(false);
  }
});

it('returns the members of a copy of the object without copies, bound to their objects', () => {
  class Shared {
    #value = 1;
    read(): number {
      return this.#value;
    }
  }
  const copy = {
    ...publishCopying<Pick<Shared, 'read'>>({ read: () => 2 }, new Shared()),
    count: 0,
    own: countOwn,
  };
  function countOwn(this: { count: number }): number {
    return ++this.count;
  }
  const view = sharedViewOf(copy);
  expect([view.read(), view.own(), copy.count]).toEqual([1, 1, 1]);
});

it('returns an instance of a class unchanged', () => {
  class Wrapper {
    readonly read = publishCopying({ read: () => 2 }, { read: () => 1 }).read;
  }
  const wrapper = new Wrapper();
  expect(sharedViewOf(wrapper)).toBe(wrapper);
});
