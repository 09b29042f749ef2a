import { readFileSync } from 'node:fs';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Reads a file that the user named.
 *
 * @param hint - which file to name instead if it cannot be read.
 * @throws {@link UsageError} if the file cannot be read.
 */
export function readInputFile(file: string, hint: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new UsageError(`File not found: ${file}`, hint);
    if (code === 'EISDIR') throw new UsageError(`${file} is a directory`, hint);
    throw new UsageError(`Cannot read ${file}`, hint, { cause });
  }
}
