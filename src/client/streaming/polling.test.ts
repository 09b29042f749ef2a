import { describe, expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import type { Task } from '../../protocol/task.ts';
import { collectStream } from '../../../test/support/collect-stream.ts';
import { type ConnectOptions, type PollingOptions, resolveSettings } from '../connect-options.ts';
import { ResumableStream } from './resumable-stream.ts';

/** The waits between looks at a task that has so many artifacts each time, and has ended with the last look. */
async function waitsFor(artifacts: readonly number[], options: ConnectOptions = {}): Promise<number[]> {
  const waits: number[] = [];
  const clock = {
    now: () => 0,
    every: () => () => {},
    after(milliseconds: number, run: () => void) {
      waits.push(milliseconds);
      queueMicrotask(run);
      return () => {};
    },
  };
  const refused = (): Promise<never> => Promise.reject(new A2AError('UNSUPPORTED_OPERATION'));
  const seen = (count: number, isLast: boolean): Task => ({
    id: 't',
    contextId: 'c',
    status: { state: isLast ? 'completed' : 'working' },
    artifacts: Array.from({ length: count }, (_, at) => ({ artifactId: `${at}`, parts: [{ text: 'x' }] })),
  });
  let looks = 0;
  const follower = new ResumableStream(
    resolveSettings({ ...options, clock }),
    {
      open: refused,
      reopen: refused,
      beginsWithTask: () => true,
      getTask: async () => seen(artifacts[looks++] ?? 0, looks === artifacts.length),
    },
    new AbortController().signal,
  );
  await collectStream(follower.poll(seen(0, false)));
  return waits;
}

describe('asking for a task again and again', () => {
  it('sees soon what ends soon, and asks less and less often, up to a bound', async () => {
    expect(await waitsFor([0])).toEqual([50]);
    expect(await waitsFor(Array.from({ length: 10 }, () => 0))).toEqual([
      50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000,
    ]);
  });

  it('asks more often again when there is news, but never as often as in the beginning', async () => {
    expect(await waitsFor([0, 0, 0, 0, 1, 1, 2, 3, 4, 4, 4])).toEqual([
      50, 100, 200, 400, 800, 200, 400, 200, 200, 200, 400,
    ]);
  });

  it('asks as often as it is told to', async () => {
    const looks = Array.from({ length: 5 }, () => 0);
    expect(await waitsFor(looks, { polling: { initialDelay: 1_000 } })).toEqual([
      1_000, 2_000, 4_000, 5_000, 5_000,
    ]);
    expect(await waitsFor(looks, { polling: { maxDelay: 150 } })).toEqual([50, 100, 150, 150, 150]);
    expect(await waitsFor(looks, { polling: { maxDelay: 20 } })).toEqual([20, 20, 20, 20, 20]);
  });

  it.each<Partial<PollingOptions>>([{ initialDelay: 0 }, { initialDelay: Number.NaN }, { maxDelay: -1 }])(
    'never asks without a pause: %o',
    (polling) => {
      expect(() => resolveSettings({ polling })).toThrow(/polling\.(first|longest) must be 1 or more/);
    },
  );
});
