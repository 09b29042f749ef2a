import { mediaTypeFor } from '../../../artifacts/media-types.ts';
import type { FileParameter } from '../../action-types.ts';
import { resourceName } from './resource-name.ts';
import type { ResourceCache } from './resource-cache.ts';

type Fields = { readonly [name: string]: unknown };

/**
 * Reads the files of a tool call: beside what every action takes, the blocks in which MCP itself speaks of files, and
 * links to files that this client was given before.
 *
 * @returns what is no list as it is: the check of the arguments has words for it.
 */
export async function parseToolFiles(given: unknown, shelf: ResourceCache): Promise<unknown> {
  if (!Array.isArray(given)) return typeof given === 'string' ? fromShelf(given, given, shelf) : given;
  const files: unknown[] = [];
  for (const each of given as unknown[]) {
    const file = fileOf(each);
    const uri = typeof file === 'string' ? file : (file as Fields | null)?.uri;
    files.push(typeof uri === 'string' ? await fromShelf(uri, file, shelf) : file);
  }
  return files;
}

/** A file that only this face knows, as its content. */
async function fromShelf(uri: string, otherwise: unknown, shelf: ResourceCache): Promise<unknown> {
  if (!uri.startsWith(shelf.scheme)) return otherwise;
  const found = await shelf.read(uri);
  if (typeof found === 'string') return otherwise;
  const { bytes, name, mediaType } = found;
  return { bytes, name, mediaType } satisfies FileParameter;
}

/** A block of MCP as a file; anything else stays what it is. */
function fileOf(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const { type, mimeType, ...fields } = given as Fields;
  const labels = typeof mimeType === 'string' ? { mediaType: mimeType } : {};
  switch (type) {
    case 'image':
    case 'audio':
      return { bytes: fields.data, name: typeof fields.name === 'string' ? fields.name : type, ...labels };
    case 'resource':
      return embedded(fields.resource) ?? given;
    default:
      return { ...fields, ...labels };
  }
}

function embedded(resource: unknown): object | undefined {
  if (typeof resource !== 'object' || resource === null) return undefined;
  const { uri, blob, text, mimeType } = resource as Fields;
  const bytes = typeof text === 'string' ? Buffer.from(text).toString('base64') : blob;
  const name = typeof uri === 'string' ? resourceName(uri) : 'file';
  return { bytes, name, mediaType: typeof mimeType === 'string' ? mimeType : mediaTypeFor(name) };
}
