import type { ReportDiff } from '../../../conformance/report/compare-reports.ts';
import {
  type ConformanceReport,
  type ConformanceResult,
  isConformant,
  variantKey,
  listResults,
} from '../../../conformance/report/build-report.ts';
import {
  groupFindings,
  specificationReference,
  formatVerdictLine,
} from '../../../conformance/report/report-text.ts';
import { createColors } from '../../terminal/colors.ts';

interface Output {
  isTTY?: boolean;
}

/** What a person needs to know of a report: what is wrong, how to see it, how to mend it, and what stayed open. */
export function formatReportSummary(report: ConformanceReport, output: Output): string {
  const { bold, red, yellow, green, dim, cyan } = createColors(output);
  const lines: string[] = [];
  for (const { first, all } of groupFindings(report)) {
    const isFail = all.some(({ status }) => status === 'fail');
    const where = [...new Set(all.map(variantKey))].join(', ');
    lines.push(
      `${isFail ? red('broken') : yellow('warning')}  ${bold(first.test)}  ${dim(`${first.level}, ${specificationReference(first)}, on ${where}`)}`,
      `  ${first.rule}`,
      `  seen:     ${clean(first.message ?? '')}`,
    );
    if (first.expected !== undefined) lines.push(`  expected: ${clean(first.expected)}`);
    if (first.actual !== undefined) lines.push(`  got:      ${clean(first.actual)}`);
    lines.push(`  to do:    ${first.remediation}`);
    if (first.curl !== undefined && isFail) lines.push(`  ${cyan(clean(first.curl, 2_000))}`);
    lines.push('');
  }
  const open = listResults(report).filter(({ verdict }) => verdict === 'inconclusive' || verdict === 'error');
  for (const [why, count] of countedBy(open, ({ message = '' }) => clean(message)))
    lines.push(`${dim('open')}  ${count === 1 ? '1 rule' : `${count} rules`}: ${why}`);
  if (open.length > 0) lines.push('');
  for (const warning of report.warnings) lines.push(`${yellow('Read this first:')} ${clean(warning)}`);
  const paint = report.unreachable === undefined && isConformant(report) ? green : red;
  lines.push(
    `${report.agentName === 'unknown' ? '' : `${clean(report.agentName)}: `}${paint(clean(formatVerdictLine(report)))}`,
    '',
  );
  return lines.join('\n');
}

/** What changed between two reports. */
export function formatReportDiff(
  { regressions: worse, fixed: mended, unchanged: known, nowInconclusive: lost }: ReportDiff,
  output: Output,
): string {
  const { red, green, dim } = createColors(output);
  const line = (word: string, each: ConformanceResult): string =>
    `${word}  ${each.test} on ${variantKey(each)}: ${clean(each.message ?? 'it holds now')}`;
  return [
    ...worse.map((each) => line(red('worse '), each)),
    ...lost.map((each) => line(dim('open  '), each)),
    ...mended.map((each) => line(green('mended'), each)),
    `${worse.length} worse, ${mended.length} mended, ${known.length} as before, ${lost.length} not learned this time`,
    '',
  ].join('\n');
}

function countedBy<T>(list: readonly T[], keyOf: (each: T) => string): [string, number][] {
  const counts = new Map<string, number>();
  for (const each of list) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

/** Words of an agent on a terminal: on one line, and without anything that moves the cursor. */
function clean(text: string, most = 400): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll(/\p{Cc}/gu, '');
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
