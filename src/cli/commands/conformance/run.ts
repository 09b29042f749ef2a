import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareReports } from '../../../conformance/report/compare-reports.ts';
import { examine } from '../../../conformance/test-conformance.ts';
import { meetAll } from '../../../conformance/interop/interop-matrix.ts';
import type { Level, Transport, Version } from '../../../conformance/rule-model.ts';
import { fxWays, tckWays, type Ways } from '../../../conformance/prompts/prompt-catalog.ts';
import { matrixPage } from '../../../conformance/report/matrix-page.ts';
import { type ConformanceReport, readReport, reportOf } from '../../../conformance/report/build-report.ts';
import { Secrets } from '../../../primitives/redaction.ts';
import { fileNames, type Form, forms, writeReport } from '../../../conformance/report/report-formats.ts';
import { readWays } from '../../../conformance/prompts/read-prompts.ts';
import { DocumentError } from '../../../documents/diagnostic.ts';
import { type CardReference, readCardReference } from '../../client/card-reference.ts';
import { ClientFailure } from '../../client/client-error.ts';
import { wrongFile } from '../../terminal/print-diagnostics.ts';
import { conformanceProgress } from './progress.ts';
import { differenceText, summaryText } from './format-report.ts';
import { headersOf } from '../../inputs/parse-headers.ts';
import { Mistake, reasonOf } from '../../terminal/usage-error.ts';
import { textOfFile } from '../../inputs/read-input-file.ts';
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
  transport: Transport[];
  a2aVersion: Version[];
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
export async function checkConformance(given: string | undefined, flags: ConformanceFlags): Promise<void> {
  const url = addressOf(given, flags);
  if (flags.second !== undefined) expectUrl(flags.second);
  if (flags.webhookUrl !== undefined) expectUrl(flags.webhookUrl);
  if (flags.delegate !== undefined) expectWords(flags.delegate);
  const targets = targetsOf(flags);
  const baseline = flags.baseline === undefined ? undefined : reportIn(flags.baseline);
  const headers = headersOf(flags.header);
  const otherHeaders = headersOf(flags.otherHeader);
  const limitedHeaders = headersOf(flags.limitedHeader);
  const secondHeaders = headersOf(flags.secondHeader);
  const progress = conformanceProgress(process.stderr, flags.o === 'text');
  const outcome = await examine(url, {
    headers,
    ...(flags.otherHeader.length > 0 ? { otherHeaders } : {}),
    ...(flags.second === undefined ? {} : { second: flags.second, secondHeaders }),
    ...(flags.delegate === undefined ? {} : { delegate: flags.delegate }),
    ...(flags.skill.length > 0 ? { skills: flags.skill } : {}),
    ...(flags.transport.length > 0 ? { transports: flags.transport } : {}),
    ...(flags.a2aVersion.length > 0 ? { versions: flags.a2aVersion } : {}),
    ...(flags.limitedHeader.length > 0 ? { limitedHeaders } : {}),
    ...(flags.webhookUrl === undefined ? {} : { webhookUrl: flags.webhookUrl }),
    ...(flags.webhookPort === undefined ? {} : { webhookPort: flags.webhookPort }),
    ways: waysOf(flags),
    only: flags.only.flatMap((each) => each.split(',')),
    level: flags.level.toUpperCase() as Level,
    timeout: flags.timeout,
    maxTime: flags.maxTime,
    maxMessages: flags.maxMessages,
    insecure: flags.insecure,
    onProgress: (done, total, last) => progress.tell(done, total, last),
  });
  progress.clear();
  if (outcome.unreachable === undefined && outcome.results.length === 0)
    throw new Mistake(
      'no rule was left to look at',
      'Look at --only, --level, --transport and --a2a-version.',
    );
  const report = reportOf(outcome, {
    suite: `dragoman ${packageVersion()}`,
    command: `dragoman ${process.argv.slice(2).map(quoted).join(' ')}`,
    secrets: new Secrets(headers, otherHeaders, limitedHeaders, secondHeaders),
  });
  const isWritten = writeAll(report, targets);
  const isOnOutput = targets.some(({ file }) => file === undefined) || !isWritten;
  if (!isOnOutput) process.stdout.write(summaryText(report, process.stdout));
  process.exitCode = isWritten ? exitCodeOf(report, flags, baseline) : 2;
}

/** Tells what changed from one report to another. */
export function diffReports(before: string, after: string, { o }: { o: 'text' | 'json' }): void {
  const difference = compareReports(reportIn(before), reportIn(after));
  process.stdout.write(
    o === 'json' ? `${JSON.stringify(difference)}\n` : differenceText(difference, process.stdout),
  );
  if (difference.worse.length > 0) process.exitCode = 1;
}

