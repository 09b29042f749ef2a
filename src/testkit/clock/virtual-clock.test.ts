import { describe, expect, it } from 'vitest';
import type { Clock } from '../../primitives/clock.ts';
import { startRawServer } from '../../../test/support/http/raw-server.ts';
import { systemTestClock, type TestClock } from './test-clock.ts';
import { VirtualClock } from './virtual-clock.ts';

const minutes = 60_000;

it('test clocks implement Clock and start at the system time', () => {
  const testClocks: TestClock[] = [systemTestClock, new VirtualClock()];
  const clocks: Clock[] = testClocks;
  for (const each of clocks) expect(Math.abs(each.now() - Date.now())).toBeLessThan(minutes);
});

describe('VirtualClock.advance', () => {
  it('runs a timer only after its due time is reached', async () => {
    const clock = new VirtualClock({ start: 1_000 });
    const seen: number[] = [];
    clock.after(5, () => seen.push(clock.now()));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(seen).toEqual([]);
    expect(clock.now()).toBe(1_000);
    expect(clock.next).toBe(1_005);
    await clock.advance(4);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen).toEqual([1_005]);
    expect(clock.pending).toBe(0);
  });

  it('runs timers in order of due time, including those that timers set', async () => {
    const clock = new VirtualClock({ start: 0 });
    const seen: string[] = [];
    const record = (name: string) => seen.push(`${name} at ${clock.now()}`);
    clock.after(30, () => record('third'));
    clock.after(10, () => {
      record('first');
      void clock.sleep(10).then(() => record('second, set by the first'));
    });
    clock.after(30, () => record('fourth, set later'));
    await clock.advance(100);
    expect(seen).toEqual([
      'first at 10',
      'second, set by the first at 20',
      'third at 30',
      'fourth, set later at 30',
    ]);
    expect(clock.now()).toBe(100);
  });

  it('adds up concurrent calls and never goes back', async () => {
    const clock = new VirtualClock({ start: 0 });
    await Promise.all([clock.advance(10), clock.advance(20)]);
    expect(clock.now()).toBe(30);
    await clock.advanceTo(7);
    expect(clock.now()).toBe(30);
  });

  it('does not run canceled timers', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    const cancel = clock.after(10, () => seen.push('canceled'));
    const other = clock.after(5, () => {
      seen.push('ran');
      cancel();
      other();
    });
    await clock.advance(50);
    expect(seen).toEqual(['ran']);
    expect(clock.pending).toBe(0);
  });

  it('runs an interval until it is stopped, even within a tick', async () => {
    const clock = new VirtualClock({ start: 0 });
    const ticks: number[] = [];
    const stop = clock.every(10, () => {
      ticks.push(clock.now());
      if (ticks.length === 3) stop();
    });
    await clock.advance(1_000);
    expect(ticks).toEqual([10, 20, 30]);
    expect(clock.pending).toBe(0);
  });

  it('rejects sleep with CANCELED when the signal aborts', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(1_000, controller.signal);
    controller.abort();
    await expect(sleeping).rejects.toMatchObject({ reason: 'CANCELED' });
    expect(clock.pending).toBe(0);
  });

  it('rejects when a timer reschedules itself without delay', async () => {
    const clock = new VirtualClock({ start: 0, maxStops: 50 });
    let runs = 0;
    const reschedule = (): void => {
      runs++;
      clock.after(0, reschedule);
    };
    reschedule();
    await clock.advance(20);
    expect(runs).toBe(21);
    await expect(clock.advance(1_000)).rejects.toThrow('The clock reached 50 due times');
    // The clock still works.
    await clock.advance(1);
  });

  it('rejects with the error of a timer', async () => {
    const clock = new VirtualClock();
    clock.after(1, () => {
      throw new Error('broken');
    });
    await expect(clock.advance(1)).rejects.toThrow('broken');
  });
});

describe('VirtualClock with auto', () => {
  it('passes ten minutes without real waiting', async () => {
    const clock = new VirtualClock({ start: 0, auto: true });
    const startedAt = performance.now();
    for (let minute = 0; minute < 10; minute++) await clock.sleep(minutes);
    expect(clock.now()).toBe(10 * minutes);
    // A bound against real waiting, not a measurement.
    expect(performance.now() - startedAt).toBeLessThan(minutes);
  });

  it('keeps the order of time among many parallel sleepers', async () => {
    const clock = new VirtualClock({ start: 0, auto: true });
    const seen: { at: number; sleeper: number }[] = [];
    await Promise.all(
      Array.from({ length: 500 }, async (_, sleeper) => {
        for (let step = 1; step <= 3; step++) {
          await clock.sleep(1_000 + ((sleeper * 7919) % 500));
          seen.push({ at: clock.now(), sleeper });
        }
      }),
    );
    expect(seen).toHaveLength(1_500);
    expect(seen.map(({ at }) => at)).toEqual(seen.map(({ at }) => at).toSorted((a, b) => a - b));
  });

  it('waits for pending socket data before it advances', async () => {
    await using server = await startRawServer((_request, response) => response.end('here'));
    const clock = new VirtualClock({ auto: true });
    const outcome = await Promise.race([
      fetch(server.url).then((response) => response.text()),
      // An hour passes at once if the process is idle.
      clock.sleep(60 * minutes).then(() => 'too late'),
    ]);
    expect(outcome).toBe('here');
  });

  it('does not advance for intervals alone', async () => {
    const clock = new VirtualClock({ start: 0, auto: true });
    const ticks: number[] = [];
    const stop = clock.every(1_000, () => ticks.push(clock.now()));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(clock.now()).toBe(0);
    await clock.sleep(3_500);
    expect(ticks).toEqual([1_000, 2_000, 3_000]);
    stop();
  });

  it('supports advance, isAuto = false and clear', async () => {
    const clock = new VirtualClock({ start: 0, auto: true });
    await clock.advance(5_000);
    expect(clock.now()).toBe(5_000);
    clock.isAuto = false;
    clock.after(10, () => {
      throw new Error('was not cleared');
    });
    await clock.advance(5);
    expect(clock.now()).toBe(5_005);
    clock.clear();
    clock.isAuto = true;
    await clock.sleep(1_000);
    expect(clock.now()).toBe(6_005);
  });
});
