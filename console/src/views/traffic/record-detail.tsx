import { signal, useSignal } from '@preact/signals';
import { toCurl } from '../../../../src/tap/to-curl.ts';
import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { Badge, StateBadge, TransportBadge, VersionBadge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { ErrorNote, type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { formatClockTime, formatDuration, formatCount } from '../../components/format-units.ts';
import { routeHref } from '../../session/router.ts';
import { editRecord } from '../requests/state.ts';
import { saveScenario } from './files.ts';
import { prettyPrint } from './pretty-print.ts';
import {
  counterpartRecord,
  isOpen,
  select,
  selectedRecord,
  selectedRequest,
  timeline,
  translationLosses,
} from './state.ts';
import { RecordRemarks } from './record-remarks.tsx';
import { TranslationView } from './translation-view.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { recordSummary, kindNames } from './labels.ts';
import './record-detail.css';

/** The selected record in full. */
export function RecordDetail() {
  const shown = selectedRecord.value;
  if (!isOpen.value || !shown) return null;
  return (
    <section
      class="traffic-detail"
      aria-label={`Record ${shown.sequence}`}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        isOpen.value = false;
        document.querySelector<HTMLElement>('.traffic-rows')?.focus();
      }}
    >
      <Title record={shown} />
      <div class="traffic-sheet">
        <RecordRemarks record={shown} />
        <Content record={shown} />
      </div>
    </section>
  );
}

/** True if a message with a counterpart is shown beside it. */
const isTranslationOpen = signal(true);

function Content({ record: shown }: { record: TrafficRecord }) {
  const counterpart = counterpartRecord.value;
  const single = (
    <div class="traffic-sides">
      <Raw key={`raw-${shown.sequence}`} record={shown} />
      <Decoded key={`decoded-${shown.sequence}`} record={shown} />
    </div>
  );
  if (!counterpart) return single;
  // The message that was sent first is on the left.
  const [left, right] = shown.sequence < counterpart.sequence ? [shown, counterpart] : [counterpart, shown];
  return (
    <Tabs
      label="Views of the message"
      tabs={[
        { id: 'translation', title: 'Side by side' },
        { id: 'single', title: 'Raw and decoded' },
      ]}
      open={isTranslationOpen.value ? 'translation' : 'single'}
      onOpen={(id) => (isTranslationOpen.value = id === 'translation')}
    >
      {isTranslationOpen.value ? (
        <TranslationView left={left} right={right} losses={translationLosses.value} />
      ) : (
        single
      )}
    </Tabs>
  );
}

function Title({ record: shown }: { record: TrafficRecord }) {
  const { sequence, at, from, to, kind, elapsed: after, http, decoded } = shown;
  return (
    <header class="traffic-title">
      <h2>
        <span class="traffic-number">#{sequence}</span> {recordSummary(shown)}
      </h2>
      <span class="traffic-badges">
        {decoded?.version === undefined ? null : <VersionBadge version={decoded.version} />}
        {decoded?.transport === undefined ? null : <TransportBadge transport={decoded.transport} />}
        {http?.status === undefined || kind !== 'response' ? null : (
          <Badge tone={http.status < 400 ? 'green' : 'red'}>HTTP {http.status}</Badge>
        )}
        {decoded?.state === undefined ? null : <StateBadge state={decoded.state} />}
      </span>
      <Button small kind="quiet" aria-label="Close" title="Esc" onClick={() => (isOpen.value = false)}>
        ✕
      </Button>
      <span class="traffic-facts">
        {kindNames[kind]}, {from} → {to}, {formatClockTime(at)}
        {after === undefined || kind === 'request' ? '' : `, ${formatDuration(after)} after the request`}
      </span>
      <Actions key={sequence} record={shown} />
    </header>
  );
}

function Actions({ record: shown }: { record: TrafficRecord }) {
  const error = useSignal<DisplayError | undefined>(undefined);
  const task = timeline.value.correlation.taskOf(shown.exchangeId);
  const same = counterpartRecord.value;
  const curl = toCurl(shown);
  const request = selectedRequest.value;
  const save = () =>
    saveScenario(
      timeline.value.records((each) => each.exchangeId === shown.exchangeId),
      `exchange-${shown.exchangeId}`,
    ).catch((thrown: unknown) => {
      error.value = toDisplayError(thrown);
    });
  return (
    <>
      <span class="traffic-actions">
        {same ? (
          <Button small onClick={() => select(same.sequence)}>
            Counterpart: {same.from} → {same.to}
            {same.decoded?.version === undefined ? null : <VersionBadge version={same.decoded.version} />}
          </Button>
        ) : null}
        {request ? (
          <Button small kind="quiet" onClick={() => editRecord(request)}>
            Edit and resend
          </Button>
        ) : null}
        {curl === undefined ? null : <CopyButton label="Copy as curl" text={curl} />}
        <LinkButton small kind="quiet" href={routeHref('traffic', { exchange: shown.exchangeId })}>
          Show exchange
        </LinkButton>
        {task === undefined ? null : (
          <LinkButton small kind="quiet" href={routeHref('traffic', { task })}>
            Show task
          </LinkButton>
        )}
        <Button small kind="quiet" onClick={() => void save()}>
          Save exchange as scenario
        </Button>
      </span>
      {error.value ? <ErrorNote error={error.value} /> : null}
    </>
  );
}

function Raw({ record: shown }: { record: TrafficRecord }) {
  const isAsSent = useSignal(false);
  const { http, mesh, text, truncatedBy: cut, kind } = shown;
  const laid = prettyPrint(text);
  const properties = Object.entries(http?.headers ?? mesh?.properties ?? {});
  const lines = properties.map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const first = http
    ? kind === 'request'
      ? `${http.method} ${http.url}`
      : `HTTP ${http.status ?? ''}`
    : mesh?.topic;
  return (
    <section class="traffic-side" aria-label="Raw">
      <div class="traffic-side-bar">
        <h3>Raw</h3>
        {laid.isJson ? (
          <Button
            small
            kind="quiet"
            aria-pressed={isAsSent.value}
            onClick={() => (isAsSent.value = !isAsSent.value)}
          >
            As sent
          </Button>
        ) : null}
      </div>
      {first === undefined || kind === 'frame' ? null : (
        <details class="traffic-headers" open={lines.length > 0 && lines.length < 7}>
          <summary>
            <code>{first}</code>
          </summary>
          <pre>{lines.join('\n')}</pre>
        </details>
      )}
      {text === '' ? (
        <p class="traffic-nothing">No body</p>
      ) : (
        <CodeBlock
          label={laid.isJson ? 'JSON' : 'Text'}
          text={isAsSent.value ? text : laid.text}
          isWrapped
          maxShown={50_000}
        />
      )}
      {cut === undefined || cut === 0 ? null : (
        <p class="traffic-nothing">{formatCount(cut)} more characters were truncated.</p>
      )}
    </section>
  );
}

function Decoded({ record: { decoded } }: { record: TrafficRecord }) {
  return (
    <section class="traffic-side" aria-label="Decoded">
      <div class="traffic-side-bar">
        <h3>Decoded</h3>
        {decoded?.operation === undefined ? null : <code>{decoded.operation}</code>}
      </div>
      {decoded?.model === undefined ? (
        <p class="traffic-nothing">{decoded ? 'No decoded content.' : 'Not an A2A message.'}</p>
      ) : (
        <JsonView value={decoded.model} openLevels={4} label="Model" />
      )}
    </section>
  );
}
