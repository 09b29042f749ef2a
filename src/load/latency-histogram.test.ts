import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LatencyHistogram } from './latency-histogram.ts';

const shares = [0, 0.25, 0.5, 0.9, 0.99, 0.999, 1];

function histogramOf(durations: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const each of durations) histogram.record(each);
  return histogram;
}

/** Returns the smallest duration that at least the given share does not exceed. */
function exactPercentile(durations: readonly number[], share: number): number {
  const sorted = [...durations].sort((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? Number.NaN;
}

describe('LatencyHistogram', () => {
  it('returns percentiles that are at most 0.8 % above the exact ones', () => {
    const duration = fc.oneof(
      fc.double({ min: 0, max: 0.3, noNaN: true }),
      fc.double({ min: 0, max: 50, noNaN: true }),
      fc.double({ min: 0, max: 4_000_000, noNaN: true }),
    );
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1, maxLength: 300 }), (durations) => {
        const histogram = histogramOf(durations);
        for (const share of shares) {
          const exact = exactPercentile(durations, share);
          // Durations are rounded to microseconds.
          expect(histogram.percentile(share)).toBeGreaterThanOrEqual(exact - 0.0006);
          expect(histogram.percentile(share)).toBeLessThanOrEqual(exact * (1 + 1 / 128) + 0.0006);
        }
      }),
    );
  });

  it('returns exact percentiles of whole microseconds below 256', () => {
    const durations = Array.from({ length: 256 }, (_, at) => at / 1_000);
    const histogram = histogramOf(durations);
    for (const share of shares) expect(histogram.percentile(share)).toBe(exactPercentile(durations, share));
  });

  it('places both sides of every bucket bound in order', () => {
    for (let bits = 8; bits < 32; bits++)
      for (const value of [2 ** bits - 1, 2 ** bits, 2 ** bits + 1]) {
        const histogram = histogramOf([value / 1_000, 2 ** 33]);
        expect(histogram.percentile(0.5)).toBeGreaterThanOrEqual(value / 1_000);
        expect(histogram.percentile(0.5)).toBeLessThanOrEqual((value / 1_000) * (1 + 1 / 128));
      }
  });

  it('returns exact extremes and the exact mean', () => {
    const summary = histogramOf([1.2345, 7, 100.0001]).summary();
    expect(summary?.min).toBe(1.2345);
    expect(summary?.max).toBe(100.0001);
    expect(summary?.mean).toBeCloseTo(36.0782, 4);
  });

  it('counts durations beyond its range and below 0', () => {
    const histogram = histogramOf([-5, 1e9]);
    expect(histogram.summary()).toMatchObject({ min: 0, max: 1e9, p50: 0 });
    expect(histogram.percentile(1)).toBeCloseTo(4_294_967.295);
  });

  it('has no summary before the first duration and after clear()', () => {
    const histogram = histogramOf([3]);
    histogram.clear();
    expect(histogram.summary()).toBeUndefined();
    histogram.record(5);
    expect(histogram.summary()).toEqual({ min: 5, mean: 5, p50: 5, p90: 5, p99: 5, p999: 5, max: 5 });
  });
});
