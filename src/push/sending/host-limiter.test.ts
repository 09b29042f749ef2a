import { describe, expect, it } from 'vitest';
import { HostLimiter, type ReleaseSlot } from './host-limiter.ts';

/** Those who got in, in order. */
function crowd(lanes: HostLimiter) {
  const inside: string[] = [];
  const leaves = new Map<string, ReleaseSlot>();
  return {
    inside,
    enter: (name: string, host: string) => {
      void lanes.acquire(host).then((leave) => {
        inside.push(name);
        leaves.set(name, leave);
      });
    },
    leave: async (name: string, isHanging = false) => {
      leaves.get(name)?.(isHanging);
      await settled();
    },
  };
}

/** Lets everything happen that waits for nothing. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('lanes', () => {
  it('let in as many as fit on the way to one host, the others in order', async () => {
    const { inside, enter, leave } = crowd(new HostLimiter(2, 10));
    for (const name of ['a', 'b', 'c', 'd']) enter(name, 'x');
    enter('e', 'y');
    await settled();
    expect(inside).toEqual(['a', 'b', 'e']);
    await leave('b');
    expect(inside).toEqual(['a', 'b', 'e', 'c']);
    await leave('a');
    expect(inside).toEqual(['a', 'b', 'e', 'c', 'd']);
  });

  it('let in no more than fit altogether, and hosts take turns', async () => {
    const lanes = new HostLimiter(8, 2);
    const { inside, enter, leave } = crowd(lanes);
    for (const name of ['a', 'b', 'c', 'd']) enter(name, 'x');
    for (const name of ['e', 'f']) enter(name, 'y');
    await settled();
    expect(inside).toEqual(['a', 'b']);
    for (const name of ['a', 'b', 'c']) await leave(name);
    expect(inside.slice(2)).toEqual(['c', 'e', 'd']);
    expect(lanes.inFlight).toBe(2);
  });

  it('leave one place to a host that hangs, until it answers', async () => {
    const { inside, enter, leave } = crowd(new HostLimiter(4, 10));
    enter('a', 'x');
    await settled();
    await leave('a', true);
    for (const name of ['b', 'c', 'd', 'e']) enter(name, 'x');
    await settled();
    expect(inside).toEqual(['a', 'b']);
    await leave('b');
    expect(inside).toEqual(['a', 'b', 'c', 'd']);
  });

  it('count nobody out twice', async () => {
    const lanes = new HostLimiter(1, 1);
    const { enter, leave } = crowd(lanes);
    enter('a', 'x');
    await settled();
    await leave('a');
    await leave('a');
    expect(lanes.inFlight).toBe(0);
  });
});
