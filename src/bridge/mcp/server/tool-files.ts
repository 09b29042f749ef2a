import { mediaTypeFor } from '../../../artifacts/media-types.ts';
import type { FileParameter } from '../../action-types.ts';
import { resourceName } from './resource-name.ts';
import type { ResourceCache } from './resource-cache.ts';

type Fields = { readonly [name: string]: unknown };

/**
 * Parses the files of a tool call. Besides file parameters of actions it accepts MCP content blocks and URIs of cached
 * resources.
 *
 * @returns invalid values unchanged; the check of the arguments reports them.
 */
export async function parseToolFiles(value: unknown, resources: ResourceCache): Promise<unknown> {
  if (!Array.isArray(value))
    return typeof value === 'string' ? resolveCached(value, value, resources) : value;
  const files: unknown[] = [];
  for (const each of value as unknown[]) {
    const file = convertBlock(each);
    const uri = typeof file === 'string' ? file : (file as Fields | null)?.uri;
    files.push(typeof uri === 'string' ? await resolveCached(uri, file, resources) : file);
  }
  return files;
}

/** Replaces the URI of a cached resource by its content. */
async function resolveCached(uri: string, otherwise: unknown, resources: ResourceCache): Promise<unknown> {
  if (!uri.startsWith(resources.scheme)) return otherwise;
  const found = await resources.read(uri);
  if (typeof found === 'string') return otherwise;
  const { bytes, name, mediaType } = found;
  return { bytes, name, mediaType } satisfies FileParameter;
}

/** Converts an MCP content block to a file parameter. Returns other values unchanged. */
function convertBlock(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { type, mimeType, ...fields } = value as Fields;
  const labels = typeof mimeType === 'string' ? { mediaType: mimeType } : {};
  switch (type) {
    case 'image':
    case 'audio':
      return { bytes: fields.data, name: typeof fields.name === 'string' ? fields.name : type, ...labels };
    case 'resource':
      return convertEmbedded(fields.resource) ?? value;
    default:
      return { ...fields, ...labels };
  }
}

function convertEmbedded(resource: unknown): object | undefined {
  if (typeof resource !== 'object' || resource === null) return undefined;
  const { uri, blob, text, mimeType } = resource as Fields;
  const bytes = typeof text === 'string' ? Buffer.from(text).toString('base64') : blob;
  const name = typeof uri === 'string' ? resourceName(uri) : 'file';
  return { bytes, name, mediaType: typeof mimeType === 'string' ? mimeType : mediaTypeFor(name) };
}
