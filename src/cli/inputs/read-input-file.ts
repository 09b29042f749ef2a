import { readFileSync } from 'node:fs';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Reads a file that a person named.
 *
 * @param hint - what to name instead, if it cannot be read.
 * @throws {@link UsageError} that says why not.
 */
export function readInputFile(file: string, hint: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new UsageError(`there is no file ${file}`, hint);
    if (code === 'EISDIR') throw new UsageError(`${file} is a folder`, hint);
    throw new UsageError(`${file} cannot be read`, hint, cause);
  }
}
