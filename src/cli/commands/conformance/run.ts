import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../../primitives/node/create-folder.ts';
import { compareReports } from '../../../conformance/report/compare-reports.ts';
import { testConformance } from '../../../conformance/test-conformance.ts';
import { type RunChecksOutcome, UnknownSkillError } from '../../../conformance/run-checks.ts';
import { runInteropMatrix } from '../../../conformance/interop/interop-matrix.ts';
import type { RequirementLevel, CheckedTransport, CheckedVersion } from '../../../conformance/rule-model.ts';
import {
  fixturePrompts,
  tckPrompts,
  type OutcomePrompts,
} from '../../../conformance/prompts/prompt-catalog.ts';
import { formatMatrixPage } from '../../../conformance/report/matrix-page.ts';
import { type ConformanceReport, readReport, buildReport } from '../../../conformance/report/build-report.ts';
import { Redactor } from '../../../primitives/redaction/redaction.ts';
import {
  reportFileNames,
  type ReportFormat,
  reportFormats,
  writeReport,
} from '../../../conformance/report/report-formats.ts';
import { readPrompts } from '../../../conformance/prompts/read-prompts.ts';
import { type CardReference, parseCardReference } from '../../client/card-reference.ts';
import { ClientError } from '../../client/client-error.ts';
import { readValidFile } from '../../terminal/print-diagnostics.ts';
import { createProgressDisplay } from './progress.ts';
import { formatReportDiff, formatReportSummary } from './format-report.ts';
import { parseHeaders } from '../../inputs/parse-headers.ts';
import { printErrorReport } from '../../terminal/print-error.ts';
import { UsageError, errorSummary } from '../../terminal/usage-error.ts';
import { expectUrl } from '../../inputs/expect-url.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { writeOutputFile } from '../../inputs/write-output-file.ts';
import { quoteShellWord } from '../../terminal/quote-shell-word.ts';
import { packageVersion } from '../../../primitives/node/package-version.ts';

/** Flags of `dragoman conformance`. */
export interface ConformanceFlags extends ReportFlags {
  agentCard?: string;
  header: string[];
  otherUserHeader: string[];
  restrictedUserHeader: string[];
  peer?: string;
  peerHeader: string[];
  delegate?: string;
  skill: string[];
  timeout: number;
  maxTime: number;
  maxMessages: number;
  webhookUrl?: string;
  webhookPort?: number;
  insecure: boolean;
  fixtures?: 'fx' | 'tck';
  prompts?: string;
  only: string[];
  level: 'must' | 'should' | 'may';
  transport: CheckedTransport[];
  a2aVersion: CheckedVersion[];
}

/** Flags of `dragoman conformance matrix`. */
export interface MatrixFlags {
  header: string[];
  timeout: number;
  html?: string;
  insecure: boolean;
  output: OutputFormat;
}

/** Runs `dragoman conformance`. Exits with 1 if the agent is not conformant and with 2 if that is unknown. */
export async function runConformanceCommand(
  argument: string | undefined,
  flags: ConformanceFlags,
): Promise<void> {
  const url = resolveAgentUrl(argument, flags);
  if (flags.peer !== undefined) expectUrl(flags.peer, '--peer');
  if (flags.webhookUrl !== undefined) expectUrl(flags.webhookUrl, '--webhook-url');
  if (flags.delegate !== undefined) checkDelegatePrompt(flags.delegate);
  const targets = listTargets(flags);
  const baseline = flags.baseline === undefined ? undefined : loadReport(flags.baseline);
  const toHeaders = (lines: string[]) => (lines.length > 0 ? parseHeaders(lines) : undefined);
  const headers = toHeaders(flags.header);
  const otherUserHeaders = toHeaders(flags.otherUserHeader);
  const restrictedUserHeaders = toHeaders(flags.restrictedUserHeader);
  const peerHeaders = toHeaders(flags.peerHeader);
  const progress = createProgressDisplay(process.stderr, flags.output === 'text');
  const outcome = await testConformance(url, {
    ...flags,
    headers,
    otherUserHeaders,
    restrictedUserHeaders,
    peerHeaders,
    skills: flags.skill.length > 0 ? flags.skill : undefined,
    transports: flags.transport.length > 0 ? flags.transport : undefined,
    versions: flags.a2aVersion.length > 0 ? flags.a2aVersion : undefined,
    prompts: loadPrompts(flags),
    only: flags.only.flatMap((each) => each.split(',')),
    level: flags.level.toUpperCase() as RequirementLevel,
    onProgress: (done, total, last) => progress.update(done, total, last),
  }).catch((error: unknown) => {
    if (!(error instanceof UnknownSkillError)) throw error;
    const hint = error.known.length > 0 ? `Use one of ${error.known.join(', ')}.` : 'The card has no skills.';
    throw new UsageError(error.message, hint);
  });
  progress.clear();
  const redactor = new Redactor(headers, otherUserHeaders, restrictedUserHeaders, peerHeaders);
  publishOutcome(outcome, { flags, targets, baseline, redactor });
}

