import { DocumentError } from '../../documents/diagnostic.ts';
import { formatPlace } from './print-error.ts';
import { UsageError } from './usage-error.ts';

/** Writes one line per diagnostic of a file. */
export function printDiagnostics({ message }: DocumentError, output: NodeJS.WriteStream): void {
  for (const line of message.split('\n')) output.write(`${formatPlace(line, output)}\n`);
}

/** Converts the diagnostics of a file to the usage error that ends the command. Returns other errors unchanged. */
export function toInvalidFileError(thrown: unknown): unknown {
  if (!(thrown instanceof DocumentError)) return thrown;
  const hint = 'Fix the errors above and start again; nothing was started.';
  return new UsageError(`Invalid file: ${thrown.file}`, hint, { places: thrown.message.split('\n') });
}

/** Reads a file of the user. @throws {@link UsageError} with its diagnostics if it is invalid. */
export function readValidFile<Content>(read: () => Content): Content {
  try {
    return read();
  } catch (thrown) {
    throw toInvalidFileError(thrown);
  }
}

/** Prints the result of a successful `--check`: the file and the names of its agents. */
export function printValidFile(file: string, agents: readonly string[], output: 'text' | 'json'): void {
  const count = agents.length === 1 ? '1 agent' : `${agents.length} agents`;
  process.stdout.write(
    output === 'json' ? `${JSON.stringify({ file, agents })}\n` : `${file} is valid: ${count}\n`,
  );
}
