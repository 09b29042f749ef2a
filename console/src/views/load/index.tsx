import { useEffect } from 'preact/hooks';
import { Chart, type ChartLine } from './chart.tsx';
import { SampleTable } from './sample-table.tsx';
import { startSampling, samples } from './state.ts';
import './load.css';

/** Constant, because a chart is recreated when its series change. */
const charts: readonly {
  readonly title: string;
  readonly unit?: string;
  readonly lines: readonly ChartLine[];
}[] = [
  {
    title: 'Requests per second',
    lines: [
      { name: 'requests', tone: 'teal', measure: ({ requests }) => requests, isFilled: true },
      { name: 'errors', tone: 'red', measure: ({ errors }) => errors },
    ],
  },
  {
    title: 'Latency',
    unit: ' ms',
    lines: [
      { name: 'median', tone: 'blue', measure: ({ latencyMedian }) => latencyMedian, isFilled: true },
      { name: 'p99', tone: 'amber', measure: ({ latencyP99 }) => latencyP99 },
    ],
  },
  {
    title: 'Events per second',
    lines: [{ name: 'events', tone: 'violet', measure: ({ events }) => events, isFilled: true }],
  },
  {
    title: 'Open streams',
    lines: [{ name: 'streams', tone: 'green', measure: ({ openStreams }) => openStreams, isFilled: true }],
  },
];

/** The load view. */
export function LoadView() {
  useEffect(startSampling, []);
  return (
    <div class="load">
      <div class="load-charts">
        {charts.map((each) => (
          <Chart key={each.title} {...each} samples={samples.value} />
        ))}
      </div>
      <SampleTable samples={samples.value} />
    </div>
  );
}
