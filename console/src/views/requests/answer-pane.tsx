import { useSignal } from '@preact/signals';
import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { Badge, StateBadge } from '../../components/badge.tsx';
import { LinkButton } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { formatByteSize, formatDuration } from '../../components/format-units.ts';
import { JsonView } from '../../components/json-view.tsx';
import { Spinner } from '../../components/progress.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { routeHref } from '../../session/router.ts';
import { recordSummary } from '../traffic/labels.ts';
import { prettyPrint } from '../traffic/pretty-print.ts';
import { RecordRemarks } from '../traffic/record-remarks.tsx';
import { exchange, type SentExchange } from './state.ts';

/** The answer to the last request: status, time, headers, and each event raw and decoded. */
export function AnswerPane() {
  const sent = exchange.value;
  return (
    <section class="requests-answer" aria-label="Answer">
      {sent ? (
        <Exchange sent={sent} />
      ) : (
        <EmptyState title="No answer yet">
          Compose a request and send it with the button or with Ctrl + Enter. It is sent exactly as written,
          also if it is invalid.
        </EmptyState>
      )}
    </section>
  );
}

function Exchange({ sent }: { sent: SentExchange }) {
  const tab = useSignal<'answer' | 'headers'>('answer');
  const { records, isRunning, error, omitted } = sent;
  const request = records.find(({ kind }) => kind === 'request');
  const response = records.find(({ kind }) => kind === 'response');
  const frames = records.filter(({ kind }) => kind === 'frame');
  const end = records.find(({ kind }) => kind === 'end');
  const size = records.reduce(
    (sum, { kind, text, truncatedBy = 0 }) => (kind === 'request' ? sum : sum + text.length + truncatedBy),
    0,
  );
  return (
    <>
      <div class="requests-status" role="status">
        {response?.http?.status === undefined ? null : (
          <Badge tone={response.http.status < 400 ? 'green' : 'red'}>HTTP {response.http.status}</Badge>
        )}
        {response?.decoded?.isError ? <Badge tone="red">error</Badge> : null}
        {isRunning ? <Spinner label={response ? 'Receiving events' : 'Waiting for the answer'} /> : null}
        {response?.elapsed === undefined ? null : (
          <span>{formatDuration(response.elapsed)} to the first byte</span>
        )}
        {frames.length > 0 ? (
          <span>
            {frames.length + omitted} {frames.length + omitted === 1 ? 'event' : 'events'}
          </span>
        ) : null}
        {end?.elapsed === undefined ? null : <span>{formatDuration(end.elapsed)} in total</span>}
        {response ? <span>{formatByteSize(size)}</span> : null}
        {request ? (
          <span class="requests-to-traffic">
            <LinkButton small kind="quiet" href={routeHref('traffic')}>
              Traffic
            </LinkButton>
          </span>
        ) : null}
      </div>
      {error ? <ErrorNote error={error} /> : null}
      {records.length === 0 ? null : (
        <Tabs
          label="Parts of the answer"
          tabs={[
            { id: 'answer', title: 'Answer' },
            { id: 'headers', title: 'Headers' },
          ]}
          open={tab.value}
          onOpen={(id) => (tab.value = id as 'answer' | 'headers')}
        >
          {tab.value === 'headers' ? (
            <div class="requests-sheet">
              {[request, response].map((each) => (each ? <Head key={each.kind} record={each} /> : null))}
            </div>
          ) : (
            <div class="requests-sheet">
              {response && response.text !== '' ? <Content record={response} /> : null}
              {response?.text === '' && frames.length === 0 && !isRunning ? (
                <p class="requests-note">The answer has no body.</p>
              ) : null}
              {omitted > 0 ? <p class="requests-note">{omitted} earlier events are not shown.</p> : null}
              {frames.length > 0 ? (
                <ol class="requests-events" aria-label="Events">
                  {frames.map((each, at) => (
                    <Event
                      key={each.sequence}
                      record={each}
                      isOpen={at === frames.length - 1 && !isRunning}
                    />
                  ))}
                </ol>
              ) : null}
              {end ? (
                <p class="requests-note">
                  {end.text} <RecordRemarks record={end} />
                </p>
              ) : null}
            </div>
          )}
        </Tabs>
      )}
    </>
  );
}

function Event({ record, isOpen }: { record: TrafficRecord; isOpen: boolean }) {
  const opened = useSignal<boolean | undefined>(undefined);
  const isShown = opened.value ?? isOpen;
  const { decoded, elapsed = 0 } = record;
  return (
    <li>
      <button
        type="button"
        class="requests-event"
        aria-expanded={isShown}
        onClick={() => (opened.value = !isShown)}
      >
        <span class="requests-elapsed">+{formatDuration(elapsed)}</span>
        <span class="requests-summary">{recordSummary(record)}</span>
        {decoded?.state === undefined ? null : <StateBadge state={decoded.state} />}
      </button>
      <RecordRemarks record={record} />
      {isShown ? <Content record={record} /> : null}
    </li>
  );
}

function Content({ record }: { record: TrafficRecord }) {
  const { decoded, text, truncatedBy = 0 } = record;
  const pretty = prettyPrint(text);
  return (
    <div class="requests-content">
      {decoded?.model === undefined ? null : (
        <div class="requests-decoded">
          <h3>Decoded: {decoded.summary}</h3>
          <JsonView value={decoded.model} openLevels={3} label="Model" />
        </div>
      )}
      <CodeBlock
        label={pretty.isJson ? 'Raw (JSON)' : 'Raw'}
        text={pretty.text}
        isWrapped
        maxShown={50_000}
      />
      {truncatedBy > 0 ? (
        <p class="requests-note">{truncatedBy.toLocaleString('en')} more characters are not kept.</p>
      ) : null}
    </div>
  );
}

function Head({ record: { kind, http } }: { record: TrafficRecord }) {
  if (!http) return null;
  const first = kind === 'request' ? `${http.method} ${http.url}` : `HTTP ${http.status ?? ''}`;
  const lines = Object.entries(http.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <CodeBlock
      label={kind === 'request' ? 'Request as sent, without secrets' : 'Response'}
      text={[first, ...lines].join('\n')}
      isWrapped
    />
  );
}
