import type { CardFinding } from '../../../../src/console/console-api.ts';
import { LevelBadge } from '../../components/badge.tsx';

/** Findings beside the affected field. */
export function FindingMarks({ findings }: { findings: readonly CardFinding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="agents-marks">
      {findings.map((finding, at) => (
        <li key={at} class={`agents-mark agents-mark-${finding.level}`}>
          <LevelBadge level={finding.level} />
          <span>
            {finding.path === '' ? null : <code>{finding.path}</code>} {finding.message}
          </span>
        </li>
      ))}
    </ul>
  );
}
