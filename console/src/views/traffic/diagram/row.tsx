import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { transportName, VersionBadge } from '../../../components/badge.tsx';
import { formatClockTime, formatDuration } from '../../../components/format-units.ts';
import { findingCount, isError, lossCount } from '../filter.ts';
import { type Arrow, layoutArrow } from './layout.ts';
import { formatCountedNoun, recordSummary, accessibleLabel } from '../labels.ts';
import './row.css';

interface RowProps {
  passage: TrafficRecord;
  /** Counted from 0. */
  index: number;
  count: number;
  height: number;
  /** Where the lines of the two parties are; undefined where there is no room for a diagram. */
  lines: { readonly from: number; readonly to: number } | undefined;
  /** The colour of the task. */
  hue: number | undefined;
  isSelected: boolean;
  /** Of the trip of the selected or pointed row. */
  isRelated: boolean;
  /** What the selected row is on the other side of a gateway. */
  isOther: boolean;
}

/** One passage: when, from whom to whom, what it says, and how it was written. */
export function DiagramRow(props: RowProps) {
  const { passage, index, count, height, lines, hue, isSelected, isRelated, isOther } = props;
  const names = [
    'wire-row',
    `wire-kind-${passage.kind}`,
    ...(isError(passage) ? ['wire-bad'] : []),
    ...(isRelated ? ['wire-related'] : []),
    ...(isOther ? ['wire-other'] : []),
    ...(hue === undefined ? [] : [`wire-hue-${hue}`]),
    ...(lines ? [] : ['wire-told']),
  ];
  return (
    <div
      id={`passage-${passage.sequence}`}
      class={names.join(' ')}
      role="option"
      data-sequence={passage.sequence}
      data-trip={passage.exchangeId}
      aria-label={accessibleLabel(passage)}
      aria-selected={isSelected}
      aria-posinset={index + 1}
      aria-setsize={count}
      style={{ transform: `translateY(${index * height}px)`, height: `${height}px` }}
    >
      <span class="wire-time">{formatClockTime(passage.at)}</span>
      {lines ? (
        <Drawn passage={passage} arrow={layoutArrow(lines.from, lines.to)} />
      ) : (
        <span class="wire-words">
          <span class="wire-route">
            {passage.from} → {passage.to}
          </span>
          <span class="wire-said">{recordSummary(passage)}</span>
        </span>
      )}
      <Marks passage={passage} />
    </div>
  );
}

function Drawn({ passage, arrow }: { passage: TrafficRecord; arrow: Arrow }) {
  return (
    <span class="wire-lane">
      <span
        class={`wire-arrow wire-arrow-${arrow.direction}`}
        style={{ left: `${arrow.left}px`, width: `${arrow.width}px` }}
      >
        <span class="wire-gist">{recordSummary(passage)}</span>
      </span>
    </span>
  );
}

function Marks({ passage }: { passage: TrafficRecord }) {
  const { decoded: meaning, http, kind } = passage;
  const losses = lossCount(passage);
  const findings = findingCount(passage);
  return (
    <span class="wire-marks">
      {losses > 0 ? (
        <span class="wire-mark wire-mark-loss" title={formatCountedNoun(losses, 'loss', 'losses')}>
          ▲{losses}
        </span>
      ) : null}
      {findings > 0 ? (
        <span class="wire-mark wire-mark-finding" title={formatCountedNoun(findings, 'finding', 'findings')}>
          ◆{findings}
        </span>
      ) : null}
      {http?.status === undefined || kind !== 'response' ? null : (
        <span class={http.status < 400 ? 'wire-status' : 'wire-status wire-status-bad'}>{http.status}</span>
      )}
      <span class="wire-how">{howOf(passage)}</span>
      {meaning?.version === undefined ? null : <VersionBadge version={meaning.version} />}
    </span>
  );
}

/** How long it took, and over what. */
function howOf({ kind, elapsed: after, decoded: meaning }: TrafficRecord): string {
  const took = kind === 'request' || after === undefined ? [] : [formatDuration(after)];
  const over = meaning?.transport === undefined ? [] : [transportName(meaning.transport)];
  return [...took, ...over].join(' ');
}
