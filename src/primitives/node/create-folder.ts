import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and its missing parents. `recursive` of Node never returns if the system cannot create a folder in an
 * existing parent and reports it as missing, as below `/proc`.
 *
 * @returns the first folder that was created; undefined if all existed.
 */
export function createFolder(path: string, mode?: number): string | undefined {
  const folder = resolve(path);
  try {
    mkdirSync(folder, { mode });
    return folder;
  } catch (error) {
    if (!isMissing(error)) {
      if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
      throw error;
    }
  }
  const first = createFolder(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (isMissing(error) || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
  return first ?? folder;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
