import type { LoadSample } from '../../../../src/console/console-api.ts';

/** Retention of samples in milliseconds. */
export const retention = 5 * 60_000;

/** A longer interval between two samples is drawn as a gap: the page was hidden. */
const maxGap = 3_500;

/** Adds a sample and evicts expired ones. */
export function withSample(samples: readonly LoadSample[], sample: LoadSample): readonly LoadSample[] {
  // A clock that was set back would draw lines backwards.
  const before = samples.filter(({ at }) => at < sample.at && at > sample.at - retention);
  return [...before, sample];
}

/** A sample of a chart. */
export interface TimedSample {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** One series: its values, with gaps. */
export type Measure<Sample extends TimedSample> = (sample: Sample) => number | undefined;

/** The columns of a chart: Unix time in seconds, then the values of each series; null for gaps. */
export function columnsOf<Sample extends TimedSample>(
  samples: readonly Sample[],
  measures: readonly Measure<Sample>[],
): [number[], ...(number | null)[][]] {
  const times: number[] = [];
  const values: (number | null)[][] = measures.map(() => []);
  let before: number | undefined;
  for (const sample of samples) {
    if (before !== undefined && sample.at - before > maxGap) {
      times.push((before + 1_000) / 1_000);
      for (const each of values) each.push(null);
    }
    before = sample.at;
    times.push(sample.at / 1_000);
    for (const [index, measure] of measures.entries()) values[index]?.push(measure(sample) ?? null);
  }
  return [times, ...values];
}

/** The newest and the greatest value. */
export function highlights<Sample extends TimedSample>(
  samples: readonly Sample[],
  measure: Measure<Sample>,
): { now: number | undefined; max: number | undefined } {
  const known = samples.map(measure).filter((each) => each !== undefined);
  const last = samples.at(-1);
  return { now: last && measure(last), max: known.length === 0 ? undefined : Math.max(...known) };
}

/** Formats a duration in a table; `–` if it is undefined. */
export function formatMilliseconds(value: number | undefined): string {
  return value === undefined ? '–' : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

/** Formats a number for a label: `0`, `4.2`, `12`, `1.5k`, `12k`. */
export function formatShortNumber(value: number): string {
  if (value >= 1e6) return `${trimmed(value / 1e6)}M`;
  if (value >= 1e3) return `${trimmed(value / 1e3)}k`;
  return trimmed(value);
}

function trimmed(value: number): string {
  return value < 10 ? String(Math.round(value * 10) / 10) : String(Math.round(value));
}
