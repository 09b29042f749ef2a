import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { transportName, VersionBadge } from '../../../components/badge.tsx';
import { formatClockTime, formatDuration } from '../../../components/format-units.ts';
import { findingCount, isError, lossCount } from '../filter.ts';
import { type Arrow, layoutArrow } from './layout.ts';
import { formatCountedNoun, recordSummary, accessibleLabel } from '../labels.ts';
import './row.css';

interface RowProps {
  passage: TrafficRecord;
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
  const { passage, index, count, height, lines, hue, isSelected, isRelated, isOther } = props;
  const names = [
    'traffic-row',
    `traffic-kind-${passage.kind}`,
    ...(isError(passage) ? ['traffic-bad'] : []),
    ...(isRelated ? ['traffic-related'] : []),
    ...(isOther ? ['traffic-other'] : []),
    ...(hue === undefined ? [] : [`traffic-hue-${hue}`]),
    ...(lines ? [] : ['traffic-told']),
  ];
  return (
    <div
      id={`passage-${passage.sequence}`}
      class={names.join(' ')}
      role="option"
      data-sequence={passage.sequence}
      data-exchange={passage.exchangeId}
      aria-label={accessibleLabel(passage)}
      aria-selected={isSelected}
      aria-posinset={index + 1}
      aria-setsize={count}
      style={{ transform: `translateY(${index * height}px)`, height: `${height}px` }}
    >
      <span class="traffic-time">{formatClockTime(passage.at)}</span>
      {lines ? (
        <Drawn passage={passage} arrow={layoutArrow(lines.from, lines.to)} />
      ) : (
        <span class="traffic-words">
          <span class="traffic-route">
            {passage.from} → {passage.to}
          </span>
          <span class="traffic-said">{recordSummary(passage)}</span>
        </span>
      )}
      <Marks passage={passage} />
    </div>
  );
}

function Drawn({ passage, arrow }: { passage: TrafficRecord; arrow: Arrow }) {
  return (
    <span class="traffic-lane">
      <span
        class={`traffic-arrow traffic-arrow-${arrow.direction}`}
        style={{ left: `${arrow.left}px`, width: `${arrow.width}px` }}
      >
        <span class="traffic-gist">{recordSummary(passage)}</span>
      </span>
    </span>
  );
}

function Marks({ passage }: { passage: TrafficRecord }) {
  const { decoded: meaning, http, kind } = passage;
  const losses = lossCount(passage);
  const findings = findingCount(passage);
  return (
    <span class="traffic-marks">
      {losses > 0 ? (
        <span class="traffic-mark traffic-mark-loss" title={formatCountedNoun(losses, 'loss', 'losses')}>
          ▲{losses}
        </span>
      ) : null}
      {findings > 0 ? (
        <span class="traffic-mark traffic-mark-finding" title={formatCountedNoun(findings, 'finding', 'findings')}>
          ◆{findings}
        </span>
      ) : null}
      {http?.status === undefined || kind !== 'response' ? null : (
        <span class={http.status < 400 ? 'traffic-status' : 'traffic-status traffic-status-bad'}>{http.status}</span>
      )}
      <span class="traffic-how">{howOf(passage)}</span>
      {meaning?.version === undefined ? null : <VersionBadge version={meaning.version} />}
    </span>
  );
}

/** Duration and protocol variant. */
function howOf({ kind, elapsed: after, decoded: meaning }: TrafficRecord): string {
  const took = kind === 'request' || after === undefined ? [] : [formatDuration(after)];
  const over = meaning?.transport === undefined ? [] : [transportName(meaning.transport)];
  return [...took, ...over].join(' ');
}
