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

/** Examines an agent, and shows what was found. */
export function ConformanceView() {
  const isReading = useSignal(false);
  const report = lastReport.value;
  if (report && isReading.value)
    return <HtmlReport html={report.html} onClose={() => (isReading.value = false)} />;
  return (
    <div class="exam">
      <RunForm />
      {runError.value ? <ErrorNote trouble={runError.value} /> : null}
      {currentRun.value ? <RunProgress examination={currentRun.value} /> : null}
      {report ? (
        <>
          <RunOutcome report={report.report} html={report.html} onRead={() => (isReading.value = true)} />
          {report.report.unreachable === undefined ? (
            <div class={selectedResult.value ? 'exam-results exam-results-open' : 'exam-results'}>
              <ResultList />
              {selectedResult.value ? <ResultDetail result={selectedResult.value} /> : null}
            </div>
          ) : null}
        </>
      ) : null}
      {report || currentRun.value || runError.value ? null : (
        <EmptyState title="How well does it keep to the protocol?">
          Every rule of every version that the agent's card declares is tried over the wire. What is broken
          comes with the evidence, and with what to do about it.
        </EmptyState>
      )}
    </div>
  );
}
