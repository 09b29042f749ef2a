import { describe, expect, it } from 'vitest';
import { A2AError } from '../protocol/errors.ts';
import { VirtualClock } from '../testkit/clock/virtual-clock.ts';
import { createLoadPlan, type LoadPlanOptions } from './load-plan.ts';
import type { LoadProgress, LoadReport } from './load-report.ts';
import { type LoadRequestContext, type PerformRequest, runLoad } from './run-load.ts';

type Perform = (request: LoadRequestContext & { clock: VirtualClock; index: number }) => Promise<void>;

/** Runs a plan on a virtual clock that starts at 0. */
async function measure(
  options: LoadPlanOptions,
  perform: Perform,
  { time = 20_000, stopAt = Infinity }: { time?: number; stopAt?: number } = {},
): Promise<{ report: LoadReport; progress: LoadProgress[]; sentAt: number[] }> {
  const clock = new VirtualClock({ start: 0 });
  const progress: LoadProgress[] = [];
  const sentAt: number[] = [];
  const stop = new AbortController();
  clock.after(stopAt, () => stop.abort());
  const request: PerformRequest = async (context) => {
    sentAt.push(clock.now());
    await perform({ ...context, clock, index: sentAt.length - 1 });
    return undefined;
  };
  const running = runLoad(createLoadPlan({ warmUp: 0, ...options }), request, {
    clock,
    signal: stop.signal,
    onProgress: (each) => progress.push(each),
  });
  await clock.advance(time);
  return { report: await running, progress, sentAt };
}

const takes =
  (milliseconds: number): Perform =>
  ({ clock, signal }) =>
    clock.sleep(milliseconds, signal);

/** An agent that takes 5 ms, and stalls from 1,000 to 2,000. */
const stalls: Perform = ({ clock, signal }) => {
  const now = clock.now();
  return clock.sleep(now >= 1_000 && now < 2_000 ? 2_000 - now : 5, signal);
};

describe('open loop', () => {
  it('sends requests at the rate, whatever the latency', async () => {
    const { report, sentAt } = await measure({ rate: 10, duration: 1_000 }, takes(400));
    expect(sentAt).toEqual([0, 99, 199, 299, 399, 499, 599, 699, 799, 899]);
    expect(report).toMatchObject({ loop: 'open', requests: 10, succeeded: 10, unsent: 0, duration: 1_299 });
    expect(report.latency).toMatchObject({ min: 400, max: 400, mean: 400 });
    expect(report.throughput).toBeCloseTo(10_000 / 1_299);
  });

  it('measures from the intended send time, so that requests delayed by a stall count', async () => {
    const { report } = await measure({ rate: 50, duration: 3_000, connections: 1 }, stalls);
    expect(report.requests).toBe(150);
    // The first request of the stall is sent at 1,019; the next ones, intended every 20 ms, are sent from 2,000.
    expect(report.latency).toMatchObject({ min: 5, max: 981 });
    expect(report.latency?.p90).toBeGreaterThan(700);
    expect(report.sendDelay?.max).toBe(960);
    // A closed loop waits during the stall, so that only one request shows it.
    const closed = await measure({ connections: 1, duration: 3_000 }, stalls);
    expect(closed.report.latency?.p99).toBeCloseTo(5, 1);
    expect(closed.report.latency?.max).toBe(1_000);
  });

  it('counts requests that could not be sent before the end', async () => {
    const { report } = await measure({ rate: 10, duration: 1_000, connections: 2 }, takes(5_000));
    expect(report).toMatchObject({ requests: 2, unsent: 8 });
  });

  it('has no unsent requests if a number of requests is given', async () => {
    const { report } = await measure({ rate: 10, requests: 5, connections: 1 }, takes(500));
    expect(report).toMatchObject({ requests: 5, unsent: 0, duration: 2_500 });
  });
});

describe('closed loop', () => {
  it('sends the next request of a client after the response', async () => {
    const { report, sentAt } = await measure({ connections: 2, duration: 1_000 }, takes(400));
    expect(sentAt).toEqual([0, 0, 400, 400, 800, 800]);
    expect(report).toMatchObject({ loop: 'closed', requests: 6, sendDelay: undefined, duration: 1_200 });
    expect(report.throughput).toBeCloseTo(5);
  });

  it('sends exactly the given number of requests', async () => {
    const { report, sentAt } = await measure({ connections: 4, requests: 10 }, takes(100));
    expect(sentAt).toHaveLength(10);
    expect(report).toMatchObject({ requests: 10, duration: 300 });
  });

  it('waits after a failure', async () => {
    const { sentAt } = await measure({ connections: 1, duration: 50 }, () =>
      Promise.reject(new A2AError('UNAVAILABLE')),
    );
    expect(sentAt).toEqual([0, 10, 20, 30, 40]);
  });
});

