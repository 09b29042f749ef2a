import { readFileSync } from 'node:fs';
import { Mistake } from '../terminal/usage-error.ts';

/**
 * Reads a file that a person named.
 *
 * @param hint - what to name instead, if it cannot be read.
 * @throws {@link Mistake} that says why not.
 */
export function textOfFile(file: string, hint: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Mistake(`there is no file ${file}`, hint);
    if (code === 'EISDIR') throw new Mistake(`${file} is a folder`, hint);
    throw new Mistake(`${file} cannot be read`, hint, cause);
  }
}
