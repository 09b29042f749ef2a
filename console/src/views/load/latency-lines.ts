import type { SampleLatency } from '../../../../src/console/console-api.ts';
import type { ChartContent } from './chart.tsx';
import type { SampleColumn } from './sample-table.tsx';
import { formatMilliseconds, type TimedSample } from './samples.ts';

interface LatencySample extends TimedSample {
  readonly latency?: SampleLatency | undefined;
}

/** The chart of latency percentiles. */
export const latencyChart: ChartContent<LatencySample> = {
  title: 'Latency',
  unit: ' ms',
  lines: [
    { name: 'p50', tone: 'blue', measure: ({ latency }) => latency?.p50, isFilled: true },
    { name: 'p90', tone: 'teal', measure: ({ latency }) => latency?.p90 },
    { name: 'p99', tone: 'amber', measure: ({ latency }) => latency?.p99 },
    { name: 'max', tone: 'red', measure: ({ latency }) => latency?.max },
  ],
};

/** The columns of latency percentiles. */
export const latencyColumns: readonly SampleColumn<LatencySample>[] = latencyChart.lines.map(
  ({ name, measure }) => ({ title: name, text: (sample) => formatMilliseconds(measure(sample)) }),
);
