import { A2AError } from '../../../protocol/errors.ts';
import { readTapFile } from '../../../tap/traffic-file.ts';
import type { Passage } from '../../../tap/traffic-record.ts';
import { type RunningTap, runTap } from '../../../tap/proxy/run-tap.ts';
import { scenarioOf } from '../../../tap/scenario/export-scenario.ts';
import { Tape } from '../../../tap/traffic-log.ts';
import { coloursFor } from '../../terminal/colors.ts';
import { listeningMistake } from '../../terminal/listen-error.ts';
import { complain, Mistake } from '../../terminal/usage-error.ts';
import { plain, safeJson } from '../../terminal/sanitize.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { openTapFile, type TapFile } from './traffic-file-writer.ts';
import { Timeline } from './traffic-printer.ts';
import { textOfFile } from '../../inputs/read-input-file.ts';

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
export async function tap(flags: TapFlags): Promise<void> {
  const { to, read, output } = flags;
  if (read !== undefined) {
    if (to !== undefined)
      throw new Mistake('--to and --read are two things', 'Leave one of them out: --read shows a file.');
    show(fileOf(read), output);
    return;
  }
  if (to === undefined)
    throw new Mistake('there is nothing to stand in front of', 'Say --to URL, or --read FILE to see a file.');
  if (output === 'scenario')
    throw new Mistake(
      'a scenario is made of a file',
      'Record with --file FILE first, then --read FILE -o scenario.',
    );
  await run(to, flags, output);
}

async function run(to: string, flags: TapFlags, output: 'text' | 'json'): Promise<void> {
  const file = flags.file === undefined ? undefined : await openTapFile(flags.file);
  const tape = new Tape(flags.console ? remembered : { maxPassages: 1 });
  const warn = (warning: string): boolean => process.stderr.write(`dragoman: ${plain(warning, 'line')}\n`);
  const running = await started(to, flags, tape, warn);
  const shown = flags.console
    ? await (await import('../../../console/serve-console.ts')).serveConsole({ tape, agents: [{ url: running.url }] })
    : undefined;
  const stop = async (): Promise<void> => {
    await Promise.all([running.stop(), shown?.stop()]);
    await file?.close();
  };
  stopOnSignals(stop, complain, 1_000);
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
  tape: Tape,
  onWarning: (warning: string) => unknown,
): Promise<RunningTap> {
  try {
    return await runTap({ to, port, host, tape, onWarning });
  } catch (cause) {
    if (cause instanceof A2AError && cause.reason === 'INVALID_PARAMS')
      throw new Mistake(
        `${to} is no address`,
        'Write it with http:// or https://, as in http://localhost:4000.',
      );
    throw listeningMistake(cause, { port, host });
  }
}

function watch(tape: Tape, write: (passage: Passage) => void, file: TapFile | undefined): void {
  tape.watch((passage) => {
    file?.add(passage);
    write(passage);
  });
}

/** Writes passages as they come; a reader that does not keep up misses some, and is told how many. */
function writerTo(output: 'text' | 'json'): (passage: Passage) => void {
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

function linesFor(output: 'text' | 'json'): (passage: Passage) => string {
  if (output === 'json') return (passage) => `${safeJson(passage)}\n`;
  const { stdout } = process;
  const timeline = new Timeline(coloursFor(stdout), () => (stdout.isTTY ? stdout.columns : undefined));
  return (passage) => `${timeline.line(passage)}\n`;
}

function show(passages: readonly Passage[], output: TapFlags['output']): void {
  if (output === 'scenario') {
    process.stdout.write(scenarioOf(passages));
    return;
  }
  const lineOf = linesFor(output);
  for (const each of passages) process.stdout.write(lineOf(each));
}

function fileOf(file: string): Passage[] {
  const hint = 'Name a file that was written by dragoman tap --file.';
  const text = textOfFile(file, hint);
  try {
    return readTapFile(text);
  } catch (thrown) {
    const { message } = A2AError.from(thrown);
    throw new Mistake(`${file}: ${message}`, hint);
  }
}

function summary(
  { url, name }: RunningTap,
  to: string,
  { file }: TapFlags,
  shown: string | undefined,
): string {
  const { bold, cyan, dim } = coloursFor(process.stdout);
  const lines = ['', `  ${bold(plain(name, 'line'))} ${dim(`at ${to} is now to be had at`)} ${cyan(url)}`];
  if (file !== undefined) lines.push(`  ${dim('written to')} ${file}`);
  if (shown !== undefined) lines.push(`  ${dim('console')}    ${cyan(shown)}`);
  lines.push('', `  ${dim('Credentials pass and are not kept. Ctrl-C stops it.')}`, '', '');
  return lines.join('\n');
}
