import type { CommanderError } from 'commander';
import { A2AError } from '../../protocol/errors.ts';
import { createColors } from './colors.ts';
import { sanitizeForTerminal } from './sanitize.ts';
import { errorSummary } from './usage-error.ts';

/** An error as all commands print it on standard error. */
export interface ErrorReport {
  /** What happened, in one sentence without a period. */
  readonly message: string;
  /** Where it happened, one line each, such as `agent.yaml:3:5: url must be a string`. */
  readonly places?: readonly string[];
  /** Error code of the client commands, such as `A2ACLI_ERR_USAGE`. */
  readonly code?: string;
  /** What to do, as an imperative sentence. */
  readonly hint?: string | null | undefined;
}

/** Prints an error in the layout of all commands: `error:`, places, `code:`, `hint:`. */
export function printErrorReport({ message, places = [], code, hint }: ErrorReport): void {
  const lines = [
    `error: ${sanitizeForTerminal(message, 'line')}`,
    ...places.map((place) => `  ${formatPlace(place, process.stderr)}`),
    ...(code === undefined ? [] : [`code: ${code}`]),
    ...(hint ? [`hint: ${sanitizeForTerminal(hint, 'line')}`] : []),
  ];
  process.stderr.write(`${lines.join('\n')}\n`);
}

/** Prints a thrown value as an error, with its places and its hint. */
export function printError(thrown: unknown): void {
  const { hint, details } = thrown instanceof A2AError ? thrown : {};
  printErrorReport({ message: errorSummary(thrown), places: details?.places?.split('\n') ?? [], hint });
}

/** Prints a warning on standard error. */
export function printWarning(text: string): void {
  process.stderr.write(`warning: ${sanitizeForTerminal(text, 'line')}\n`);
}

/** Colors the location at the start of a diagnostic. */
export function formatPlace(place: string, output: NodeJS.WriteStream): string {
  return place.replace(/^.*?:\d+:\d+:/, (location) => createColors(output).cyan(location));
}

const jsonCommands = new Set(['send', 'card', 'task', 'chat', 'auth', 'config']);

/**
 * Prints a command line that commander rejected. Client commands with `-o json` also get the error envelope on standard
 * output.
 */
export function printUsageError(
  { code, message: text }: CommanderError,
  words: readonly string[],
  command: string,
): void {
  // Without a subcommand, commander prints the help itself.
  const isHelp = code === 'commander.help';
  const { what, advice } = splitAdvice(isHelp ? 'Missing subcommand' : text.replace(/^error: /, ''));
  const message = what.charAt(0).toUpperCase() + what.slice(1);
  const hint = `${advice} Run ${command} --help for usage.`.trim();
  if (!isHelp) printErrorReport({ message, hint });
  const wantsJson = words.some((word, i) =>
    /^(-o|--output)$/.test(word) ? words[i + 1] === 'json' : /^(-ojson|--output=json)$/.test(word),
  );
  if (!wantsJson || !jsonCommands.has(words[0] ?? '')) return;
  const error = { code: 'A2ACLI_ERR_USAGE', message, hint, a2aCode: null };
  process.stdout.write(`${JSON.stringify({ error })}\n`);
}

/** Separates the problem from the advice: `… is invalid. Use …` or `…\n(Did you mean …?)`. */
function splitAdvice(text: string): { what: string; advice: string } {
  const [first = '', suggestion] = text.split('\n(Did you mean ', 2);
  if (suggestion !== undefined)
    return { what: first, advice: `Did you mean ${suggestion.replace(/\)\.?$/, '')}` };
  const invalid = / is invalid(?: for argument '[^\s']*')?\. /.exec(text);
  if (!invalid) return { what: text.replace(/\.$/, ''), advice: '' };
  const end = invalid.index + invalid[0].length;
  return { what: text.slice(0, end - 2), advice: text.slice(end) };
}
