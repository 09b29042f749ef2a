import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { text as textFrom } from 'node:stream/consumers';
import { mediaTypeFor } from '../../../artifacts/media-types.ts';
import { type Part, rawPart } from '../../../protocol/part.ts';
import { ClientError } from '../../client/client-error.ts';
import type { PartDraft } from './command.ts';

/** The largest file that is put into a message, in bytes. */
const most = 50 * 1_048_576;

/** Makes the parts of a message, in the order in which they were typed. */
export async function buildMessageParts(drafts: readonly PartDraft[]): Promise<Part[]> {
  if (drafts.filter(({ kind, value }) => kind === 'data' && value === '-').length > 1)
    throw new ClientError('A2ACLI_ERR_USAGE', 'standard input can be read once', 'Give one --data - only.');
  const parts: Part[] = [];
  for (const draft of drafts) parts.push(await readPart(draft));
  return parts;
}

async function readPart({ kind, value, mediaType }: PartDraft): Promise<Part> {
  const label = mediaType === undefined ? {} : { mediaType };
  if (kind === 'text') return { text: value, ...label };
  if (kind === 'data') return { data: await readData(value), mediaType: mediaType ?? 'application/json' };
  if (/^https?:\/\//i.test(value))
    return { url: value, filename: nameIn(value), ...guessed(value, mediaType) };
  const bytes = await reading(value, async () => {
    const { size } = await stat(value);
    if (size > most)
      throw new ClientError(
        'A2ACLI_ERR_USAGE',
        `${value} is too large to send along (${size} bytes)`,
        'Put it where the agent can fetch it, and give --file its URL.',
      );
    return readFile(value);
  });
  return rawPart(bytes, { filename: basename(value), mediaType: mediaType ?? mediaTypeFor(value) });
}

function nameIn(url: string): string | undefined {
  const last = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : '';
  return last === '' || last === undefined ? undefined : decodeURIComponent(last);
}

/** Nothing is said about content that was neither seen nor named. */
function guessed(url: string, mediaType: string | undefined): { mediaType?: string } {
  if (mediaType !== undefined) return { mediaType };
  const type = mediaTypeFor(nameIn(url) ?? '');
  return type === 'application/octet-stream' ? {} : { mediaType: type };
}

async function readData(path: string): Promise<unknown> {
  const text =
    path === '-' ? await textFrom(process.stdin) : await reading(path, () => readFile(path, 'utf8'));
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ClientError(
      'A2ACLI_ERR_USAGE',
      `${path === '-' ? 'standard input' : path} is no JSON`,
      undefined,
      cause,
    );
  }
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof ClientError) throw cause;
    throw new ClientError('A2ACLI_ERR_USAGE', `${path} cannot be read`, 'Give the path of a file.', cause);
  }
}
