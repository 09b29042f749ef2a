import { writeFileSync } from 'node:fs';
import { UsageError } from '../terminal/usage-error.ts';

/** Creates the usage error for a file that cannot be written. */
export function cannotWriteError(file: string, cause: unknown): UsageError {
  return new UsageError(`Cannot write ${file}`, 'Name a file in an existing directory.', { cause });
}

/** Writes a file that the user named. @throws {@link UsageError} if it cannot be written. */
export function writeOutputFile(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw cannotWriteError(file, cause);
  }
}
