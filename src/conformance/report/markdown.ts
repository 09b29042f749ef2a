import { type ConformanceReport, type ConformanceResult, variantKey, listResults } from './build-report.ts';
import { describeClientRun, formatLevel, groupFindings, formatVerdictLine } from './report-text.ts';
import { joinLines } from '../../primitives/text.ts';

/** Writes the report as Markdown, for pull requests and job summaries. */
export function formatMarkdownReport(report: ConformanceReport): string {
  const { subject, agentName, agentVersion, agentUrl, testDate, warnings, provenance } = report;
  const results = listResults(report);
  const findings = groupFindings(report);
  const inconclusive = results.filter(({ verdict }) => verdict === 'inconclusive' || verdict === 'error');
  const lines = [
    `# Conformance of ${escapeMarkdown(agentName)} ${escapeMarkdown(agentVersion)}`.trimEnd(),
    '',
    `**${escapeMarkdown(formatVerdictLine(report))}**`,
    '',
    `${subject === 'client' ? 'Client' : 'Agent'}: ${escapeMarkdown(agentUrl)}. Date: ${testDate}. ${escapeMarkdown(provenance.suite)}, rules ${provenance.rulesDigest}, ${provenance.requests} requests in ${(provenance.duration_ms / 1_000).toFixed(1)} s.`,
    '',
    ...warnings.map((each) => `> **Warning:** ${escapeMarkdown(each)}\n`),
    '## Summary',
    '',
    '| Category | Passed | Failed | Warned | Skipped |',
    '|----------|--------|--------|--------|---------|',
    ...Object.entries(report.categories).map(([name, list]) => {
      const count = (predicate: (each: (typeof list)[number]) => boolean): number =>
        list.filter(predicate).length;
      return `| ${name} | ${count(({ verdict }) => verdict === 'pass')} | ${count(({ status }) => status === 'fail')} | ${count(({ verdict }) => verdict === 'warn')} | ${count(({ status }) => status === 'skip')} |`;
    }),
    '',
    '## Failed Tests',
    '',
  ];
  const failed = results.filter(({ status }) => status === 'fail');
  lines.push(...formatTable(failed, 'No failures.'));
  const warned = results.filter(({ verdict }) => verdict === 'warn');
  lines.push('', '## Warnings', '', ...formatTable(warned, 'No warnings.'));
  if (findings.length > 0) lines.push('', '## Evidence', '');
  for (const { first, all } of findings) {
    lines.push(
      `### ${first.test} (${formatLevel(first)}, ${first.section})`,
      '',
      escapeMarkdown(first.rule),
      '',
    );
    lines.push(`Affected: ${[...new Set(all.map(variantKey))].join(', ')}.`, '');
    if (first.expected !== undefined) lines.push(`Expected: ${inlineCode(first.expected)}`, '');
    if (first.actual !== undefined) lines.push(`Actual: ${inlineCode(first.actual)}`, '');
    if (first.curl !== undefined) lines.push(...codeBlock('sh', first.curl), '');
    if (first.client) lines.push(...codeBlock('text', describeClientRun(first.client)), '');
  }
  if (inconclusive.length > 0) {
    lines.push('', '## Inconclusive', '', '| Test | Variant | Reason |', '|---|---|---|');
    for (const each of inconclusive)
      lines.push(`| ${each.test} | ${variantKey(each)} | ${escapeMarkdown(each.message ?? '')} |`);
  }
  return `${lines.join('\n')}\n`;
}

function formatTable(results: readonly ConformanceResult[], emptyText: string): string[] {
  if (results.length === 0) return [emptyText];
  return [
    '| Test | Category | Message | Recommendation | Variant |',
    '|------|----------|---------|----------------|---------|',
    ...results.map(
      (each) =>
        `| ${each.test} | ${each.category} | ${each.critical ? '**Critical:** ' : ''}${escapeMarkdown(each.message ?? '')} | ${escapeMarkdown(each.remediation)} | ${variantKey(each)} |`,
    ),
  ];
}

/** Escapes Markdown, because the text may come from the agent. */
function escapeMarkdown(text: string): string {
  return joinLines(text.replaceAll(/[\\`*_[\]<>|#]/g, (character) => `\\${character}`));
}

function inlineCode(text: string): string {
  const line = joinLines(text);
  const ticks = '`'.repeat(longestBacktickRun(line) + 1);
  return `${ticks} ${line} ${ticks}`;
}

function codeBlock(language: string, text: string): string[] {
  const ticks = '`'.repeat(Math.max(3, longestBacktickRun(text) + 1));
  return [`${ticks}${language}`, text, ticks];
}

function longestBacktickRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
