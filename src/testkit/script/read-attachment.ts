import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** A file beside a script that cannot be had, and why. */
export class AttachmentError extends Error {
  override readonly name = 'NoAttachment';
}

/**
 * Reads a file in a folder or below it as base64. A way out of the folder, links included, leads nowhere: a script
 * may come from somebody else than the one who runs it.
 */
export function readAttachment(folder: string | undefined, file: string, maxBytes: number): string {
  if (folder === undefined)
    throw new AttachmentError('a script can give files only where it was read from a file itself');
  let path: string;
  try {
    path = realpathSync(resolve(folder, file));
    if (!statSync(path).isFile()) throw new AttachmentError('is no file');
  } catch (thrown) {
    if (thrown instanceof AttachmentError) throw thrown;
    throw new AttachmentError('there is no such file beside the script');
  }
  const way = relative(realpathSync(folder), path);
  if (isAbsolute(way) || way === '..' || way.startsWith(`..${sep}`))
    throw new AttachmentError('lies outside of the folder of the script');
  if (statSync(path).size > maxBytes) throw new AttachmentError(`has more than ${maxBytes} bytes`);
  return readFileSync(path).toString('base64');
}
