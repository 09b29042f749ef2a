import { useSignal } from '@preact/signals';
import { toCurl } from '../../../../src/tap/to-curl.ts';
import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { Badge, LevelBadge, StateBadge, TransportBadge, VersionBadge } from '../../components/badge.tsx';
import { Button, LinkButton } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { ErrorNote, type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { formatClockTime, formatDuration } from '../../components/format-units.ts';
import { routeHref } from '../../session/router.ts';
import { saveScenario } from './files.ts';
import { prettyPrint } from './pretty-print.ts';
import { isOpen, counterpartRecord, selectedRecord, select, timeline } from './state.ts';
import { recordSummary, formatCount, kindNames } from './labels.ts';
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
      <Title passage={shown} />
      <div class="traffic-sheet">
        <Remarks passage={shown} />
        <div class="traffic-sides">
          <Raw key={`raw-${shown.sequence}`} passage={shown} />
          <Decoded key={`decoded-${shown.sequence}`} passage={shown} />
        </div>
      </div>
    </section>
  );
}

function Title({ passage: shown }: { passage: TrafficRecord }) {
  const { sequence, at, from, to, kind, elapsed: after, http, decoded: meaning } = shown;
  return (
    <header class="traffic-title">
      <h2>
        <span class="traffic-number">#{sequence}</span> {recordSummary(shown)}
      </h2>
      <span class="traffic-badges">
        {meaning?.version === undefined ? null : <VersionBadge version={meaning.version} />}
        {meaning?.transport === undefined ? null : <TransportBadge transport={meaning.transport} />}
        {http?.status === undefined || kind !== 'response' ? null : (
          <Badge tone={http.status < 400 ? 'green' : 'red'}>HTTP {http.status}</Badge>
        )}
        {meaning?.state === undefined ? null : <StateBadge state={meaning.state} />}
      </span>
      <Button small kind="quiet" aria-label="Close" title="Esc" onClick={() => (isOpen.value = false)}>
        ✕
      </Button>
      <span class="traffic-facts">
        {kindNames[kind]}, {from} → {to}, {formatClockTime(at)}
        {after === undefined || kind === 'request' ? '' : `, ${formatDuration(after)} after the request`}
      </span>
      <Actions key={sequence} passage={shown} />
    </header>
  );
}

function Actions({ passage: shown }: { passage: TrafficRecord }) {
  const trouble = useSignal<DisplayError | undefined>(undefined);
  const task = timeline.value.threads.taskOf(shown.exchangeId);
  const same = counterpartRecord.value;
  const curl = toCurl(shown);
  const save = () =>
    saveScenario(
      timeline.value.passages((each) => each.exchangeId === shown.exchangeId),
      `exchange-${shown.exchangeId}`,
    ).catch((error: unknown) => {
      trouble.value = toDisplayError(error);
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
      {trouble.value ? <ErrorNote trouble={trouble.value} /> : null}
    </>
  );
}

const lossWords = { dropped: 'dropped', guessed: 'guessed', defaulted: 'default applied' } as const;

function Remarks({ passage: { decoded: meaning } }: { passage: TrafficRecord }) {
  const { losses = [], findings = [] } = meaning ?? {};
  if (losses.length + findings.length === 0) return null;
  return (
    <ul class="traffic-remarks">
      {findings.map((each, at) => (
        <li key={`finding-${at}`}>
          <LevelBadge level={each.level} /> {each.message} <code>{each.rule}</code>
        </li>
      ))}
      {losses.map((each, at) => (
        <li key={`loss-${at}`}>
          <Badge tone="amber">{lossWords[each.kind]}</Badge> <code>{each.path}</code> {each.note}
        </li>
      ))}
    </ul>
  );
}

function Raw({ passage: shown }: { passage: TrafficRecord }) {
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

function Decoded({ passage: { decoded: meaning } }: { passage: TrafficRecord }) {
  return (
    <section class="traffic-side" aria-label="Decoded">
      <div class="traffic-side-bar">
        <h3>Decoded</h3>
        {meaning?.operation === undefined ? null : <code>{meaning.operation}</code>}
      </div>
      {meaning?.model === undefined ? (
        <p class="traffic-nothing">
          {meaning ? 'No decoded content.' : 'Not an A2A message.'}
        </p>
      ) : (
        <JsonView value={meaning.model} openLevels={4} label="Model" />
      )}
    </section>
  );
}
