import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sleep, systemClock, unrefClock } from './clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe.each([
  ['systemClock', systemClock],
  ['unrefClock', unrefClock],
])('%s', (_name, clock) => {
  it('runs timers until they are canceled', () => {
    const calls: string[] = [];
    clock.after(10, () => calls.push('after'));
    clock.after(10, () => calls.push('canceled'))();
    const stop = clock.every(4, () => calls.push('every'));
    vi.advanceTimersByTime(10);
    stop();
    vi.advanceTimersByTime(100);
    expect(calls).toEqual(['every', 'every', 'after']);
    expect(clock.now()).toBe(Date.now());
  });
});

describe('unrefClock', () => {
  it('does not fire immediately when the delay exceeds the maximum of timers', () => {
    const run = vi.fn();
    unrefClock.after(Infinity, run);
    vi.advanceTimersByTime(1_000);
    expect(run).not.toHaveBeenCalled();
  });
});

describe('sleep', () => {
  it('resolves after the delay', async () => {
    let isDone = false;
    const sleeping = sleep(systemClock, 10, new AbortController().signal).then(() => (isDone = true));
    await vi.advanceTimersByTimeAsync(9);
    expect(isDone).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await sleeping;
  });

  it('rejects and cancels the timer on abort', async () => {
    const aborting = new AbortController();
    const sleeping = sleep(systemClock, 10, aborting.signal);
    aborting.abort('reason');
    await expect(sleeping).rejects.toBe('reason');
    expect(vi.getTimerCount()).toBe(0);
    const mapped = sleep(systemClock, 10, aborting.signal, ({ reason }) => new Error(String(reason)));
    await expect(mapped).rejects.toThrow('reason');
  });
});
