import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareReports } from '../../../conformance/report/compare-reports.ts';
import { testConformance } from '../../../conformance/test-conformance.ts';
import { runInteropMatrix } from '../../../conformance/interop/interop-matrix.ts';
import type { RequirementLevel, CheckedTransport, CheckedVersion } from '../../../conformance/rule-model.ts';
import {
  fixturePrompts,
  tckPrompts,
  type OutcomePrompts,
} from '../../../conformance/prompts/prompt-catalog.ts';
import { formatMatrixPage } from '../../../conformance/report/matrix-page.ts';
import { type ConformanceReport, readReport, buildReport } from '../../../conformance/report/build-report.ts';
import { Redactor } from '../../../primitives/redaction.ts';
import {
  reportFileNames,
  type ReportFormat,
  reportFormats,
  writeReport,
} from '../../../conformance/report/report-formats.ts';
import { readPrompts } from '../../../conformance/prompts/read-prompts.ts';
import { DocumentError } from '../../../documents/diagnostic.ts';
import { type CardReference, parseCardReference } from '../../client/card-reference.ts';
import { ClientError } from '../../client/client-error.ts';
import { invalidFileError } from '../../terminal/print-diagnostics.ts';
import { createProgressDisplay } from './progress.ts';
import { formatReportDiff, formatReportSummary } from './format-report.ts';
import { parseHeaders } from '../../inputs/parse-headers.ts';
import { UsageError, errorSummary } from '../../terminal/usage-error.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';
import { packageVersion } from '../../../documents/package-version.ts';

/** What `dragoman conformance` is told. */
export interface ConformanceFlags {
  agentCard?: string;
  header: string[];
  otherHeader: string[];
  limitedHeader: string[];
  second?: string;
  secondHeader: string[];
  delegate?: string;
  skill: string[];
  timeout: number;
  maxTime: number;
  maxMessages: number;
  webhookUrl?: string;
  webhookPort?: number;
  insecure: boolean;
  fixtures?: 'fx' | 'tck';
  scenario?: string;
  only: string[];
  level: 'must' | 'should' | 'may';
  transport: CheckedTransport[];
  a2aVersion: CheckedVersion[];
  report: string[];
  output?: string;
  strict: boolean;
  baseline?: string;
  o: 'text' | 'json';
}

/** What `dragoman conformance matrix` is told. */
export interface MatrixFlags {
  header: string[];
  timeout: number;
  output?: string;
  insecure: boolean;
  o: 'text' | 'json';
}

/** Examines an agent, writes the reports, and ends with 0, 1 or 2. */
export async function runConformanceCommand(
  given: string | undefined,
  flags: ConformanceFlags,
): Promise<void> {
  const url = addressOf(given, flags);
  if (flags.second !== undefined) expectUrl(flags.second);
  if (flags.webhookUrl !== undefined) expectUrl(flags.webhookUrl);
  if (flags.delegate !== undefined) expectWords(flags.delegate);
  const targets = targetsOf(flags);
  const baseline = flags.baseline === undefined ? undefined : reportIn(flags.baseline);
  const headers = parseHeaders(flags.header);
  const otherHeaders = parseHeaders(flags.otherHeader);
  const limitedHeaders = parseHeaders(flags.limitedHeader);
  const secondHeaders = parseHeaders(flags.secondHeader);
  const progress = createProgressDisplay(process.stderr, flags.o === 'text');
  const outcome = await testConformance(url, {
    headers,
    ...(flags.otherHeader.length > 0 ? { otherUserHeaders: otherHeaders } : {}),
    ...(flags.second === undefined ? {} : { peer: flags.second, peerHeaders: secondHeaders }),
    ...(flags.delegate === undefined ? {} : { delegate: flags.delegate }),
    ...(flags.skill.length > 0 ? { skills: flags.skill } : {}),
    ...(flags.transport.length > 0 ? { transports: flags.transport } : {}),
    ...(flags.a2aVersion.length > 0 ? { versions: flags.a2aVersion } : {}),
    ...(flags.limitedHeader.length > 0 ? { restrictedUserHeaders: limitedHeaders } : {}),
    ...(flags.webhookUrl === undefined ? {} : { webhookUrl: flags.webhookUrl }),
    ...(flags.webhookPort === undefined ? {} : { webhookPort: flags.webhookPort }),
    prompts: waysOf(flags),
    only: flags.only.flatMap((each) => each.split(',')),
    level: flags.level.toUpperCase() as RequirementLevel,
    timeout: flags.timeout,
    maxTime: flags.maxTime,
    maxMessages: flags.maxMessages,
    insecure: flags.insecure,
    onProgress: (done, total, last) => progress.tell(done, total, last),
  });
  progress.clear();
  if (outcome.unreachable === undefined && outcome.results.length === 0)
    throw new UsageError(
      'no rule was left to look at',
      'Look at --only, --level, --transport and --a2a-version.',
    );
  const report = buildReport(outcome, {
    suite: `dragoman ${packageVersion()}`,
    command: `dragoman ${process.argv.slice(2).map(quoted).join(' ')}`,
    redactor: new Redactor(headers, otherHeaders, limitedHeaders, secondHeaders),
  });
  const isWritten = writeAll(report, targets);
  const isOnOutput = targets.some(({ file }) => file === undefined) || !isWritten;
  if (!isOnOutput) process.stdout.write(formatReportSummary(report, process.stdout));
  process.exitCode = isWritten ? exitCodeOf(report, flags, baseline) : 2;
}

