import { batch, computed, signal } from '@preact/signals';
import type { ConformanceEvent, ConformanceInput } from '../../../../src/console/console-api.ts';
import type {
  ConformanceReport,
  ConformanceResult,
} from '../../../../src/conformance/report/build-report.ts';
import { type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { streamJson } from '../../session/api-client.ts';
import { advanceRun, type ConformanceRun } from './conformance-run.ts';
import { noFilter, filterResults, type ResultFilter, sortedResults } from './results.ts';

/** Options of the run, except the agent. */
export const runInput = signal<Omit<ConformanceInput, 'agentId'>>({});

/** The current run; it continues when the view changes. */
export const currentRun = signal<ConformanceRun | undefined>(undefined);

/** The outcome of the last run. */
export const lastReport = signal<{ readonly report: ConformanceReport; readonly html: string } | undefined>(
  undefined,
);

/** Error of the last run. */
export const runError = signal<DisplayError | undefined>(undefined);

/** The filter of the results. */
export const resultFilter = signal<ResultFilter>(noFilter);

/** The open result. */
export const selectedResult = signal<ConformanceResult | undefined>(undefined);

/** All results, worst first. */
export const results = computed(() => (lastReport.value ? sortedResults(lastReport.value.report) : []));

/** The filtered results. */
export const visibleResults = computed(() => filterResults(results.value, resultFilter.value));

let stopping: AbortController | undefined;

/** Starts a run. Leaving the view does not stop it. */
export async function startRun(agent: { readonly id: string; readonly name: string }): Promise<void> {
  if (currentRun.value) return;
  const stop = new AbortController();
  stopping = stop;
  batch(() => {
    currentRun.value = { agentName: agent.name, done: 0, total: 0, counts: {}, latest: [] };
    lastReport.value = undefined;
    runError.value = undefined;
    selectedResult.value = undefined;
    resultFilter.value = noFilter;
  });
  try {
    const body: ConformanceInput = { agentId: agent.id, ...runInput.value };
    const events = streamJson<ConformanceEvent>('conformance', { method: 'POST', body, signal: stop.signal });
    for await (const event of events) take(event);
    if (!lastReport.value && !runError.value)
      runError.value = { reason: 'NO_REPORT', message: 'The conformance run ended without a report.' };
  } catch (error) {
    if (!stop.signal.aborted) runError.value = toDisplayError(error);
  } finally {
    currentRun.value = undefined;
  }
}

/** Stops the run and discards it. */
export function cancelRun(): void {
  stopping?.abort();
}

function take(event: ConformanceEvent): void {
  if (event.kind === 'error') runError.value = event;
  else if (event.kind === 'report') lastReport.value = event;
  else if (currentRun.value) currentRun.value = advanceRun(currentRun.value, event);
}
