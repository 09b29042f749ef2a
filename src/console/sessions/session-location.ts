import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Values that turn the storage of sessions off. */
const off = /^(?:off|false|no|0)$/i;

/**
 * Returns the folder in which consoles keep conversations, recordings and agents.
 *
 * @param setting - a folder, or `off`; by default the variable `DRAGOMAN_SESSIONS`, then the folder of the platform.
 * @returns undefined if nothing is kept
 */
export function sessionLocation(
  setting: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const chosen = setting ?? env.DRAGOMAN_SESSIONS ?? '';
  if (off.test(chosen)) return undefined;
  return chosen === '' ? join(stateFolder(env), 'dragoman', 'console') : resolve(chosen);
}

/** The folder of the platform for data that programs keep between runs. */
function stateFolder(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'win32') return env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support');
  const { XDG_STATE_HOME: state = '' } = env;
  return state.startsWith('/') ? state : join(homedir(), '.local', 'state');
}
