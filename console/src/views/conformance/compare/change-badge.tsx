import type { ReportChange } from '../../../../../src/conformance/report/compare-reports.ts';
import { Badge } from '../../../components/badge.tsx';
import { changeNames, verdicts } from '../results.ts';

/** How a result differs from the earlier report. */
export function ChangeBadge({ change }: { change: ReportChange | undefined }) {
  if (!change) return null;
  const { kind, before } = change;
  const tone = kind === 'regression' ? 'red' : kind === 'fixed' ? 'green' : 'blue';
  const was = before === undefined ? 'new rule' : `was: ${verdicts[before].name}`;
  return (
    <Badge tone={tone} title={was}>
      {kind === 'changed' ? was : changeNames[kind]}
    </Badge>
  );
}
