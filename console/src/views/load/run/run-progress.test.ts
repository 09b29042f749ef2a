import { describe, expect, it } from 'vitest';
import type { LoadRunEvent } from '../../../../../src/console/console-api.ts';
import { applyRunEvent, type DisplayedRun, isInProgress } from './run-progress.ts';

const plan = {
  operation: 'send',
  rate: 10,
  connections: 5,
  requests: undefined,
  duration: 10_000,
  warmUp: 0,
  timeout: 1_000,
} as const;
const started: LoadRunEvent = { kind: 'started', agentId: 'a', agentName: 'Echo', startedAt: 1_000, plan };
const latency = { min: 1, mean: 2, p50: 2, p90: 3, p99: 4, p999: 5, max: 6 };

const progress = (at: number, requests: number, interval = 1_000): LoadRunEvent => ({
  kind: 'progress',
  at,
  progress: {
    phase: 'measuring',
    elapsed: at - 1_000,
    share: 0.5,
    requests,
    errors: 1,
    open: 2,
    interval,
    last: { requests, errors: 1, events: 4, latency },
  },
});

const displayed = (...events: LoadRunEvent[]): DisplayedRun | undefined =>
  events.reduce<DisplayedRun | undefined>(applyRunEvent, undefined);

describe('displayed load run', () => {
  it('has one sample per progress, with rates per second', () => {
    const run = displayed(started, progress(2_000, 10), progress(4_000, 30, 2_000));
    expect(run?.samples.map(({ at, requests, events }) => ({ at, requests, events }))).toEqual([
      { at: 2_000, requests: 10, events: 4 },
      { at: 4_000, requests: 15, events: 2 },
    ]);
    expect(run?.samples[0]).toMatchObject({ open: 2, latency: { p50: 2, max: 6 } });
  });

  it('draws no rate of a short interval', () => {
    const run = displayed(started, progress(2_000, 10), progress(2_010, 11, 10));
    expect(run?.samples).toHaveLength(1);
    expect(run?.progress?.requests).toBe(11);
  });

  it('is in progress until its report or error', () => {
    const variant = { version: '1.0', transport: 'JSONRPC' } as const;
    expect(isInProgress(displayed())).toBe(false);
    expect(isInProgress(displayed(started, { kind: 'connected', variant }))).toBe(true);
    expect(isInProgress(displayed(started, { kind: 'error', reason: 'UNAVAILABLE', message: 'no' }))).toBe(
      false,
    );
  });

  it('starts anew when the server sends its events again', () => {
    const run = displayed(started, progress(2_000, 10), started, progress(2_000, 10));
    expect(run?.samples).toHaveLength(1);
  });

  it('ignores events of a run whose start is unknown', () => {
    expect(displayed(progress(2_000, 10))).toBeUndefined();
  });
});
