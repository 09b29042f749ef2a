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

/** Formats a report for a terminal: violations with their remedies, inconclusive rules, warnings and the verdict. */
export function formatReportSummary(report: ConformanceReport, output: Output): string {
  const { bold, red, yellow, green, dim, cyan } = createColors(output);
  const lines: string[] = [];
  for (const { first, all } of groupFindings(report)) {
    const isFail = all.some(({ status }) => status === 'fail');
    const where = [...new Set(all.map(variantKey))].join(', ');
    lines.push(
      `${first.critical ? red('critical') : isFail ? red('failed') : yellow('warning')}  ${bold(first.test)}  ${dim(`${first.level}, ${specificationReference(first)}, on ${where}`)}`,
      `  ${first.rule}`,
      `  observed: ${clean(first.message ?? '')}`,
    );
    if (first.expected !== undefined) lines.push(`  expected: ${clean(first.expected)}`);
    if (first.actual !== undefined) lines.push(`  actual:   ${clean(first.actual)}`);
    lines.push(`  fix:      ${first.remediation}`);
    if (first.curl !== undefined && isFail) lines.push(`  ${cyan(clean(first.curl, 2_000))}`);
    lines.push('');
  }
  const inconclusive = listResults(report).filter(
    ({ verdict }) => verdict === 'inconclusive' || verdict === 'error',
  );
  for (const [reason, count] of countBy(inconclusive, ({ message = '' }) => clean(message)))
    lines.push(`${dim('inconclusive')}  ${count === 1 ? '1 rule' : `${count} rules`}: ${reason}`);
  if (inconclusive.length > 0) lines.push('');
  for (const warning of report.warnings) lines.push(`${yellow('warning:')} ${clean(warning)}`);
  const paint = report.unreachable === undefined && isConformant(report) ? green : red;
  lines.push(
    `${report.agentName === 'unknown' ? '' : `${clean(report.agentName)}: `}${paint(clean(formatVerdictLine(report)))}`,
    '',
  );
  return lines.join('\n');
}

/** Formats the differences between two reports. */
export function formatReportDiff(
  { regressions, fixed, unchanged, nowInconclusive }: ReportDiff,
  output: Output,
): string {
  const { red, green, dim } = createColors(output);
  const line = (label: string, result: ConformanceResult): string =>
    `${label}  ${result.test} on ${variantKey(result)}: ${clean(result.message ?? 'passes now')}`;
  return [
    ...regressions.map((result) => line(red('regression'), result)),
    ...nowInconclusive.map((result) => line(dim('inconclusive'), result)),
    ...fixed.map((result) => line(green('fixed'), result)),
    `${regressions.length} regressions, ${fixed.length} fixed, ${unchanged.length} unchanged, ${nowInconclusive.length} now inconclusive`,
    '',
  ].join('\n');
}

function countBy<T>(list: readonly T[], keyOf: (each: T) => string): [string, number][] {
  const counts = new Map<string, number>();
  for (const each of list) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

/** Makes text of an agent safe for a terminal: one line, without control characters, truncated. */
function clean(text: string, maxLength = 400): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll(/\p{Cc}/gu, '');
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