describe('load report', () => {
  it('excludes the warm-up', async () => {
    const slowStart: Perform = ({ clock }) => clock.sleep(clock.now() < 1_000 ? 300 : 10);
    const { report, sentAt } = await measure({ connections: 1, warmUp: 1_000, requests: 3 }, slowStart);
    expect(sentAt).toEqual([0, 300, 600, 900, 1_200, 1_210, 1_220]);
    expect(report).toMatchObject({ requests: 3, duration: 230, latency: { max: 10 } });
  });

  it('counts failures by reason, most frequent first, with an example and without their latency', async () => {
    const { report } = await measure({ connections: 1, requests: 6 }, async ({ index, clock }) => {
      await clock.sleep(index === 0 ? 700 : 10);
      if (index < 2) throw new A2AError('UNAVAILABLE', `refused ${index}`);
      if (index < 5) throw new A2AError('RESOURCE_EXHAUSTED', 'x'.repeat(5_000));
    });
    expect(report).toMatchObject({ requests: 6, succeeded: 1, failed: 5, latency: { max: 10 } });
    expect(report.errors).toEqual([
      { reason: 'RESOURCE_EXHAUSTED', count: 3, example: expect.stringMatching(/^x{200,299}…/) },
      { reason: 'UNAVAILABLE', count: 2, example: 'refused 0' },
    ]);
  });

  it('counts requests over the time limit as failures', async () => {
    const { report } = await measure({ connections: 1, requests: 1, timeout: 250 }, takes(60_000));
    expect(report.errors).toEqual([{ reason: 'TIMEOUT', count: 1, example: 'No response within 250 ms' }]);
    expect(report.latency).toBeUndefined();
  });

  it('contains what was measured before the run was stopped', async () => {
    const { report } = await measure({ rate: 10, duration: 10_000 }, takes(350), { stopAt: 1_000 });
    expect(report).toMatchObject({ isStopped: true, requests: 7, abandoned: 4, failed: 0, unsent: 0 });
    expect(report.duration).toBe(1_000);
  });

  it('ends at once if the run is stopped while it waits for a free connection', async () => {
    const { report } = await measure({ rate: 10, duration: 10_000, connections: 1 }, takes(9_000), {
      stopAt: 500,
    });
    expect(report).toMatchObject({
      isStopped: true,
      requests: 0,
      abandoned: 1,
      duration: 500,
      throughput: 0,
    });
  });

  it('contains the events of streams and the time until the first one', async () => {
    const { report } = await measure(
      { operation: 'stream', requests: 2, connections: 1 },
      async (request) => {
        for (let event = 0; event < 3; event++) {
          await request.clock.sleep(40);
          request.onEvent();
        }
      },
    );
    expect(report).toMatchObject({ events: 6, firstEvent: { max: 40 }, latency: { max: 120 } });
  });
});

describe('load progress', () => {
  it('is reported once per second with the figures of that second', async () => {
    const { progress } = await measure({ rate: 4, warmUp: 1_000, duration: 1_000 }, takes(600));
    expect(
      progress.map(({ phase, elapsed, requests, open }) => ({ phase, elapsed, requests, open })),
    ).toEqual([
      { phase: 'measuring', elapsed: 1_000, requests: 0, open: 3 },
      { phase: 'finishing', elapsed: 2_000, requests: 2, open: 2 },
      { phase: 'finishing', elapsed: 2_349, requests: 4, open: 0 },
    ]);
    expect(progress.map(({ last }) => last.requests)).toEqual([2, 4, 2]);
    expect(progress[0]?.last.latency?.max).toBe(600);
    expect(progress.map(({ share }) => share)).toEqual([0.5, 1, 1]);
  });
});

describe('createLoadPlan', () => {
  it.each<LoadPlanOptions>([
    { rate: 0 },
    { rate: 10_001 },
    { rate: Number.NaN },
    { connections: 0 },
    { connections: 1.5 },
    { connections: 1_001 },
    { requests: 1_000_001 },
    { duration: 3_600_001 },
    { duration: Infinity },
    { warmUp: -1 },
    { timeout: 0 },
    { operation: 'cancel' as never },
  ])('rejects %o', (options) => {
    const [name = ''] = Object.keys(options);
    expect(() => createLoadPlan(options)).toThrow(new RegExp(`^${name} must be`));
  });
});
