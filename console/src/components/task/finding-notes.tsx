import type { LintFinding } from '../../../../src/protocol/lint-stream.ts';
import { LevelBadge } from '../badge.tsx';
import './task.css';

/** Violated stream rules. */
export function FindingNotes({ findings }: { findings: readonly LintFinding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul class="task-findings">
      {findings.map((finding, at) => (
        <li key={at}>
          <LevelBadge level={finding.level} /> <code>{finding.rule}</code> {finding.message}
        </li>
      ))}
    </ul>
  );
}
