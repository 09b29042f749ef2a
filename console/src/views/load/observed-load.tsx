import { useLayoutEffect } from 'preact/hooks';
import type { LoadSample } from '../../../../src/console/console-api.ts';
import { Button } from '../../components/button.tsx';
import { Select } from '../../components/form-fields.tsx';
import { Chart, type ChartContent } from './chart.tsx';
import { latencyChart, latencyColumns } from './latency-lines.ts';
import { SampleTable, type SampleColumn } from './sample-table.tsx';
import { agentNames, isWithTests, openLoadView, samples, selectedName, startSampling } from './state.ts';

const charts: readonly ChartContent<LoadSample>[] = [
  {
    title: 'Requests per second',
    lines: [
      { name: 'requests', tone: 'teal', measure: ({ requests }) => requests, isFilled: true },
      { name: 'errors', tone: 'red', measure: ({ errors }) => errors },
    ],
  },
  latencyChart,
  {
    title: 'Events per second',
    lines: [{ name: 'events', tone: 'violet', measure: ({ events }) => events, isFilled: true }],
  },
  {
    title: 'Open streams',
    lines: [{ name: 'streams', tone: 'green', measure: ({ openStreams }) => openStreams, isFilled: true }],
  },
];

const columns: readonly SampleColumn<LoadSample>[] = [
  { title: 'Requests', text: ({ requests }) => requests },
  { title: 'Errors', text: ({ errors }) => errors },
  { title: 'Events', text: ({ events }) => events },
  ...latencyColumns,
  { title: 'Open streams', text: ({ openStreams }) => openStreams },
];

/** The load of all agents or one of them. */
export function ObservedLoad() {
  const name = selectedName.value;
  const hasTests = isWithTests.value;
  // Before the browser paints, so that the load of the former agent is never shown as that of this one.
  useLayoutEffect(() => startSampling(name, hasTests), [name, hasTests]);
  // The selected agent may have had no request since the console was started.
  const names = [...new Set([...agentNames.value, ...(name === '' ? [] : [name])])].sort();
  return (
    <div class="load-part">
      <div class="load-filter">
        <Select
          label="Show requests to"
          value={name}
          onValue={(of) => openLoadView({ of })}
          choices={[{ value: '', text: 'all agents' }, ...names.map((each) => ({ value: each, text: each }))]}
        />
        <Button
          aria-pressed={hasTests}
          title="Requests of conformance tests and load runs"
          onClick={() => openLoadView({ tests: hasTests ? undefined : 'show' })}
        >
          Tests
        </Button>
      </div>
      <div class="load-charts">
        {charts.map((each) => (
          <Chart
            key={each.title}
            {...each}
            samples={samples.value}
            period="last five minutes"
            group="observed"
          />
        ))}
      </div>
      <SampleTable samples={samples.value} columns={columns} />
    </div>
  );
}
