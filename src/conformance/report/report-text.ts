import type { ConformanceReport, ConformanceResult } from './build-report.ts';
import { listResults } from './build-report.ts';

/** Rules that are broken, each once, with every place where they are; a MUST comes first. */
export interface GroupedFinding {
  readonly first: ConformanceResult;
  readonly all: readonly ConformanceResult[];
}

/** What is to be mended, grouped by rule: first what is a MUST, then what is broken in most places. */
export function groupFindings(report: Pick<ConformanceReport, 'categories'>): GroupedFinding[] {
  const groups = new Map<string, ConformanceResult[]>();
  for (const each of listResults(report)) {
    if (each.verdict !== 'fail' && each.verdict !== 'warn') continue;
    groups.set(each.test, [...(groups.get(each.test) ?? []), each]);
  }
  const rank = ({ all }: GroupedFinding): number => (all.some(({ verdict }) => verdict === 'fail') ? 0 : 1);
  return [...groups.values()]
    .flatMap((all): GroupedFinding[] => (all[0] ? [{ first: all[0], all }] : []))
    .toSorted((a, b) => rank(a) - rank(b) || b.all.length - a.all.length);
}

/** The outcome in one sentence: counts, and never a bare percentage. */
export function formatVerdictLine({
  conformanceLevel,
  summary,
  variants: lanes,
  unreachable,
}: ConformanceReport): string {
  if (unreachable !== undefined) return `No verdict: ${unreachable}`;
  const where = lanes.map(({ version, transport }) => `${version} ${transport}`).join(', ');
  const { total, failed, warned, inconclusive, notApplicable, errors } = summary;
  const parts = [
    `${total} looked at`,
    `${failed} broken`,
    `${warned} to be improved`,
    `${notApplicable} not applicable`,
    `${inconclusive} inconclusive`,
    ...(errors > 0 ? [`${errors} errors of the suite`] : []),
  ];
  return `${conformanceLevel} · ${where} · ${parts.join(', ')}`;
}

/** Where the text of a rule stands. */
export function specificationUrl({
  section,
  version,
}: Pick<ConformanceResult, 'section' | 'version'>): string {
  return version === '1.0' ? `A2A 1.0.1, section ${section}` : `A2A ${version}, ${section}`;
}
