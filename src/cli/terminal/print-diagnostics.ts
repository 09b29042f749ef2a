import type { DocumentError } from '../../documents/diagnostic.ts';
import { createColors } from './colors.ts';
import { UsageError } from './usage-error.ts';

/** Writes one line for each complaint about a file; the place is told apart from the words. */
export function printDiagnostics({ message }: DocumentError, output: NodeJS.WriteStream): void {
  const { cyan } = createColors(output);
  for (const line of message.split('\n'))
    output.write(`${line.replace(/^.*?:\d+:\d+:/, (place) => cyan(place))}\n`);
}

/** Tells what is wrong with a file, with the places. @returns the mistake to end with. */
export function invalidFileError(error: DocumentError): UsageError {
  printDiagnostics(error, process.stderr);
  return new UsageError(`${error.file} is wrong`, 'Put it right; nothing was started.');
}

/** What was found in a file that was to be checked. */
export interface CheckedFile {
  readonly file: string;
  /** The names of its agents. */
  readonly agents: readonly string[];
}

/** Tells that a file with agents is as it should be. */
export function printValidFile({ file, agents }: CheckedFile, output: 'text' | 'json'): void {
  const counted = agents.length === 1 ? '1 agent' : `${agents.length} agents`;
  process.stdout.write(
    output === 'json' ? `${JSON.stringify({ file, agents })}\n` : `${file} is right: ${counted}\n`,
  );
}
