import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { LevelBadge } from '../../components/badge.tsx';
import { Losses } from './translation-view.tsx';

/** Findings and losses of a record. */
export function RecordRemarks({ record: { decoded } }: { record: TrafficRecord }) {
  const { findings = [], losses = [] } = decoded ?? {};
  return (
    <>
      {findings.length === 0 ? null : (
        <ul class="traffic-remarks">
          {findings.map((each, at) => (
            <li key={at}>
              <LevelBadge level={each.level} /> {each.message} <code>{each.rule}</code>
            </li>
          ))}
        </ul>
      )}
      <Losses losses={losses} />
    </>
  );
}
