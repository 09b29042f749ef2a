import { useSignal } from '@preact/signals';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { RunForm } from './run-form.tsx';
import { RunProgress } from './run-progress.tsx';
import { HtmlReport } from './html-report.tsx';
import { RunOutcome } from './run-outcome.tsx';
import { ResultDetail } from './result-detail.tsx';
import { ResultList } from './result-list.tsx';
import { selectedResult, lastReport, currentRun, runError } from './state.ts';
import './conformance.css';

/** The conformance view. */
export function ConformanceView() {
  const isReading = useSignal(false);
  const report = lastReport.value;
  if (report && isReading.value)
    return <HtmlReport html={report.html} onClose={() => (isReading.value = false)} />;
  return (
    <div class="exam">
      <RunForm />
      {runError.value ? <ErrorNote error={runError.value} /> : null}
      {currentRun.value ? <RunProgress examination={currentRun.value} /> : null}
      {report ? (
        <>
          <RunOutcome report={report.report} html={report.html} onRead={() => (isReading.value = true)} />
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
          evidence and a fix.
        </EmptyState>
      )}
    </div>
  );
}
