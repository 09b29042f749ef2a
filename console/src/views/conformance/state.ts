import { batch, computed, signal } from '@preact/signals';
import type { ConformanceEvent, ConformanceInput } from '../../../../src/console/console-api.ts';
import type {
  ConformanceReport,
  ConformanceResult,
} from '../../../../src/conformance/report/build-report.ts';
import { type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { download } from '../../components/download.ts';
import { requestApi, requestJson } from '../../session/api-client.ts';
import { startReconnectingStream } from '../../session/reconnecting-stream.ts';
import { changesByResult, chooseComparison } from './compare/state.ts';
import { advanceRun, beginRun, type ConformanceRun } from './conformance-run.ts';
import { noFilter, filterResults, resultKey, type ResultFilter, sortedResults } from './results.ts';

/** Options in the form of a run. */
export type RunInput = Pick<ConformanceInput, 'level' | 'fixtures' | 'timeout'>;

/** Options in the form of the run. */
export const runInput = signal<RunInput>({});

/** The current run of the server. */
export const currentRun = signal<ConformanceRun | undefined>(undefined);

/** The displayed report of a run. */
export const lastReport = signal<
  { readonly id: string; readonly startedAt: number; readonly report: ConformanceReport } | undefined
>(undefined);

/** Error of the last run or request. */
export const runError = signal<DisplayError | undefined>(undefined);

/** The filter of the results. */
export const resultFilter = signal<ResultFilter>(noFilter);

/** Key of the open result. */
const selectedKey = signal('');

/** All results, worst first. */
export const results = computed(() => (lastReport.value ? sortedResults(lastReport.value.report) : []));

/** The filtered results. */
export const visibleResults = computed(() =>
  filterResults(results.value, resultFilter.value, changesByResult.value),
);

/** The open result. */
export const selectedResult = computed(() =>
  results.value.find((each) => resultKey(each) === selectedKey.value),
);

/** Opens a result, or closes the open one. */
export function selectResult(result: ConformanceResult | undefined): void {
  selectedKey.value = result ? resultKey(result) : '';
}

/** Subscribes to the runs of the server, which continue without the page. @returns a function that unsubscribes */
export function watchRuns(): () => void {
  return startReconnectingStream<ConformanceEvent>({ path: () => 'conformance/run', take });
}

/** Starts a run. */
export function startRun(input: ConformanceInput): Promise<void> {
  resultFilter.value = noFilter;
  return request(() => requestApi('conformance/run', { method: 'POST', body: input }));
}

/** Repeats one rule; its result replaces the one in the report. */
export async function repeatRule({ test, version, transport }: ConformanceResult): Promise<void> {
  const path = `conformance/reports/${lastReport.value?.id ?? ''}/repeat`;
  const body = { test, version, ...(transport && { transport }) };
  return request(() => requestApi(path, { method: 'POST', body }));
}

/** Cancels the run, which then has no report. */
export function cancelRun(): Promise<void> {
  return request(() => requestApi('conformance/run', { method: 'DELETE' }));
}

/** Returns the report in a format of the command. */
export async function fetchReport(format: string): Promise<Blob> {
  const path = `conformance/reports/${lastReport.value?.id ?? ''}/file?format=${format}`;
  return (await requestApi(path)).blob();
}

/** Downloads the report in a format of the command. */
export function saveReport(format: string, ending: string): Promise<void> {
  const name = lastReport.value?.report.agentName ?? '';
  return request(async () => download(await fetchReport(format), `conformance-${name}.${ending}`));
}

/** Performs a request and displays its error. */
async function request(work: () => Promise<unknown>): Promise<void> {
  runError.value = undefined;
  try {
    await work();
  } catch (error) {
    runError.value = toDisplayError(error);
  }
}

function take(event: ConformanceEvent): void {
  const run = currentRun.peek();
  switch (event.kind) {
    case 'started':
      batch(() => {
        currentRun.value = beginRun(event);
        runError.value = undefined;
        // The events of a run are sent again when the view is opened again.
        const isShown = lastReport.peek()?.startedAt === event.startedAt;
        if (!isShown && event.rule === undefined) lastReport.value = undefined;
      });
      break;
    case 'checking':
    case 'checked':
      if (run) currentRun.value = advanceRun(run, event);
      break;
    case 'report':
      void showReport(event.reportId, run?.startedAt ?? 0);
      break;
    case 'canceled':
      currentRun.value = undefined;
      break;
    case 'error':
      batch(() => {
        currentRun.value = undefined;
        runError.value = event;
      });
  }
}

async function showReport(id: string, startedAt: number): Promise<void> {
  const shown = lastReport.peek();
  if (shown?.id !== id || shown.startedAt !== startedAt)
    await request(async () => {
      const report = await requestJson<ConformanceReport>(`conformance/reports/${id}`);
      await chooseComparison(id);
      lastReport.value = { id, startedAt, report };
    });
  currentRun.value = undefined;
}
