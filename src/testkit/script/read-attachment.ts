import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** Error of an attachment that cannot be read. */
export class AttachmentError extends Error {
  override readonly name = 'AttachmentError';
}

/**
 * Reads a file in a folder as base64. Paths and symbolic links that leave the folder are rejected, because a script may
 * come from an untrusted source.
 */
export function readAttachment(folder: string | undefined, file: string, maxBytes: number): string {
  if (folder === undefined)
    throw new AttachmentError('attachments need a script that was loaded from a file');
  let path: string;
  try {
    path = realpathSync(resolve(folder, file));
    if (!statSync(path).isFile()) throw new AttachmentError('is not a file');
  } catch (thrown) {
    if (thrown instanceof AttachmentError) throw thrown;
    throw new AttachmentError('file not found in the folder of the script');
  }
  const relativePath = relative(realpathSync(folder), path);
  if (isAbsolute(relativePath) || relativePath === '..' || relativePath.startsWith(`..${sep}`))
    throw new AttachmentError('is outside of the folder of the script');
  if (statSync(path).size > maxBytes) throw new AttachmentError(`has more than ${maxBytes} bytes`);
  return readFileSync(path).toString('base64');
}