/** Lets every agent speak to every other. */
export async function showMatrix(urls: readonly string[], flags: MatrixFlags): Promise<void> {
  for (const url of urls) expectUrl(url);
  const headers = headersOf(flags.header);
  const { timeout, insecure } = flags;
  const found = new Secrets(headers).everywhere(await meetAll(urls, { headers, timeout, insecure }));
  if (flags.output !== undefined) writeFile(flags.output, matrixPage(found.agents, found.meetings));
  if (flags.o === 'json') process.stdout.write(`${JSON.stringify(found)}\n`);
  else
    for (const { from, to, direct, ...relayed } of found.meetings) {
      const pair = `${found.agents[from]?.name ?? ''} → ${found.agents[to]?.name ?? ''}`;
      process.stdout.write(meetingLine(pair, relayed));
      if (direct) process.stdout.write(meetingLine(`${pair}, directly`, direct));
    }
  if (found.meetings.some(({ verdict, direct }) => verdict === 'fail' || direct?.verdict === 'fail'))
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
    process.stderr.write(differenceText(difference, process.stderr));
    return difference.worse.some(({ status }) => status === 'fail') ? 1 : 0;
  }
  if (summary.failed > 0) return 1;
  if (strict && summary.inconclusive > 0) return 1;
  return summary.errors > 0 ? 2 : 0;
}

interface Target {
  readonly form: Form;
  /** Undefined is standard output. */
  readonly file: string | undefined;
}

function targetsOf({ report, output, o }: ConformanceFlags): Target[] {
  const targets = report.map((each): Target => {
    const [name = '', ...rest] = each.split('=');
    const form = forms.find((known) => known === name);
    if (form === undefined)
      throw new Mistake(`there is no report as ${name}`, `There are ${forms.join(', ')}.`);
    const named = rest.length > 0 ? rest.join('=') : undefined;
    return { form, file: named ?? (output === undefined ? undefined : join(output, fileNames[form])) };
  });
  if (output !== undefined && report.length === 0)
    for (const form of forms) targets.push({ form, file: join(output, fileNames[form]) });
  if (o === 'json') targets.push({ form: 'json', file: undefined });
  if (targets.filter(({ file }) => file === undefined).length > 1)
    throw new Mistake(
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
      process.stderr.write(`dragoman: the report as ${form} cannot be written: ${reasonOf(error)}\n`);
      isWritten = false;
    }
  }
  if (!isWritten) process.stdout.write(`${JSON.stringify(report)}\n`);
  return isWritten;
}

function waysOf({ fixtures, scenario }: ConformanceFlags): Ways {
  const ways = fixtures === 'fx' ? fxWays : fixtures === 'tck' ? tckWays : {};
  if (scenario === undefined) return ways;
  try {
    return {
      ...ways,
      ...readWays(textOfFile(scenario, 'Name a file with messages after --scenario.'), scenario),
    };
  } catch (error) {
    throw error instanceof DocumentError ? wrongFile(error) : error;
  }
}

function reportIn(file: string): ConformanceReport {
  const report = readReport(textOfFile(file, 'Name a file that --report json wrote.'));
  if (!report) throw new Mistake(`${file} is no report`, 'Name a file that --report json wrote.');
  return report;
}

function writeFile(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new Mistake(`${file} cannot be written`, 'Name a file in a directory that is there.', error);
  }
}

/** The address of the agent, which is an argument or a flag. */
function addressOf(given: string | undefined, { agentCard }: ConformanceFlags): string {
  const hint = 'Say dragoman conformance http://localhost:4000, or the same with --agent-card.';
  if (given !== undefined && agentCard !== undefined) throw new Mistake('two agents are named', hint);
  if (agentCard !== undefined) {
    const reference = referenceTo(agentCard, hint);
    if ('url' in reference) return reference.url.href;
    throw new Mistake(`${agentCard} is a file, and this needs a living agent`, hint);
  }
  if (given === undefined) throw new Mistake('there is no agent to look at', hint);
  expectUrl(given);
  return given;
}

function referenceTo(text: string, hint: string): CardReference {
  try {
    return readCardReference(text);
  } catch (thrown) {
    throw thrown instanceof ClientFailure ? new Mistake(thrown.message, thrown.hint ?? hint) : thrown;
  }
}

function expectUrl(url: string): void {
  if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
    throw new Mistake(`${url} is no address`, 'Write it with http:// or https://.');
}

/** A skill has no braces in its id; words have both of theirs. */
function expectWords(words: string): void {
  if (!/[{}]/.test(words) || (words.includes('{url}') && words.includes('{text}'))) return;
  throw new Mistake(
    `--delegate ${words} does not say everything`,
    'Write {url} and {text} where they belong.',
  );
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
