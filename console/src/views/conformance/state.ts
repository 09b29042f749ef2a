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

/** What is asked for, beside the agent. */
export const runInput = signal<Omit<ConformanceInput, 'agentId'>>({});

/** The examination that goes on, whichever view is looked at. */
export const currentRun = signal<ConformanceRun | undefined>(undefined);

/** What the last examination found. */
export const lastReport = signal<{ readonly report: ConformanceReport; readonly html: string } | undefined>(
  undefined,
);

/** Why there is nothing found. */
export const runError = signal<DisplayError | undefined>(undefined);

/** What of the results is to be seen. */
export const resultFilter = signal<ResultFilter>(noFilter);

/** The result that is shown in full. */
export const selectedResult = signal<ConformanceResult | undefined>(undefined);

/** All results, the worst first. */
export const results = computed(() => (lastReport.value ? sortedResults(lastReport.value.report) : []));

/** The results that are to be seen. */
export const visibleResults = computed(() => filterResults(results.value, resultFilter.value));

let stopping: AbortController | undefined;

/** Examines an agent. Leaving the view does not end it. */
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
      runError.value = { reason: 'NO_REPORT', message: 'The examination ended without a report.' };
  } catch (error) {
    if (!stop.signal.aborted) runError.value = toDisplayError(error);
  } finally {
    currentRun.value = undefined;
  }
}

/** Ends the examination; nothing of it is kept. */
export function cancelRun(): void {
  stopping?.abort();
}

function take(event: ConformanceEvent): void {
  if (event.kind === 'error') runError.value = event;
  else if (event.kind === 'report') lastReport.value = event;
  else if (currentRun.value) currentRun.value = advanceRun(currentRun.value, event);
}