/** How the results of a run are reported. */
export interface ReportFlags {
  report: string[];
  reportDir?: string;
  strict: boolean;
  baseline?: string;
  output: OutputFormat;
}

/** Writes the reports of a run and sets the exit code. */
export function publishOutcome(
  outcome: RunChecksOutcome,
  context: {
    readonly flags: ReportFlags;
    readonly targets: readonly ReportTarget[];
    readonly baseline: ConformanceReport | undefined;
    readonly redactor: Redactor;
  },
): void {
  const { flags, targets, baseline, redactor } = context;
  if (outcome.unreachable === undefined && outcome.results.length === 0)
    throw new UsageError(
      'No rules selected',
      'Check the filters --only, --level, --transport and --a2a-version.',
    );
  const report = buildReport(outcome, {
    suite: `dragoman ${packageVersion()}`,
    command: `dragoman ${process.argv.slice(2).map(quoteShellWord).join(' ')}`,
    redactor,
  });
  if (report.unreachable !== undefined)
    printErrorReport({
      message: report.unreachable.replace(/\.$/, ''),
      hint: outcome.client
        ? 'The command must fetch the card of the agent at {url} and send it a message.'
        : `Start the agent, or run dragoman doctor ${quoteShellWord(report.agentUrl)} to find the cause.`,
    });
  const isWritten = writeReports(report, targets);
  const isOnStdout = targets.some(({ file }) => file === undefined) || !isWritten;
  if (!isOnStdout) process.stdout.write(formatReportSummary(report, process.stdout));
  process.exitCode = isWritten ? chooseExitCode(report, flags, baseline) : 2;
}

/** Runs `dragoman conformance diff`. Exits with 1 on regressions. */
export function runConformanceDiffCommand(
  before: string,
  after: string,
  { output }: { output: OutputFormat },
): void {
  const diff = compareReports(loadReport(before), loadReport(after));
  process.stdout.write(
    output === 'json' ? `${JSON.stringify(diff)}\n` : formatReportDiff(diff, process.stdout),
  );
  if (diff.regressions.length > 0) process.exitCode = 1;
}

/** Runs `dragoman conformance matrix`. Exits with 1 if a pair of agents fails. */
export async function runConformanceMatrixCommand(
  urls: readonly string[],
  flags: MatrixFlags,
): Promise<void> {
  for (const url of urls) expectUrl(url);
  const headers = parseHeaders(flags.header);
  const { timeout, insecure } = flags;
  const matrix = new Redactor(headers).redactDeep(
    await runInteropMatrix(urls, { headers, timeout, insecure }),
  );
  if (flags.html !== undefined) writeOutputFile(flags.html, formatMatrixPage(matrix.agents, matrix.results));
  if (flags.output === 'json') process.stdout.write(`${JSON.stringify(matrix)}\n`);
  else
    for (const { from, to, delegation, ...relayed } of matrix.results) {
      const pair = `${matrix.agents[from]?.name ?? ''} → ${matrix.agents[to]?.name ?? ''}`;
      process.stdout.write(formatPair(pair, relayed));
      if (delegation) process.stdout.write(formatPair(`${pair}, delegation`, delegation));
    }
  if (matrix.results.some(({ verdict, delegation }) => verdict === 'fail' || delegation?.verdict === 'fail'))
    process.exitCode = 1;
}

function formatPair(pair: string, { verdict, message }: { verdict: string; message: string }): string {
  return `${verdict}  ${pair}${message === '' ? '' : `: ${message}`}\n`;
}

function chooseExitCode(
  report: ConformanceReport,
  { strict }: ReportFlags,
  baseline: ConformanceReport | undefined,
): number {
  const { summary, unreachable } = report;
  if (unreachable !== undefined) return 2;
  if (baseline) {
    const diff = compareReports(baseline, report);
    process.stderr.write(formatReportDiff(diff, process.stderr));
    return diff.regressions.some(({ status }) => status === 'fail') ? 1 : 0;
  }
  if (summary.failed > 0) return 1;
  if (strict && summary.inconclusive > 0) return 1;
  return summary.errors > 0 ? 2 : 0;
}

