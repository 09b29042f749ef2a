import { useEffect } from 'preact/hooks';
import { EmptyState } from '../../../components/empty-state.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Progress } from '../../../components/progress.tsx';
import { agents } from '../../../session/agents.ts';
import { Chart, type ChartContent } from '../chart.tsx';
import { latencyChart, latencyColumns } from '../latency-lines.ts';
import { SampleTable, type SampleColumn } from '../sample-table.tsx';
import { formatShortNumber } from '../samples.ts';
import { LoadRunForm } from './run-form.tsx';
import { type DisplayedRun, isInProgress, type RunSample } from './run-progress.ts';
import { RunReport } from './run-report.tsx';
import { displayedRun, localAgents, requestError, watchRun } from './state.ts';

const throughputChart: ChartContent<RunSample> = {
  title: 'Throughput',
  unit: '/s',
  lines: [
    { name: 'requests', tone: 'teal', measure: ({ requests }) => requests, isFilled: true },
    { name: 'errors', tone: 'red', measure: ({ errors }) => errors },
  ],
};
const openChart: ChartContent<RunSample> = {
  title: 'Open requests',
  lines: [{ name: 'open', tone: 'green', measure: ({ open }) => open, isFilled: true }],
};
const eventChart: ChartContent<RunSample> = {
  title: 'Events per second',
  lines: [{ name: 'events', tone: 'violet', measure: ({ events }) => events, isFilled: true }],
};

const columns: readonly SampleColumn<RunSample>[] = [
  { title: 'Requests/s', text: ({ requests }) => formatShortNumber(requests) },
  { title: 'Errors/s', text: ({ errors }) => formatShortNumber(errors) },
  { title: 'Events/s', text: ({ events }) => formatShortNumber(events) },
  ...latencyColumns,
  { title: 'Open', text: ({ open }) => open },
];

/** A load run: its inputs, its figures while it runs, and its report. */
export function LoadRunPart() {
  useEffect(watchRun, []);
  const run = displayedRun.value;
  return (
    <div class="load-part">
      <LoadRunForm />
      {requestError.value ? <ErrorNote error={requestError.value} /> : null}
      {run ? <RunFigures run={run} /> : null}
      {run === undefined && localAgents.value.length > 0 ? (
        <EmptyState title="Measure an agent on this machine">
          Sends requests at a fixed rate, or from clients that wait for each response, and draws throughput,
          latencies and errors. Each message creates a task.
        </EmptyState>
      ) : null}
      {agents.value && localAgents.value.length === 0 ? (
        <EmptyState title="No agent on this machine">
          Load can stop an agent from working for others, so the console sends it to loopback addresses only.
          For other agents, use the command dragoman load.
        </EmptyState>
      ) : null}
    </div>
  );
}

function RunFigures({ run }: { run: DisplayedRun }) {
  const { start, samples, report, error } = run;
  const { plan } = start;
  const charts = [
    throughputChart,
    latencyChart,
    openChart,
    ...(plan.operation === 'stream' ? [eventChart] : []),
  ];
  const plannedEnd = start.startedAt + plan.warmUp + plan.duration;
  const newest = samples.at(-1)?.at ?? start.startedAt + 1_000;
  const to = isInProgress(run) ? Math.max(plannedEnd, newest) : newest;
  return (
    <>
      {isInProgress(run) ? <RunStatus run={run} /> : null}
      {error ? <ErrorNote error={error} /> : null}
      {report ? <RunReport run={run} report={report} /> : null}
      <div class="load-charts">
        {charts.map((each) => (
          <Chart
            key={each.title}
            {...each}
            samples={samples}
            period={`load run of ${start.agentName}`}
            range={{ from: start.startedAt, to }}
            group="run"
          />
        ))}
      </div>
      <SampleTable samples={samples} columns={columns} />
    </>
  );
}

function RunStatus({ run: { start, progress, variant } }: { run: DisplayedRun }) {
  const { requests = 0, errors = 0, phase = 'starting', share = 0 } = progress ?? {};
  const words = variant === undefined ? 'connecting' : `${variant}, ${phase}`;
  return (
    <section class="load-status" aria-label="Progress">
      <Progress
        label={`${start.agentName}: ${words}, ${requests} requests, ${errors} failed`}
        done={share}
        total={1}
      />
    </section>
  );
}
