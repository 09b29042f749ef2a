import { A2AError } from '../../../protocol/errors.ts';
import { readTrafficFile } from '../../../tap/traffic-file.ts';
import type { TrafficRecord } from '../../../tap/traffic-record.ts';
import { type RunningTap, runTap } from '../../../tap/proxy/run-tap.ts';
import { exportScenario } from '../../../tap/scenario/export-scenario.ts';
import { TrafficLog } from '../../../tap/traffic-log.ts';
import { createColors } from '../../terminal/colors.ts';
import { toListenError } from '../../terminal/listen-error.ts';
import { printError, UsageError } from '../../terminal/usage-error.ts';
import { sanitizeForTerminal, terminalSafeJson } from '../../terminal/sanitize.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { openTrafficFile, type TrafficFileWriter } from './traffic-file-writer.ts';
import { TrafficPrinter } from './traffic-printer.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';

/** What `dragoman tap` is told. */
export interface TapFlags {
  to?: string;
  port: number;
  host: string;
  file?: string;
  read?: string;
  console: boolean;
  output: 'text' | 'json' | 'scenario';
}

/** How much may wait for a reader of standard output before passages are left out, in bytes. */
const maxWaiting = 8 * 1_024 * 1_024;

/** How much a tap remembers for those who look at it in the console. */
const remembered = { maxPassages: 20_000, maxCharacters: 32 * 1_024 * 1_024 };

/** Shows what passes until a signal comes, or what a file holds. */
export async function runTapCommand(flags: TapFlags): Promise<void> {
  const { to, read, output } = flags;
  if (read !== undefined) {
    if (to !== undefined)
      throw new UsageError('--to and --read are two things', 'Leave one of them out: --read shows a file.');
    show(fileOf(read), output);
    return;
  }
  if (to === undefined)
    throw new UsageError(
      'there is nothing to stand in front of',
      'Say --to URL, or --read FILE to see a file.',
    );
  if (output === 'scenario')
    throw new UsageError(
      'a scenario is made of a file',
      'Record with --file FILE first, then --read FILE -o scenario.',
    );
  await run(to, flags, output);
}

async function run(to: string, flags: TapFlags, output: 'text' | 'json'): Promise<void> {
  const file = flags.file === undefined ? undefined : await openTrafficFile(flags.file);
  const tape = new TrafficLog(flags.console ? remembered : { maxRecords: 1 });
  const warn = (warning: string): boolean =>
    process.stderr.write(`dragoman: ${sanitizeForTerminal(warning, 'line')}\n`);
  const running = await started(to, flags, tape, warn);
  const shown = flags.console
    ? await (await import('../../../console/serve-console.ts')).serveConsole({
        trafficLog: tape,
        agents: [{ url: running.url }],
      })
    : undefined;
  const stop = async (): Promise<void> => {
    await Promise.all([running.stop(), shown?.stop()]);
    await file?.close();
  };
  stopOnSignals(stop, printError, 1_000);
  // Whoever reads the first lines only may close the pipe; what passes, passes on.
  process.stdout.on('error', () => {});
  const head = output === 'text' ? process.stdout : process.stderr;
  head.write(`listening on ${running.url}\n`);
  if (output === 'text') head.write(summary(running, to, flags, shown?.url));
  else if (shown) head.write(`console at ${shown.url}\n`);
  watch(tape, writerTo(output), file);
}

async function started(
  to: string,
  { port, host }: TapFlags,
  tape: TrafficLog,
  onWarning: (warning: string) => unknown,
): Promise<RunningTap> {
  try {
    return await runTap({ to, port, host, trafficLog: tape, onWarning });
  } catch (cause) {
    if (cause instanceof A2AError && cause.reason === 'INVALID_PARAMS')
      throw new UsageError(
        `${to} is no address`,
        'Write it with http:// or https://, as in http://localhost:4000.',
      );
    throw toListenError(cause, { port, host });
  }
}

function watch(
  tape: TrafficLog,
  write: (passage: TrafficRecord) => void,
  file: TrafficFileWriter | undefined,
): void {
  tape.subscribe((passage) => {
    file?.add(passage);
    write(passage);
  });
}

/** Writes passages as they come; a reader that does not keep up misses some, and is told how many. */
function writerTo(output: 'text' | 'json'): (passage: TrafficRecord) => void {
  const { stdout } = process;
  const lineOf = linesFor(output);
  let missed = 0;
  return (passage) => {
    if (stdout.writableLength > maxWaiting) {
      missed++;
      return;
    }
    if (missed > 0)
      process.stderr.write(`dragoman: ${missed} passages are not shown, because nobody reads them\n`);
    missed = 0;
    stdout.write(lineOf(passage));
  };
}

function linesFor(output: 'text' | 'json'): (passage: TrafficRecord) => string {
  if (output === 'json') return (passage) => `${terminalSafeJson(passage)}\n`;
  const { stdout } = process;
  const timeline = new TrafficPrinter(createColors(stdout), () =>
    stdout.isTTY ? stdout.columns : undefined,
  );
  return (passage) => `${timeline.line(passage)}\n`;
}

function show(passages: readonly TrafficRecord[], output: TapFlags['output']): void {
  if (output === 'scenario') {
    process.stdout.write(exportScenario(passages));
    return;
  }
  const lineOf = linesFor(output);
  for (const each of passages) process.stdout.write(lineOf(each));
}

function fileOf(file: string): TrafficRecord[] {
  const hint = 'Name a file that was written by dragoman tap --file.';
  const text = readInputFile(file, hint);
  try {
    return readTrafficFile(text);
  } catch (thrown) {
    const { message } = A2AError.from(thrown);
    throw new UsageError(`${file}: ${message}`, hint);
  }
}

function summary(
  { url, name }: RunningTap,
  to: string,
  { file }: TapFlags,
  shown: string | undefined,
): string {
  const { bold, cyan, dim } = createColors(process.stdout);
  const lines = [
    '',
    `  ${bold(sanitizeForTerminal(name, 'line'))} ${dim(`at ${to} is now to be had at`)} ${cyan(url)}`,
  ];
  if (file !== undefined) lines.push(`  ${dim('written to')} ${file}`);
  if (shown !== undefined) lines.push(`  ${dim('console')}    ${cyan(shown)}`);
  lines.push('', `  ${dim('Credentials pass and are not kept. Ctrl-C stops it.')}`, '', '');
  return lines.join('\n');
}
