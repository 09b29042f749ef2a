import type { DocumentError } from '../../documents/diagnostic.ts';
import { formatPlace } from './print-error.ts';
import { UsageError } from './usage-error.ts';

/** Writes one line per diagnostic of a file. */
export function printDiagnostics({ message }: DocumentError, output: NodeJS.WriteStream): void {
  for (const line of message.split('\n')) output.write(`${formatPlace(line, output)}\n`);
}

/** Converts the diagnostics of a file to the usage error that ends the command. */
export function invalidFileError({ file, message }: DocumentError): UsageError {
  return new UsageError(
    `Invalid file: ${file}`,
    'Fix the errors above and start again; nothing was started.',
    { places: message.split('\n') },
  );
}

/** Result of a successful `--check`. */
export interface CheckedFile {
  readonly file: string;
  /** Names of the agents in the file. */
  readonly agents: readonly string[];
}

/** Prints the result of a successful `--check`. */
export function printValidFile({ file, agents }: CheckedFile, output: 'text' | 'json'): void {
  const count = agents.length === 1 ? '1 agent' : `${agents.length} agents`;
  process.stdout.write(
    output === 'json' ? `${JSON.stringify({ file, agents })}\n` : `${file} is valid: ${count}\n`,
  );
}
