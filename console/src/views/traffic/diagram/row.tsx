import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { transportName, VersionBadge } from '../../../components/badge.tsx';
import { formatClockTime, formatDuration } from '../../../components/format-units.ts';
import { findingCount, isError, lossCount } from '../filter.ts';
import { type Arrow, layoutArrow } from './layout.ts';
import { formatCountedNoun } from '../../../components/format-units.ts';
import { recordSummary, accessibleLabel } from '../labels.ts';
import './row.css';

interface RowProps {
  record: TrafficRecord;
  /** Row index, from 0. */
  index: number;
  count: number;
  height: number;
  /** Columns of sender and receiver; undefined if the view is too narrow for a diagram. */
  lines: { readonly from: number; readonly to: number } | undefined;
  /** Color of the task. */
  hue: number | undefined;
  isSelected: boolean;
  /** True if the row belongs to the exchange of the selected or hovered row. */
  isRelated: boolean;
  /** True if the row is the counterpart of the selected row on the other side of a gateway. */
  isOther: boolean;
}

/** One record: time, participants, summary and variant. */
export function DiagramRow(props: RowProps) {
  const { record, index, count, height, lines, hue, isSelected, isRelated, isOther } = props;
  const names = [
    'traffic-row',
    `traffic-kind-${record.kind}`,
    ...(isError(record) ? ['traffic-bad'] : []),
    ...(isRelated ? ['traffic-related'] : []),
    ...(isOther ? ['traffic-other'] : []),
    ...(hue === undefined ? [] : [`traffic-hue-${hue}`]),
    ...(lines ? [] : ['traffic-text']),
  ];
  return (
    <div
      id={`passage-${record.sequence}`}
      class={names.join(' ')}
      role="option"
      data-sequence={record.sequence}
      data-exchange={record.exchangeId}
      aria-label={accessibleLabel(record)}
      aria-selected={isSelected}
      aria-posinset={index + 1}
      aria-setsize={count}
      style={{ transform: `translateY(${index * height}px)`, height: `${height}px` }}
    >
      <span class="traffic-time">{formatClockTime(record.at)}</span>
      {lines ? (
        <Drawn record={record} arrow={layoutArrow(lines.from, lines.to)} />
      ) : (
        <span class="traffic-caption">
          <span class="traffic-route">
            {record.from} → {record.to}
          </span>
          <span class="traffic-summary-text">{recordSummary(record)}</span>
        </span>
      )}
      <Marks record={record} />
    </div>
  );
}

function Drawn({ record, arrow }: { record: TrafficRecord; arrow: Arrow }) {
  return (
    <span class="traffic-lane">
      <span
        class={`traffic-arrow traffic-arrow-${arrow.direction}`}
        style={{ left: `${arrow.left}px`, width: `${arrow.width}px` }}
      >
        <span class="traffic-summary">{recordSummary(record)}</span>
      </span>
    </span>
  );
}

function Marks({ record }: { record: TrafficRecord }) {
  const { decoded, http, kind } = record;
  const losses = lossCount(record);
  const findings = findingCount(record);
  return (
    <span class="traffic-marks">
      {losses > 0 ? (
        <span class="traffic-mark traffic-mark-loss" title={formatCountedNoun(losses, 'loss', 'losses')}>
          ▲{losses}
        </span>
      ) : null}
      {findings > 0 ? (
        <span
          class="traffic-mark traffic-mark-finding"
          title={formatCountedNoun(findings, 'finding', 'findings')}
        >
          ◆{findings}
        </span>
      ) : null}
      {http?.status === undefined || kind !== 'response' ? null : (
        <span class={http.status < 400 ? 'traffic-status' : 'traffic-status traffic-status-bad'}>
          {http.status}
        </span>
      )}
      <span class="traffic-how">{howOf(record)}</span>
      {decoded?.version === undefined ? null : <VersionBadge version={decoded.version} />}
    </span>
  );
}

/** Duration and protocol variant. */
function howOf({ kind, elapsed: after, decoded }: TrafficRecord): string {
  const took = kind === 'request' || after === undefined ? [] : [formatDuration(after)];
  const over = decoded?.transport === undefined ? [] : [transportName(decoded.transport)];
  return [...took, ...over].join(' ');
}
