import { A2AError } from '../../protocol/errors.ts';
import type { ArtifactContent } from '../artifact-store.ts';

/** Default limit of one version of a file, in bytes. */
export const defaultMaxBytes = 100 * 1024 * 1024;

/**
 * Returns the non-empty chunks of content.
 *
 * @throws A2AError `PAYLOAD_TOO_LARGE` as soon as the limit is exceeded
 */
export async function* readChunks(content: ArtifactContent, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of content instanceof Uint8Array ? [content] : content) {
      size += chunk.byteLength;
      if (size > maxBytes) {
        throw new A2AError('PAYLOAD_TOO_LARGE', `The file exceeds ${maxBytes} bytes`);
      }
      if (chunk.byteLength > 0) yield chunk;
    }
  } catch (thrown) {
    throw A2AError.from(thrown);
  }
}

/** Converts storage errors of a driver, so that their details do not reach clients. */
export async function wrapStorageErrors<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (thrown) {
    throw storageError(thrown);
  }
}

/** Returns `UNAVAILABLE` with the original error as cause. */
export function storageError(thrown: unknown): A2AError {
  if (thrown instanceof A2AError) return thrown;
  return new A2AError('UNAVAILABLE', 'The artifact store is not available', { cause: thrown });
}

/** Error for a version that was deleted after it was loaded. */
export function missingVersionError(): A2AError {
  return new A2AError('NOT_FOUND', 'This version of the file no longer exists');
}

/** @throws A2AError `INVALID_PARAMS` */
export function checkVersion(version: number): void {
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new A2AError('INVALID_PARAMS', 'The version must be a non-negative integer');
  }
}