/** A report to write. */
export interface ReportTarget {
  readonly format: ReportFormat;
  /** Undefined for standard output. */
  readonly file: string | undefined;
}

/** Returns the reports that the flags request. */
export function listTargets({ report, reportDir, output }: ReportFlags): ReportTarget[] {
  const inDirectory = (format: ReportFormat) =>
    reportDir === undefined ? undefined : join(reportDir, reportFileNames[format]);
  const targets = report.map((value): ReportTarget => {
    const [name = '', ...rest] = value.split('=');
    const format = reportFormats.find((known) => known === name);
    if (format === undefined)
      throw new UsageError(`Unknown report format: ${name}`, `Use one of ${reportFormats.join(', ')}.`);
    return { format, file: rest.length > 0 ? rest.join('=') : inDirectory(format) };
  });
  if (reportDir !== undefined && report.length === 0)
    for (const format of reportFormats) targets.push({ format, file: inDirectory(format) });
  if (output === 'json') targets.push({ format: 'json', file: undefined });
  if (targets.filter(({ file }) => file === undefined).length > 1)
    throw new UsageError(
      'Only one report can be written to standard output',
      'Name files, as in --report html=report.html, or a directory with --report-dir.',
    );
  if (reportDir !== undefined)
    try {
      createFolder(reportDir);
    } catch {
      // Writing the reports fails later, when the results can still be printed.
    }
  return targets;
}

/** Writes all reports. If one cannot be written, prints the report as JSON, so that results are never lost. */
function writeReports(report: ConformanceReport, targets: readonly ReportTarget[]): boolean {
  let isWritten = true;
  for (const { format, file } of targets) {
    try {
      const text = writeReport(report, format);
      if (file === undefined) process.stdout.write(text);
      else {
        writeFileSync(file, text);
        process.stderr.write(`report written to ${file}\n`);
      }
    } catch (error) {
      printErrorReport({ message: `Cannot write the ${format} report: ${errorSummary(error)}` });
      isWritten = false;
    }
  }
  if (!isWritten) process.stdout.write(`${JSON.stringify(report)}\n`);
  return isWritten;
}

function loadPrompts({ fixtures, prompts: file }: ConformanceFlags): OutcomePrompts {
  const prompts = fixtures === 'fx' ? fixturePrompts : fixtures === 'tck' ? tckPrompts : {};
  if (file === undefined) return prompts;
  const text = readInputFile(file, 'Name a YAML file with --prompts FILE.');
  return { ...prompts, ...readValidFile(() => readPrompts(text, file)) };
}

/** Reads a JSON report. */
export function loadReport(file: string): ConformanceReport {
  const hint = 'Name a file that --report json has written.';
  const report = readReport(readInputFile(file, hint));
  if (!report)
    throw new UsageError(`Invalid file: ${file}`, hint, { places: [`${file}: not a JSON report`] });
  return report;
}

/** Returns the URL of the agent from the argument or from `--agent-card`. */
function resolveAgentUrl(argument: string | undefined, { agentCard }: ConformanceFlags): string {
  const hint = 'Run dragoman conformance http://localhost:4000, or pass the agent with --agent-card.';
  if (argument !== undefined && agentCard !== undefined)
    throw new UsageError('A URL and --agent-card cannot be used together', hint);
  if (agentCard !== undefined) {
    const reference = parseReference(agentCard, hint);
    if ('url' in reference) return reference.url.href;
    throw new UsageError(`${agentCard} is a card file; this command needs a running agent`, hint);
  }
  if (argument === undefined) throw new UsageError('Missing agent', hint);
  return expectUrl(argument);
}

function parseReference(text: string, hint: string): CardReference {
  try {
    return parseCardReference(text);
  } catch (thrown) {
    throw thrown instanceof ClientError ? new UsageError(thrown.message, thrown.hint ?? hint) : thrown;
  }
}

/** Checks `--delegate`: a skill ID has no braces, a prompt contains both placeholders. */
function checkDelegatePrompt(prompt: string): void {
  if (!/[{}]/.test(prompt) || (prompt.includes('{url}') && prompt.includes('{text}'))) return;
  throw new UsageError(`Invalid --delegate prompt: ${prompt}`, 'Use both placeholders, {url} and {text}.');
}
