import { realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { quoteShellWord } from './quote-shell-word.ts';

/** Returns the words with which the user can start this program again, for commands that are printed to be pasted. */
export function programName(
  env: NodeJS.ProcessEnv = process.env,
  script = process.argv[1] ?? '',
  folder = process.cwd(),
): string {
  // npm adds its own folders to PATH, which the shell of the user does not have.
  if (env['npm_command'] !== undefined) return 'npx dragoman';
  const names = process.platform === 'win32' ? ['dragoman.cmd'] : ['dragoman'];
  const places = (env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const isInPath = places.some((place) => names.some((name) => isSameFile(join(place, name), script)));
  return isInPath ? 'dragoman' : `node ${quoteShellWord(relative(folder, script))}`;
}

/** Returns true if a file exists and is the script, or a shim of it on Windows. */
function isSameFile(file: string, script: string): boolean {
  try {
    return realpathSync(file) === realpathSync(script) || file.endsWith('.cmd');
  } catch {
    return false;
  }
}
