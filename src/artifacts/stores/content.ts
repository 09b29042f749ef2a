import { A2AError } from '../../protocol/errors.ts';
import type { ArtifactContent } from '../artifact-store.ts';

/** How large one version of a file may be, unless somebody says otherwise. */
export const defaultMaxBytes = 100 * 1024 * 1024;

/**
 * Gives content piece by piece and counts it.
 *
 * @throws A2AError `PAYLOAD_TOO_LARGE` as soon as there is too much
 */
export async function* readChunks(content: ArtifactContent, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const piece of content instanceof Uint8Array ? [content] : content) {
      size += piece.byteLength;
      if (size > maxBytes) {
        throw new A2AError('PAYLOAD_TOO_LARGE', `A file may have ${maxBytes} bytes at most`);
      }
      if (piece.byteLength > 0) yield piece;
    }
  } catch (thrown) {
    throw A2AError.from(thrown);
  }
}

/** Runs what a driver does; what goes wrong with its storage is not for strangers. */
export async function wrapStorageErrors<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (thrown) {
    throw storageError(thrown);
  }
}

/** The error of a storage that does not work. */
export function storageError(thrown: unknown): A2AError {
  if (thrown instanceof A2AError) return thrown;
  return new A2AError('UNAVAILABLE', 'The artifact store is not available', { cause: thrown });
}

/** The error of a version that was there a moment ago. */
export function missingVersionError(): A2AError {
  return new A2AError('NOT_FOUND', 'This version of the file is gone');
}

/** What is wrong with a version number. @throws A2AError `INVALID_PARAMS` */
export function checkVersion(version: number): void {
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new A2AError('INVALID_PARAMS', 'A version is a whole number from 0');
  }
}