/** Tells what changed from one report to another. */
export function runConformanceDiffCommand(
  before: string,
  after: string,
  { o }: { o: 'text' | 'json' },
): void {
  const difference = compareReports(reportIn(before), reportIn(after));
  process.stdout.write(
    o === 'json' ? `${JSON.stringify(difference)}\n` : formatReportDiff(difference, process.stdout),
  );
  if (difference.regressions.length > 0) process.exitCode = 1;
}

/** Lets every agent speak to every other. */
export async function runConformanceMatrixCommand(
  urls: readonly string[],
  flags: MatrixFlags,
): Promise<void> {
  for (const url of urls) expectUrl(url);
  const headers = parseHeaders(flags.header);
  const { timeout, insecure } = flags;
  const found = new Redactor(headers).redactDeep(
    await runInteropMatrix(urls, { headers, timeout, insecure }),
  );
  if (flags.output !== undefined) writeFile(flags.output, formatMatrixPage(found.agents, found.results));
  if (flags.o === 'json') process.stdout.write(`${JSON.stringify(found)}\n`);
  else
    for (const { from, to, delegation: direct, ...relayed } of found.results) {
      const pair = `${found.agents[from]?.name ?? ''} → ${found.agents[to]?.name ?? ''}`;
      process.stdout.write(meetingLine(pair, relayed));
      if (direct) process.stdout.write(meetingLine(`${pair}, directly`, direct));
    }
  if (
    found.results.some(({ verdict, delegation: direct }) => verdict === 'fail' || direct?.verdict === 'fail')
  )
    process.exitCode = 1;
}

function meetingLine(pair: string, { verdict, message }: { verdict: string; message: string }): string {
  return `${verdict}  ${pair}${message === '' ? '' : `: ${message}`}\n`;
}

function exitCodeOf(
  report: ConformanceReport,
  { strict }: ConformanceFlags,
  baseline: ConformanceReport | undefined,
): number {
  const { summary, unreachable } = report;
  if (unreachable !== undefined) return 2;
  if (baseline) {
    const difference = compareReports(baseline, report);
    process.stderr.write(formatReportDiff(difference, process.stderr));
    return difference.regressions.some(({ status }) => status === 'fail') ? 1 : 0;
  }
  if (summary.failed > 0) return 1;
  if (strict && summary.inconclusive > 0) return 1;
  return summary.errors > 0 ? 2 : 0;
}

interface Target {
  readonly form: ReportFormat;
  /** Undefined is standard output. */
  readonly file: string | undefined;
}

