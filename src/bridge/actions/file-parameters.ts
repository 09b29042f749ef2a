import { base64DecodedSize } from '../../artifacts/stores/base64.ts';
import { resolveRequest } from '../../artifacts/middleware/resolve-request.ts';
import { extensionFor, mediaTypeFor } from '../../artifacts/media-types.ts';
import { safeSegment } from '../../artifacts/stores/storage-path.ts';
import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import { artifactScheme } from '../../artifacts/artifact-uri.ts';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { egressRequest } from '../../egress/egress-request.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { type RawPart, rawPart } from '../../protocol/part.ts';

/** Where files of callers come from, and how much of them. */
export interface FileSources {
  readonly store: ArtifactStore | undefined;
  /** What may be fetched; nothing without it. */
  readonly policy: EgressPolicy | undefined;
  readonly maxFiles: number;
  /** Bytes of all files of a call. */
  readonly maxBytes: number;
}

/** Whose files they are. */
export interface FileOwner {
  readonly user: string;
  readonly agentName: string;
  readonly signal?: AbortSignal | undefined;
}

/** A file parameter, checked. */
interface Wanted {
  readonly uri?: string;
  readonly bytes?: string;
  readonly name?: string;
  readonly mediaType?: string;
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Gives the content of the files that a caller names.
 *
 * @throws A2AError that names the first file that cannot be had: a call without it would be another call
 */
export async function resolveFiles(
  given: unknown,
  sources: FileSources,
  owner: FileOwner,
): Promise<RawPart[]> {
  const wanted = wantedOf(given);
  if (wanted.length > sources.maxFiles) {
    throw invalidField('files', `are ${wanted.length}; ${sources.maxFiles} may come with a call`);
  }
  const parts: RawPart[] = [];
  let size = 0;
  for (const [index, file] of wanted.entries()) {
    const name = shown(file.uri ?? file.name ?? '');
    const part = await readFile(file, name, sources, owner);
    size += base64DecodedSize(part.raw);
    if (size > sources.maxBytes) {
      throw new A2AError(
        'PAYLOAD_TOO_LARGE',
        `The files of a call may have ${sources.maxBytes} bytes; files[${index}] (${name}) is too much`,
      );
    }
    parts.push(part);
  }
  return parts;
}

async function readFile(
  file: Wanted,
  name: string,
  sources: FileSources,
  owner: FileOwner,
): Promise<RawPart> {
  const { uri } = file;
  try {
    if (uri === undefined) return inline(file);
    if (uri.slice(0, artifactScheme.length).toLowerCase() === artifactScheme) {
      return await fromStore({ ...file, uri }, sources, owner);
    }
    if (/^https?:\/\//i.test(uri)) return await fromWeb({ ...file, uri }, sources, owner);
    if (/^data:/i.test(uri)) return fromDataUrl({ ...file, uri });
  } catch (thrown) {
    const error = A2AError.from(thrown);
    if (error.reason === 'CANCELED') throw error;
    throw new A2AError(error.reason, `The file ${name} cannot be used: ${reasonOf(error)}`, {
      cause: error,
      ...(error.hint !== undefined && { hint: error.hint }),
    });
  }
  throw new A2AError(
    'INVALID_PARAMS',
    `The file ${name} cannot be used: it is no address that is known here`,
    {
      hint: 'A file is artifact://app/user/session/name, an https:// address, data:…, or { bytes, name }.',
    },
  );
}

/** What went wrong with a file, without a path into a message that the caller never saw. */
function reasonOf({ violations: [violation], message }: A2AError): string {
  return violation ? `it ${violation.description}` : message;
}

function inline({ bytes = '', name, mediaType }: Wanted): RawPart {
  const filename = name ?? 'file';
  return { raw: checkedBase64(bytes), filename, mediaType: mediaType ?? mediaTypeFor(filename) };
}

/** A file that is its own address. */
function fromDataUrl({ uri, name, mediaType }: Wanted & { uri: string }): RawPart {
  const [matched, head = '', isBase64] = /^data:([^,]*?)(;base64)?,/i.exec(uri) ?? [];
  if (matched === undefined) throw new A2AError('INVALID_PARAMS', 'it has no content');
  const said = uri.slice(matched.length);
  const type = mediaType ?? (head.split(';')[0] || 'text/plain');
  const labels = { filename: name ?? `file.${extensionFor(type)}`, mediaType: type };
  if (!isBase64) return rawPart(Buffer.from(decoded(said)), labels);
  return { raw: checkedBase64(decoded(said)), ...labels };
}

function checkedBase64(text: string): string {
  if (text.length % 4 === 0 && base64.test(text)) return text;
  throw new A2AError('INVALID_PARAMS', 'its bytes are not base64');
}

async function fromStore(
  { uri, name, mediaType }: Wanted & { uri: string },
  { store, maxBytes }: FileSources,
  { user, agentName }: FileOwner,
): Promise<RawPart> {
  if (!store) {
    throw new A2AError('INVALID_PARAMS', 'there is no artifact store', {
      hint: 'Give the bridge the option `artifacts`.',
    });
  }
  const resolved = await resolveRequest(
    {
      message: {
        messageId: 'file',
        role: 'user',
        parts: [{ url: uri, ...(name && { filename: name }), ...(mediaType && { mediaType }) }],
      },
    },
    {
      store,
      alias: agentName,
      resolveMentions: false,
      maxInlineBytes: maxBytes,
      maxFiles: 1,
      user: safeSegment(user),
      session: undefined,
      call: {},
      app: (named) => named,
      mayRead: () => false,
    },
  );
  const part = resolved?.request.message.parts[0];
  if (!part || !('raw' in part)) throw new A2AError('NOT_FOUND', 'it is not there');
  return part;
}

async function fromWeb(
  { uri, name, mediaType }: Wanted & { uri: string },
  { policy }: FileSources,
  { signal }: FileOwner,
): Promise<RawPart> {
  if (!policy) {
    throw new A2AError('PERMISSION_DENIED', 'files are not fetched from the web here', {
      hint: 'Give the bridge the option `egress`.',
    });
  }
  const answer = await egressRequest(policy, { url: uri, purpose: 'file', ...(signal && { signal }) });
  if (answer.status !== 200) throw new A2AError('UNAVAILABLE', `the answer was ${answer.status}`);
  const filename = name ?? lastSegment(answer.url);
  const type = mediaType ?? answer.headers['content-type']?.split(';')[0]?.trim();
  return rawPart(answer.bytes, { filename, mediaType: type || mediaTypeFor(filename) });
}

function lastSegment(url: string): string {
  return decoded(new URL(url).pathname.split('/').at(-1) ?? '') || 'file';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads `files`: a list, one address, or a list as JSON text, which is how some models write it. */
function wantedOf(given: unknown): Wanted[] {
  if (given === undefined || given === null || given === '') return [];
  if (typeof given === 'string') {
    return given.trimStart().startsWith('[') ? wantedOf(parsed(given)) : [{ uri: given }];
  }
  if (!Array.isArray(given)) throw invalidField('files', 'must be a list');
  return given.map((each: unknown, index) => {
    if (typeof each === 'string') return { uri: each };
    const { uri, bytes, name, mediaType } = (typeof each === 'object' && each !== null ? each : {}) as {
      [key: string]: unknown;
    };
    if (typeof uri !== 'string' && (typeof bytes !== 'string' || typeof name !== 'string')) {
      throw invalidField(`files[${index}]`, 'must be an address, { uri } or { bytes, name }');
    }
    return {
      ...(typeof uri === 'string' ? { uri } : { bytes: bytes as string }),
      ...(typeof name === 'string' && { name }),
      ...(typeof mediaType === 'string' && { mediaType }),
    };
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalidField('files', 'must be a list');
  }
}

function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
