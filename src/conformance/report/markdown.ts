import { type ConformanceReport, variantKey, listResults } from './build-report.ts';
import { groupFindings, formatVerdictLine } from './report-text.ts';

/** The report for people who read it beside code. */
export function markdownReport(report: ConformanceReport): string {
  const { agentName, agentVersion, agentUrl, testDate, warnings, provenance } = report;
  const results = listResults(report);
  const findings = groupFindings(report);
  const open = results.filter(({ verdict }) => verdict === 'inconclusive' || verdict === 'error');
  const lines = [
    `# Conformance of ${cell(agentName)} ${cell(agentVersion)}`,
    '',
    `**${cell(formatVerdictLine(report))}**`,
    '',
    `Agent: ${cell(agentUrl)}. Date: ${testDate}. ${cell(provenance.suite)}, rules ${provenance.rulesDigest}, ${provenance.requests} requests in ${(provenance.duration_ms / 1_000).toFixed(1)} s.`,
    '',
    ...warnings.map((each) => `> **Warning:** ${cell(each)}\n`),
    '## Summary',
    '',
    '| Category | Passed | Failed | Warned | Skipped |',
    '|----------|--------|--------|--------|---------|',
    ...Object.entries(report.categories).map(([name, list]) => {
      const count = (isIt: (each: (typeof list)[number]) => boolean): number => list.filter(isIt).length;
      return `| ${name} | ${count(({ verdict }) => verdict === 'pass')} | ${count(({ status }) => status === 'fail')} | ${count(({ verdict }) => verdict === 'warn')} | ${count(({ status }) => status === 'skip')} |`;
    }),
    '',
    '## Failed Tests',
    '',
  ];
  const failed = results.filter(({ status }) => status === 'fail');
  lines.push(...tableOf(failed, 'Nothing failed.'));
  const warned = results.filter(({ verdict }) => verdict === 'warn');
  lines.push('', '## Warnings', '', ...tableOf(warned, 'No recommendation was ignored.'));
  if (findings.length > 0) lines.push('', '## Evidence', '');
  for (const { first, all } of findings) {
    lines.push(`### ${first.test} (${first.level}, ${first.section})`, '', cell(first.rule), '');
    lines.push(`Seen on ${[...new Set(all.map(variantKey))].join(', ')}.`, '');
    if (first.expected !== undefined) lines.push(`Expected: ${code(first.expected)}`, '');
    if (first.actual !== undefined) lines.push(`Got: ${code(first.actual)}`, '');
    if (first.curl !== undefined) lines.push(...fence('sh', first.curl), '');
  }
  if (open.length > 0) {
    lines.push(
      '',
      '## Not learned',
      '',
      '| Test | Where | Reason, and what would make it possible |',
      '|---|---|---|',
    );
    for (const each of open)
      lines.push(`| ${each.test} | ${variantKey(each)} | ${cell(each.message ?? '')} |`);
  }
  return `${lines.join('\n')}\n`;
}

function tableOf(results: readonly ReturnType<typeof listResults>[number][], nothing: string): string[] {
  if (results.length === 0) return [nothing];
  return [
    '| Test | Category | Message | Recommendation | Where |',
    '|------|----------|---------|----------------|-------|',
    ...results.map(
      (each) =>
        `| ${each.test} | ${each.category} | ${cell(each.message ?? '')} | ${cell(each.remediation)} | ${variantKey(each)} |`,
    ),
  ];
}

/** Text of an agent must not become markup of ours. */
function cell(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>|#]/g, (character) => `\\${character}`).replaceAll(/\s*\n\s*/g, ' ');
}

function code(text: string): string {
  const line = text.replaceAll(/\s*\n\s*/g, ' ');
  const ticks = '`'.repeat(longestRun(line) + 1);
  return `${ticks} ${line} ${ticks}`;
}

function fence(language: string, text: string): string[] {
  const ticks = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return [`${ticks}${language}`, text, ticks];
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
