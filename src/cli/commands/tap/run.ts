import type { ProtocolVersion } from '../../../protocol/card.ts';
import type { TrafficRecord } from '../../../tap/traffic-record.ts';
import { type RunningTap, runTap } from '../../../tap/proxy/run-tap.ts';
import { exportScenario } from '../../../tap/scenario/export-scenario.ts';
import { formatHar } from '../../../tap/har/write-har.ts';
import { TrafficLog } from '../../../tap/traffic-log.ts';
import { maxDecodedLength } from '../../../tap/recorders/traffic-recorder.ts';
import { createColors } from '../../terminal/colors.ts';
import { startListening } from '../../terminal/listen-error.ts';
import { printError, printWarning } from '../../terminal/print-error.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import {
  type BrowserAccessFlags,
  sessionOptions,
  toBrowserAccess,
  warnIfExposed,
} from '../../inputs/shared-options.ts';
import { expectUrl } from '../../inputs/expect-url.ts';
import { sanitizeForTerminal, terminalSafeJson } from '../../terminal/sanitize.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { openTrafficFile } from './traffic-file-writer.ts';
import { TrafficPrinter } from './traffic-printer.ts';
import { TranslationPrinter } from './translation-printer.ts';
import { readTrafficRecords } from '../../inputs/read-traffic-records.ts';

/** Flags of `dragoman tap`. */
export interface TapFlags extends BrowserAccessFlags {
  to?: string;
  port: number;
  host: string;
  record?: string;
  read?: string;
  console: boolean;
  sessions?: string;
  /** Version of the translation beside each message. */
  diff?: ProtocolVersion;
  output: 'text' | 'json' | 'scenario' | 'har';
}

/** Maximum buffered output for a slow reader of standard output, in bytes. More records are dropped. */
const maxBufferedBytes = 8 * 1_024 * 1_024;

/** Capacity of the traffic log for the console. */
const consoleLogLimits = { maxRecords: 20_000, maxCharacters: 32 * 1_024 * 1_024 };

/** Runs `dragoman tap`: a recording proxy until a signal arrives, or prints a recorded file with `--read`. */
export async function runTapCommand(flags: TapFlags): Promise<void> {
  const { to, read, output } = flags;
  if (read !== undefined) {
    if (to !== undefined)
      throw new UsageError(
        '--to and --read cannot be used together',
        'Use --to to record traffic, or --read to print a recorded file.',
      );
    checkDiff(flags);
    printRecords(readTrafficRecords(read), flags);
    return;
  }
  if (to === undefined) throw new UsageError('Missing target', 'Pass --to URL or --read FILE.');
  if (output === 'scenario' || output === 'har')
    throw new UsageError(
      `-o ${output} needs --read`,
      `Record with --record FILE first, then run dragoman tap --read FILE -o ${output}.`,
    );
  checkDiff(flags);
  await runProxy(expectUrl(to), flags, output);
}

function checkDiff({ diff, output }: TapFlags): void {
  if (diff !== undefined && output !== 'text')
    throw new UsageError('--diff needs text output', `Leave out -o ${output}.`);
}

async function runProxy(to: string, flags: TapFlags, output: 'text' | 'json'): Promise<void> {
  const file = flags.record === undefined ? undefined : await openTrafficFile(flags.record);
  const trafficLog = new TrafficLog(flags.console ? consoleLogLimits : { maxRecords: 1 });
  if (file) trafficLog.subscribe((record) => file.add(record));
  const { port, host } = flags;
  const running = await startListening(flags, () =>
    runTap({
      to,
      port,
      host,
      ...toBrowserAccess(flags),
      trafficLog,
      // A replay needs the card and complete texts.
      ...(file && { recordsCard: true, maxTextLength: maxDecodedLength }),
      onWarning: printWarning,
    }),
  );
  const console = flags.console
    ? await (await import('../../../console/serve-console.ts')).serveConsole({
        trafficLog,
        ...sessionOptions(flags),
        agents: [{ url: running.url }],
      })
    : undefined;
  const stop = async (): Promise<void> => {
    await Promise.all([running.stop(), console?.stop()]);
    await file?.close();
  };
  stopOnSignals(stop, printError, 1_000);
  warnIfExposed(host);
  // The proxy keeps running if the reader of standard output closes the pipe.
  process.stdout.on('error', () => {});
  const head = output === 'text' ? process.stdout : process.stderr;
  head.write(`listening on ${running.url}\n`);
  if (output === 'text') head.write(formatSummary(running, to, flags, console?.url));
  else if (console) head.write(`console at ${console.url}\n`);
  trafficLog.subscribe(createPrinter(output, flags.diff));
}

/** Creates a function that prints records. Drops records while a slow reader has too much buffered output. */
function createPrinter(
  output: 'text' | 'json',
  diff: ProtocolVersion | undefined,
): (record: TrafficRecord) => void {
  const { stdout } = process;
  const format = createFormatter(output, diff);
  let dropped = 0;
  return (record) => {
    if (stdout.writableLength > maxBufferedBytes) {
      dropped++;
      return;
    }
    if (dropped > 0)
      printWarning(`${dropped} records were not printed: the reader of standard output is too slow`);
    dropped = 0;
    stdout.write(format(record));
  };
}

function createFormatter(
  output: 'text' | 'json',
  diff: ProtocolVersion | undefined,
): (record: TrafficRecord) => string {
  if (output === 'json') return (record) => `${terminalSafeJson(record)}\n`;
  const { stdout } = process;
  const width = (): number | undefined => (stdout.isTTY ? stdout.columns : undefined);
  const printer = new TrafficPrinter(createColors(stdout), width);
  const translations = diff && new TranslationPrinter(createColors(stdout), diff, width);
  return (record) => `${printer.format(record)}\n${translations?.format(record) ?? ''}`;
}

function printRecords(records: readonly TrafficRecord[], { output, diff }: TapFlags): void {
  if (output === 'scenario' || output === 'har') {
    process.stdout.write(output === 'har' ? formatHar(records) : exportScenario(records));
    return;
  }
  const format = createFormatter(output, diff);
  for (const record of records) process.stdout.write(format(record));
}

function formatSummary(
  { url, name }: RunningTap,
  to: string,
  { record }: TapFlags,
  consoleUrl: string | undefined,
): string {
  const { bold, cyan, dim } = createColors(process.stdout);
  const lines = [
    '',
    `  ${bold(sanitizeForTerminal(name, 'line'))} ${dim(`at ${to} is available at`)} ${cyan(url)}`,
  ];
  if (record !== undefined) lines.push(`  ${dim('record')}   ${record}`);
  if (consoleUrl !== undefined) lines.push(`  ${dim('console')}  ${cyan(consoleUrl)}`);
  lines.push('', `  ${dim('Credentials are forwarded but not recorded. Press Ctrl-C to stop.')}`, '', '');
  return lines.join('\n');
}
