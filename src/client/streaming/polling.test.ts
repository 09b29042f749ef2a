import { describe, expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import type { Task } from '../../protocol/task.ts';
import { collectStream } from '../../../test/support/collect-stream.ts';
import { type ConnectOptions, type PollingOptions, resolveSettings } from '../connect-options.ts';
import { ResumableStream } from './resumable-stream.ts';

/** Returns the delays between polls of a task that has `artifacts[n]` artifacts at poll n and ends with the last one. */
async function pollDelays(artifacts: readonly number[], options: ConnectOptions = {}): Promise<number[]> {
  const delays: number[] = [];
  const clock = {
    now: () => 0,
    monotonic: () => 0,
    every: () => () => {},
    after(milliseconds: number, run: () => void) {
      delays.push(milliseconds);
      queueMicrotask(run);
      return () => {};
    },
  };
  const reject = (): Promise<never> => Promise.reject(new A2AError('UNSUPPORTED_OPERATION'));
  const taskWith = (count: number, isLast: boolean): Task => ({
    id: 't',
    contextId: 'c',
    status: { state: isLast ? 'completed' : 'working' },
    artifacts: Array.from({ length: count }, (_, at) => ({ artifactId: `${at}`, parts: [{ text: 'x' }] })),
  });
  let polls = 0;
  const stream = new ResumableStream(
    resolveSettings({ ...options, clock }),
    {
      open: reject,
      reopen: reject,
      startsWithSnapshot: () => true,
      getTask: async () => taskWith(artifacts[polls++] ?? 0, polls === artifacts.length),
    },
    new AbortController().signal,
  );
  await collectStream(stream.poll(taskWith(0, false)));
  return delays;
}

describe('polling', () => {
  it('doubles its delay up to the maximum', async () => {
    expect(await pollDelays([0])).toEqual([50]);
    expect(await pollDelays(Array.from({ length: 10 }, () => 0))).toEqual([
      50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000,
    ]);
  });

  it('shortens its delay after a change to four times the initial delay', async () => {
    expect(await pollDelays([0, 0, 0, 0, 1, 1, 2, 3, 4, 4, 4])).toEqual([
      50, 100, 200, 400, 800, 200, 400, 200, 200, 200, 400,
    ]);
  });

  it('uses the configured delays', async () => {
    const artifacts = Array.from({ length: 5 }, () => 0);
    expect(await pollDelays(artifacts, { polling: { initialDelay: 1_000 } })).toEqual([
      1_000, 2_000, 4_000, 5_000, 5_000,
    ]);
    expect(await pollDelays(artifacts, { polling: { maxDelay: 150 } })).toEqual([50, 100, 150, 150, 150]);
    expect(await pollDelays(artifacts, { polling: { maxDelay: 20 } })).toEqual([20, 20, 20, 20, 20]);
  });

  it.each<Partial<PollingOptions>>([{ initialDelay: 0 }, { initialDelay: Number.NaN }, { maxDelay: -1 }])(
    'rejects delays below 1 ms: %o',
    (polling) => {
      expect(() => resolveSettings({ polling })).toThrow(
        /polling\.(initialDelay|maxDelay) must be at least 1/,
      );
    },
  );
});
