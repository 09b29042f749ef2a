import { describe, expect, it } from 'vitest';
import { HostLimiter, type ReleaseSlot } from './host-limiter.ts';

/** Records the order in which deliveries acquire a slot. */
function trackSlots(limiter: HostLimiter) {
  const acquired: string[] = [];
  const releases = new Map<string, ReleaseSlot>();
  return {
    acquired,
    acquire: (name: string, host: string) => {
      void limiter.acquire(host).then((release) => {
        acquired.push(name);
        releases.set(name, release);
      });
    },
    release: async (name: string, isHanging = false) => {
      releases.get(name)?.(isHanging);
      await flush();
    },
  };
}

/** Waits until all pending microtasks have run. */
const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('HostLimiter', () => {
  it('limits concurrent deliveries per host and queues the rest in order', async () => {
    const { acquired, acquire, release } = trackSlots(new HostLimiter(2, 10));
    for (const name of ['a', 'b', 'c', 'd']) acquire(name, 'x');
    acquire('e', 'y');
    await flush();
    expect(acquired).toEqual(['a', 'b', 'e']);
    await release('b');
    expect(acquired).toEqual(['a', 'b', 'e', 'c']);
    await release('a');
    expect(acquired).toEqual(['a', 'b', 'e', 'c', 'd']);
  });

  it('limits concurrent deliveries in total and serves hosts round-robin', async () => {
    const limiter = new HostLimiter(8, 2);
    const { acquired, acquire, release } = trackSlots(limiter);
    for (const name of ['a', 'b', 'c', 'd']) acquire(name, 'x');
    for (const name of ['e', 'f']) acquire(name, 'y');
    await flush();
    expect(acquired).toEqual(['a', 'b']);
    for (const name of ['a', 'b', 'c']) await release(name);
    expect(acquired.slice(2)).toEqual(['c', 'e', 'd']);
    expect(limiter.inFlight).toBe(2);
  });

  it('limits a hanging host to one slot until it responds', async () => {
    const { acquired, acquire, release } = trackSlots(new HostLimiter(4, 10));
    acquire('a', 'x');
    await flush();
    await release('a', true);
    for (const name of ['b', 'c', 'd', 'e']) acquire(name, 'x');
    await flush();
    expect(acquired).toEqual(['a', 'b']);
    await release('b');
    expect(acquired).toEqual(['a', 'b', 'c', 'd']);
  });

  it('ignores a second release', async () => {
    const limiter = new HostLimiter(1, 1);
    const { acquire, release } = trackSlots(limiter);
    acquire('a', 'x');
    await flush();
    await release('a');
    await release('a');
    expect(limiter.inFlight).toBe(0);
  });
});