function targetsOf({ report, output, o }: ConformanceFlags): Target[] {
  const targets = report.map((each): Target => {
    const [name = '', ...rest] = each.split('=');
    const form = reportFormats.find((known) => known === name);
    if (form === undefined)
      throw new UsageError(`there is no report as ${name}`, `There are ${reportFormats.join(', ')}.`);
    const named = rest.length > 0 ? rest.join('=') : undefined;
    return { form, file: named ?? (output === undefined ? undefined : join(output, reportFileNames[form])) };
  });
  if (output !== undefined && report.length === 0)
    for (const form of reportFormats) targets.push({ form, file: join(output, reportFileNames[form]) });
  if (o === 'json') targets.push({ form: 'json', file: undefined });
  if (targets.filter(({ file }) => file === undefined).length > 1)
    throw new UsageError(
      'two reports cannot both go to standard output',
      'Name files, --report html=report.html, or a directory with --output.',
    );
  if (output !== undefined)
    try {
      mkdirSync(output, { recursive: true });
    } catch {
      // Writing the reports says so, once there is something that must not be lost.
    }
  return targets;
}

/** Writes every report. What cannot be written goes to standard output as it is: results are never lost. */
function writeAll(report: ConformanceReport, targets: readonly Target[]): boolean {
  let isWritten = true;
  for (const { form, file } of targets) {
    try {
      const text = writeReport(report, form);
      if (file === undefined) process.stdout.write(text);
      else {
        writeFileSync(file, text);
        process.stderr.write(`report written to ${file}\n`);
      }
    } catch (error) {
      process.stderr.write(`dragoman: the report as ${form} cannot be written: ${errorSummary(error)}\n`);
      isWritten = false;
    }
  }
  if (!isWritten) process.stdout.write(`${JSON.stringify(report)}\n`);
  return isWritten;
}

function waysOf({ fixtures, scenario }: ConformanceFlags): OutcomePrompts {
  const ways = fixtures === 'fx' ? fixturePrompts : fixtures === 'tck' ? tckPrompts : {};
  if (scenario === undefined) return ways;
  try {
    return {
      ...ways,
      ...readPrompts(readInputFile(scenario, 'Name a file with messages after --scenario.'), scenario),
    };
  } catch (error) {
    throw error instanceof DocumentError ? invalidFileError(error) : error;
  }
}

function reportIn(file: string): ConformanceReport {
  const report = readReport(readInputFile(file, 'Name a file that --report json wrote.'));
  if (!report) throw new UsageError(`${file} is no report`, 'Name a file that --report json wrote.');
  return report;
}

function writeFile(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`${file} cannot be written`, 'Name a file in a directory that is there.', error);
  }
}

/** The address of the agent, which is an argument or a flag. */
function addressOf(given: string | undefined, { agentCard }: ConformanceFlags): string {
  const hint = 'Say dragoman conformance http://localhost:4000, or the same with --agent-card.';
  if (given !== undefined && agentCard !== undefined) throw new UsageError('two agents are named', hint);
  if (agentCard !== undefined) {
    const reference = referenceTo(agentCard, hint);
    if ('url' in reference) return reference.url.href;
    throw new UsageError(`${agentCard} is a file, and this needs a living agent`, hint);
  }
  if (given === undefined) throw new UsageError('there is no agent to look at', hint);
  expectUrl(given);
  return given;
}

function referenceTo(text: string, hint: string): CardReference {
  try {
    return parseCardReference(text);
  } catch (thrown) {
    throw thrown instanceof ClientError ? new UsageError(thrown.message, thrown.hint ?? hint) : thrown;
  }
}

function expectUrl(url: string): void {
  if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
    throw new UsageError(`${url} is no address`, 'Write it with http:// or https://.');
}

/** A skill has no braces in its id; words have both of theirs. */
function expectWords(words: string): void {
  if (!/[{}]/.test(words) || (words.includes('{url}') && words.includes('{text}'))) return;
  throw new UsageError(
    `--delegate ${words} does not say everything`,
    'Write {url} and {text} where they belong.',
  );
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
