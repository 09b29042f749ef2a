import { describe, expect, it } from 'vitest';
import type { LoadSample } from '../../../../src/console/console-api.ts';
import { columnsOf, highlights, formatShortNumber, retention, withSample } from './samples.ts';

const sample = (at: number, more: Partial<LoadSample> = {}): LoadSample => ({
  at,
  requests: 0,
  errors: 0,
  events: 0,
  openStreams: 0,
  ...more,
});

describe('load samples', () => {
  it('are retained for five minutes', () => {
    const kept = withSample([sample(1_000), sample(2_000)], sample(1_000 + retention));
    expect(kept.map(({ at }) => at)).toEqual([2_000, 1_000 + retention]);
  });

  it('ignore a clock that was set back', () => {
    expect(withSample([sample(1_000), sample(5_000)], sample(3_000)).map(({ at }) => at)).toEqual([
      1_000, 3_000,
    ]);
  });

  it('form a series per measure, with gaps for missing values', () => {
    const samples = [
      sample(1_000, { requests: 3, latency: { p50: 7, p90: 8, p99: 9, max: 9 } }),
      sample(2_000),
      sample(9_000, { requests: 1 }),
    ];
    expect(columnsOf(samples, [({ requests }) => requests, ({ latency }) => latency?.p50])).toEqual([
      [1, 2, 3, 9],
      [3, 0, null, 1],
      [7, null, null, null],
    ]);
  });

  it('return the newest and the greatest value', () => {
    const samples = [sample(1, { events: 9 }), sample(2, { events: 4 })];
    expect(highlights(samples, ({ events }) => events)).toEqual({ now: 4, max: 9 });
    expect(highlights([], ({ events }) => events)).toEqual({ now: undefined, max: undefined });
  });

  it('are formatted compactly', () => {
    expect([0, 4.24, 12.4, 1_499, 12_000, 2_500_000].map(formatShortNumber)).toEqual([
      '0',
      '4.2',
      '12',
      '1.5k',
      '12k',
      '2.5M',
    ]);
  });
});
