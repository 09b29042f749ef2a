import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { text as textFrom } from 'node:stream/consumers';
import { mediaTypeFor } from '../../../artifacts/media-types.ts';
import { type Part, rawPart } from '../../../protocol/part.ts';
import { ClientError } from '../../client/client-error.ts';
import type { PartDraft } from './command.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { parseUrl } from '../../../primitives/web/parse-url.ts';

/** Maximum size of a file inside a message, in bytes. */
const maxFileBytes = 50 * 1_048_576;

/** Builds the parts of a message in the order of the command line. */
export async function buildMessageParts(drafts: readonly PartDraft[]): Promise<Part[]> {
  if (drafts.filter(({ kind, value }) => kind === 'data' && value === '-').length > 1)
    throw new UsageError('Standard input can be read only once', 'Use --data - once.');
  const parts: Part[] = [];
  for (const draft of drafts) parts.push(await buildPart(draft));
  return parts;
}

async function buildPart({ kind, value, mediaType }: PartDraft): Promise<Part> {
  const type = mediaType === undefined ? {} : { mediaType };
  if (kind === 'text') return { text: value, ...type };
  if (kind === 'data') return { data: await readData(value), mediaType: mediaType ?? 'application/json' };
  if (/^https?:\/\//i.test(value))
    return { url: value, filename: filenameIn(value), ...inferMediaType(value, mediaType) };
  const bytes = await readOrFail(value, async () => {
    const { size } = await stat(value);
    if (size > maxFileBytes)
      throw new UsageError(
        `${value} is too large to send inline: ${size} bytes, limit ${maxFileBytes}`,
        'Upload it and pass its URL to --file.',
      );
    return readFile(value);
  });
  return rawPart(bytes, { filename: basename(value), mediaType: mediaType ?? mediaTypeFor(value) });
}

function filenameIn(url: string): string | undefined {
  const last = parseUrl(url)?.pathname.split('/').at(-1);
  return last === '' || last === undefined ? undefined : decodeURIComponent(last);
}

/** Returns no media type if neither the user nor the file name gives one. */
function inferMediaType(url: string, mediaType: string | undefined): { mediaType?: string } {
  if (mediaType !== undefined) return { mediaType };
  const type = mediaTypeFor(filenameIn(url) ?? '');
  return type === 'application/octet-stream' ? {} : { mediaType: type };
}

async function readData(path: string): Promise<unknown> {
  const text =
    path === '-' ? await textFrom(process.stdin) : await readOrFail(path, () => readFile(path, 'utf8'));
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ClientError(
      'A2ACLI_ERR_USAGE',
      `Invalid JSON in ${path === '-' ? 'standard input' : path}`,
      undefined,
      cause,
    );
  }
}

async function readOrFail<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof ClientError || cause instanceof UsageError) throw cause;
    throw new UsageError(`Cannot read ${path}`, 'Pass the path of a file.', { cause });
  }
}
