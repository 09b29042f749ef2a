import { A2AError } from '../errors.ts';

/**
 * Loads an optional library.
 *
 * @param what - the feature that needs it, for the error message
 * @throws A2AError `UNAVAILABLE` with the command that installs it, if it is missing or cannot be loaded
 */
export async function loadLibrary<T>(what: string, library: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { code } = cause as { readonly code?: unknown };
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    throw new A2AError(
      'UNAVAILABLE',
      `${what} requires ${library}, which ${isMissing ? 'is not installed' : 'cannot be loaded'}`,
      { cause, hint: `Run: npm install ${library}` },
    );
  }
}
