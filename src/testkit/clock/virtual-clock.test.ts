import { describe, expect, it } from 'vitest';
import type { Clock as ClientClock } from '../../client/abortable-sleep.ts';
import { startRawServer } from '../../../test/support/http/raw-server.ts';
import { systemTestClock, type TestClock } from './test-clock.ts';
import { VirtualClock } from './virtual-clock.ts';

const minutes = 60_000;

it('is a clock for every part of the project, like that of the machine', () => {
  const clocks: TestClock[] = [systemTestClock, new VirtualClock()];
  const parts: ClientClock[] = clocks;
  for (const each of parts) expect(Math.abs(each.now() - Date.now())).toBeLessThan(minutes);
});

describe('a clock that is told to go on', () => {
  it('stands still until then', async () => {
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

  it('lets things happen in the order of their time, at their time, with what follows from them', async () => {
    const clock = new VirtualClock({ start: 0 });
    const seen: string[] = [];
    const note = (what: string) => seen.push(`${what} at ${clock.now()}`);
    clock.after(30, () => note('third'));
    clock.after(10, () => {
      note('first');
      void clock.sleep(10).then(() => note('second, set by the first'));
    });
    clock.after(30, () => note('fourth, set later'));
    await clock.advance(100);
    expect(seen).toEqual([
      'first at 10',
      'second, set by the first at 20',
      'third at 30',
      'fourth, set later at 30',
    ]);
    expect(clock.now()).toBe(100);
  });

  it('adds up what several ask for, and never goes back', async () => {
    const clock = new VirtualClock({ start: 0 });
    await Promise.all([clock.advance(10), clock.advance(20)]);
    expect(clock.now()).toBe(30);
    await clock.advanceTo(7);
    expect(clock.now()).toBe(30);
  });

  it('forgets what was prevented, also by what happens at the same moment', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    const prevent = clock.after(10, () => seen.push('prevented'));
    const other = clock.after(5, () => {
      seen.push('happened');
      prevent();
      other();
    });
    await clock.advance(50);
    expect(seen).toEqual(['happened']);
    expect(clock.pending).toBe(0);
  });

  it('ticks until it is stopped, even within a tick', async () => {
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

  it('ends a sleep with its signal', async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(1_000, controller.signal);
    controller.abort();
    await expect(sleeping).rejects.toMatchObject({ reason: 'CANCELED' });
    expect(clock.pending).toBe(0);
  });

  it('does not go on for ever for a timer that sets itself again without a delay', async () => {
    const clock = new VirtualClock({ start: 0, maxStops: 50 });
    let rings = 0;
    const again = (): void => {
      rings++;
      clock.after(0, again);
    };
    again();
    await clock.advance(20);
    expect(rings).toBe(21);
    await expect(clock.advance(1_000)).rejects.toThrow('Time stopped 50 times');
    // The clock is still a clock.
    await clock.advance(1);
  });

  it('hands the error of a timer to whoever let time pass', async () => {
    const clock = new VirtualClock();
    clock.after(1, () => {
      throw new Error('broken');
    });
    await expect(clock.advance(1)).rejects.toThrow('broken');
  });
});

describe('a clock that goes by itself', () => {
  it('tells a story of ten minutes in no time', async () => {
    const clock = new VirtualClock({ start: 0, auto: true });
    const began = performance.now();
    for (let minute = 0; minute < 10; minute++) await clock.sleep(minutes);
    expect(clock.now()).toBe(10 * minutes);
    // A bound against real waiting, not a measurement.
    expect(performance.now() - began).toBeLessThan(minutes);
  });

  it('keeps the order of time among many conversations', async () => {
    const clock = new VirtualClock({ start: 0, auto: true });
    const seen: { at: number; who: number }[] = [];
    await Promise.all(
      Array.from({ length: 500 }, async (_, who) => {
        for (let step = 1; step <= 3; step++) {
          await clock.sleep(1_000 + ((who * 7919) % 500));
          seen.push({ at: clock.now(), who });
        }
      }),
    );
    expect(seen).toHaveLength(1_500);
    expect(seen.map(({ at }) => at)).toEqual(seen.map(({ at }) => at).toSorted((a, b) => a - b));
  });

  it('lets what is on its way over a socket arrive first', async () => {
    await using server = await startRawServer((_request, response) => response.end('here'));
    const clock = new VirtualClock({ auto: true });
    const outcome = await Promise.race([
      fetch(server.url).then((response) => response.text()),
      // An hour, which passes at once when nothing else is going on.
      clock.sleep(60 * minutes).then(() => 'too late'),
    ]);
    expect(outcome).toBe('here');
  });

  it('does not go on for ticks alone, which come on the way to something else', async () => {
    const clock = new VirtualClock({ start: 0, auto: true });
    const ticks: number[] = [];
    const stop = clock.every(1_000, () => ticks.push(clock.now()));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(clock.now()).toBe(0);
    await clock.sleep(3_500);
    expect(ticks).toEqual([1_000, 2_000, 3_000]);
    stop();
  });

  it('may be told to go on as well, to stand still, and to forget', async () => {
    const clock = new VirtualClock({ start: 0, auto: true });
    await clock.advance(5_000);
    expect(clock.now()).toBe(5_000);
    clock.isAuto = false;
    clock.after(10, () => {
      throw new Error('was not forgotten');
    });
    await clock.advance(5);
    expect(clock.now()).toBe(5_005);
    clock.clear();
    clock.isAuto = true;
    await clock.sleep(1_000);
    expect(clock.now()).toBe(6_005);
  });
});
