import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { SessionNotes } from '../../session/kept/session-place.tsx';
import { RunForm } from './run-form.tsx';
import { RunProgress } from './run-progress.tsx';
import { HtmlReport } from './html-report.tsx';
import { RunOutcome } from './run-outcome.tsx';
import { ResultDetail } from './result-detail.tsx';
import { ResultList } from './result-list.tsx';
import { selectedResult, lastReport, currentRun, runError, watchRuns } from './state.ts';
import './conformance.css';

/** The conformance view. */
export function ConformanceView() {
  const isReading = useSignal(false);
  useEffect(watchRuns, []);
  const report = lastReport.value;
  if (report && isReading.value) return <HtmlReport onClose={() => (isReading.value = false)} />;
  return (
    <div class="exam">
      <RunForm />
      <SessionNotes />
      {runError.value ? <ErrorNote error={runError.value} /> : null}
      {currentRun.value ? <RunProgress run={currentRun.value} /> : null}
      {report ? (
        <>
          <RunOutcome id={report.id} report={report.report} onRead={() => (isReading.value = true)} />
          {report.report.unreachable === undefined ? (
            <div
              class={
                selectedResult.value ? 'conformance-results conformance-results-open' : 'conformance-results'
              }
            >
              <ResultList />
              {selectedResult.value ? <ResultDetail result={selectedResult.value} /> : null}
            </div>
          ) : null}
        </>
      ) : null}
      {report || currentRun.value || runError.value ? null : (
        <EmptyState title="Test A2A conformance">
          Runs every rule in all versions and transports of the agent card. Violations are reported with
          evidence and a fix. To test a client, run dragoman conformance client.
        </EmptyState>
      )}
    </div>
  );
}
