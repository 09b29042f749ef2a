import { afterEach, expect, it, vi } from 'vitest';
import type { Probe } from '../probe.ts';
import { findMisleadingMessage } from './misleading-message.ts';

/** Durations in milliseconds: of the work, of the way of a send, which may include the work, and of the way of a read. */
interface Times {
  readonly work: number;
  readonly send: number;
  readonly read: number;
}

afterEach(() => vi.restoreAllMocks());

/** A probe whose message for `slow` leads to a task with the given duration. */
function probeWith({ work, send, read }: Times): Probe {
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const task = () => ({ id: 't', state: now - 1_000 >= work ? 'completed' : 'working' });
  const after = async (milliseconds: number) => {
    now += milliseconds;
    return task();
  };
  return {
    prompts: { sentByUser: () => ['slow'], promptFor: () => ({ text: 'work' }) },
    driver: { decodeMessage: () => undefined, decodeTask: (result: unknown) => result },
    call: async () => ({ result: await after(send) }),
    getTask: () => after(read),
    waitUntilTerminalOrInterrupted: () => after(work),
  } as unknown as Probe;
}

it.each<[string, Times]>([
  ['works for two seconds', { work: 2_000, send: 5, read: 5 }],
  ['does not return immediately', { work: 2_000, send: 2_000, read: 5 }],
  ['works for two seconds on a slow machine', { work: 2_000, send: 300, read: 300 }],
  ['does not return immediately on a slow machine', { work: 2_000, send: 2_300, read: 300 }],
])('accepts a message for slow if its task %s', async (_what, times) => {
  expect(await findMisleadingMessage(probeWith(times))).toBeUndefined();
});

it.each<[string, Times]>([
  ['ends at once', { work: 1, send: 5, read: 5 }],
  ['ends at once on a slow machine', { work: 1, send: 700, read: 400 }],
  ['ends after the first read on a slow machine', { work: 900, send: 300, read: 400 }],
])('does not accept a message for slow if its task %s', async (_what, times) => {
  const found = await findMisleadingMessage(probeWith(times));
  expect(found?.message).toContain('The message "work" for "slow" led to the state "completed" at once.');
});
