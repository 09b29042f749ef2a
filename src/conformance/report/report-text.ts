import type { ConformanceReport, ConformanceResult } from './build-report.ts';
import { listResults } from './build-report.ts';
import type { ClientRunSummary } from '../rule-model.ts';

/** A violated rule with its results in all protocol variants. */
export interface GroupedFinding {
  readonly first: ConformanceResult;
  readonly all: readonly ConformanceResult[];
}

/** Groups violations by rule: critical failures, other failures, warnings, then by the number of affected protocol variants. */
export function groupFindings(report: Pick<ConformanceReport, 'categories'>): GroupedFinding[] {
  const groups = groupBy(
    listResults(report).filter(({ verdict }) => verdict === 'fail' || verdict === 'warn'),
    ({ test }) => test,
  );
  const rank = ({ all }: GroupedFinding): number => {
    if (all.some(({ critical }) => critical)) return 0;
    return all.some(({ verdict }) => verdict === 'fail') ? 1 : 2;
  };
  return [...groups.values()]
    .flatMap((all): GroupedFinding[] => (all[0] ? [{ first: all[0], all }] : []))
    .toSorted((a, b) => rank(a) - rank(b) || b.all.length - a.all.length);
}

/** Returns the level of a rule in a report, such as `MUST` or `critical MUST`. */
export function formatLevel({ level, critical }: Pick<ConformanceResult, 'level' | 'critical'>): string {
  return critical ? `critical ${level}` : level;
}

/** Groups items by key, in the order of their first occurrence. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** Returns the outcome in one line. It contains counts, because a percentage would hide what was not tested. */
export function formatVerdictLine(report: ConformanceReport): string {
  const { conformanceLevel, summary, variants, unreachable } = report;
  if (unreachable !== undefined) return `No verdict: ${unreachable}`;
  const tested =
    variants.map(({ version, transport }) => `${version} ${transport}`).join(', ') || 'no interface found';
  const counts = summaryCounts(summary).map(({ label, count }) => `${count} ${label}`);
  return `${conformanceLevel} · ${tested} · ${counts.join(', ')}`;
}

/** Returns the labeled counts of a summary; errors of the suite only if there are any. */
export function summaryCounts(
  summary: ConformanceReport['summary'],
): { label: string; count: number; verdict?: 'fail' | 'warn' }[] {
  const { total, failed, warned, notApplicable, inconclusive, errors } = summary;
  return [
    { label: 'checked', count: total },
    { label: 'failed', count: failed, verdict: 'fail' },
    { label: 'warnings', count: warned, verdict: 'warn' },
    { label: 'not applicable', count: notApplicable },
    { label: 'inconclusive', count: inconclusive },
    ...(errors > 0 ? [{ label: 'suite errors', count: errors, verdict: 'fail' as const }] : []),
  ];
}

/** Describes an execution of a tested client: its operation, its end and its output. */
export function describeClientRun(run: ClientRunSummary): string {
  const { operation, exitCode, signal, isTimeout, duration_ms, stdout, stderr } = run;
  const end = isTimeout
    ? 'ended at the time limit'
    : exitCode === undefined
      ? `ended by ${signal ?? 'a signal'}`
      : `exit code ${exitCode}`;
  return [
    `operation ${operation}, ${end}, ${duration_ms} ms`,
    ...(stdout.trim() === '' ? [] : ['standard output:', stdout.trimEnd()]),
    ...(stderr.trim() === '' ? [] : ['standard error:', stderr.trimEnd()]),
  ].join('\n');
}

/** Returns the place of a rule in the specification, such as `A2A 1.0.1, section 3.1.1`. */
export function specificationReference({
  section,
  version,
}: Pick<ConformanceResult, 'section' | 'version'>): string {
  if (section === 'robustness') return 'robustness, not part of the specification';
  return version === '1.0' ? `A2A 1.0.1, section ${section}` : `A2A ${version}, ${section}`;
}
