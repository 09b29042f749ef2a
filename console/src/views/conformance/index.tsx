import { useSignal } from '@preact/signals';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Form } from './run-form.tsx';
import { Going } from './run-progress.tsx';
import { HtmlReport } from './html-report.tsx';
import { Outcome } from './run-outcome.tsx';
import { ResultDetail } from './result-detail.tsx';
import { ResultList } from './result-list.tsx';
import { chosen, found, running, trouble } from './state.ts';
import './conformance.css';

/** Examines an agent, and shows what was found. */
export function ConformanceView() {
  const isReading = useSignal(false);
  const report = found.value;
  if (report && isReading.value)
    return <HtmlReport html={report.html} onClose={() => (isReading.value = false)} />;
  return (
    <div class="exam">
      <Form />
      {trouble.value ? <ErrorNote trouble={trouble.value} /> : null}
      {running.value ? <Going examination={running.value} /> : null}
      {report ? (
        <>
          <Outcome report={report.report} html={report.html} onRead={() => (isReading.value = true)} />
          {report.report.unreachable === undefined ? (
            <div class={chosen.value ? 'exam-results exam-results-open' : 'exam-results'}>
              <ResultList />
              {chosen.value ? <ResultDetail result={chosen.value} /> : null}
            </div>
          ) : null}
        </>
      ) : null}
      {report || running.value || trouble.value ? null : (
        <EmptyState title="How well does it keep to the protocol?">
          Every rule of every version that the agent's card declares is tried over the wire. What is broken
          comes with the evidence, and with what to do about it.
        </EmptyState>
      )}
    </div>
  );
}
