import { base64DecodedSize } from '../../artifacts/stores/base64.ts';
import { resolveRequest } from '../../artifacts/middleware/resolve-request.ts';
import { extensionFor, mediaTypeFor } from '../../artifacts/media-types.ts';
import { safeSegment } from '../../artifacts/stores/storage-path.ts';
import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import { artifactScheme } from '../../artifacts/artifact-uri.ts';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { egressRequest } from '../../egress/egress-request.ts';
import { asJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { truncate } from '../../primitives/text.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { type RawPart, rawPart } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';

/** Sources and limits of file parameters. */
export interface FileSources {
  readonly store: ArtifactStore | undefined;
  /** Egress policy for files from the web; undefined disables them. */
  readonly policy: EgressPolicy | undefined;
  readonly maxFiles: number;
  /** Total size of all files of a call. */
  readonly maxBytes: number;
}

/** User and agent of a call. */
export interface FileOwner {
  readonly user: string;
  readonly agentName: string;
  readonly signal?: AbortSignal | undefined;
}

/** A validated file parameter. */
interface FileReference {
  readonly uri?: string;
  readonly bytes?: string;
  readonly name?: string;
  readonly mediaType?: string;
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Resolves file parameters to their content.
 *
 * @throws A2AError that names the first file that cannot be resolved, because the call must not be made without it
 */
export async function resolveFiles(
  given: unknown,
  sources: FileSources,
  owner: FileOwner,
): Promise<RawPart[]> {
  const references = parseReferences(given);
  if (references.length > sources.maxFiles) {
    throw invalidField('files', `must have at most ${sources.maxFiles} entries, not ${references.length}`);
  }
  const parts: RawPart[] = [];
  let size = 0;
  for (const [index, file] of references.entries()) {
    const name = truncate(file.uri ?? file.name ?? '', 200);
    const part = await readFile(file, name, sources, owner);
    size += base64DecodedSize(part.raw);
    if (size > sources.maxBytes) {
      throw new A2AError(
        'PAYLOAD_TOO_LARGE',
        `The files of a call exceed ${sources.maxBytes} bytes at files[${index}] (${name})`,
      );
    }
    parts.push(part);
  }
  return parts;
}

async function readFile(
  file: FileReference,
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
    // The field path of a violation refers to an internal message.
    const why = error.violations[0]?.description ?? error.message;
    throw new A2AError(error.reason, `Cannot use file ${name}: ${why}`, { cause: error, hint: error.hint });
  }
  throw new A2AError('INVALID_PARAMS', `Cannot use file ${name}: unsupported URI scheme`, {
    hint: 'Pass artifact://app/user/session/name, an https:// URL, data:…, or { bytes, name }.',
  });
}

function inline({ bytes = '', name, mediaType }: FileReference): RawPart {
  const filename = name ?? 'file';
  return { raw: checkBase64(bytes), filename, mediaType: mediaType ?? mediaTypeFor(filename) };
}

function fromDataUrl({ uri, name, mediaType }: FileReference & { uri: string }): RawPart {
  const [matched, head = '', isBase64] = /^data:([^,]*?)(;base64)?,/i.exec(uri) ?? [];
  if (matched === undefined) throw new A2AError('INVALID_PARAMS', 'the data URL has no content');
  const content = uri.slice(matched.length);
  const type = mediaType ?? (head.split(';')[0] || 'text/plain');
  const labels = { filename: name ?? `file.${extensionFor(type)}`, mediaType: type };
  if (!isBase64) return rawPart(Buffer.from(decodeSafely(content)), labels);
  return { raw: checkBase64(decodeSafely(content)), ...labels };
}

function checkBase64(text: string): string {
  if (text.length % 4 === 0 && base64.test(text)) return text;
  throw new A2AError('INVALID_PARAMS', 'the bytes are not valid base64');
}

async function fromStore(
  { uri, name, mediaType }: FileReference & { uri: string },
  { store, maxBytes }: FileSources,
  { user, agentName }: FileOwner,
): Promise<RawPart> {
  if (!store) {
    throw new A2AError('INVALID_PARAMS', 'no artifact store is configured', {
      hint: 'Set the option `artifacts` of the bridge.',
    });
  }
  const parts = [{ url: uri, ...(name && { filename: name }), ...(mediaType && { mediaType }) }];
  const request: SendRequest = { message: { messageId: 'file', role: 'user', parts } };
  const resolved = await resolveRequest(request, {
    store,
    alias: agentName,
    resolveMentions: false,
    maxInlineBytes: maxBytes,
    maxFiles: 1,
    user: safeSegment(user),
    session: undefined,
    call: {},
    app: (named) => named,
    canRead: () => false,
  });
  const part = resolved?.request.message.parts[0];
  if (!part || !('raw' in part)) throw new A2AError('NOT_FOUND', 'file not found');
  return part;
}

async function fromWeb(
  { uri, name, mediaType }: FileReference & { uri: string },
  { policy }: FileSources,
  { signal }: FileOwner,
): Promise<RawPart> {
  if (!policy) {
    throw new A2AError('PERMISSION_DENIED', 'fetching files from the web is disabled', {
      hint: 'Set the option `egress` of the bridge.',
    });
  }
  const response = await egressRequest(policy, { url: uri, purpose: 'file', ...(signal && { signal }) });
  if (response.status !== 200) throw new A2AError('UNAVAILABLE', `unexpected HTTP status ${response.status}`);
  const filename = name ?? (decodeSafely(new URL(response.url).pathname.split('/').at(-1) ?? '') || 'file');
  const type = mediaType ?? response.headers['content-type']?.split(';')[0]?.trim();
  return rawPart(response.bytes, { filename, mediaType: type || mediaTypeFor(filename) });
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Parses `files`: a list, one URI, or a list as JSON text, which some models send. */
function parseReferences(given: unknown): FileReference[] {
  if (given === undefined || given === null || given === '') return [];
  if (typeof given === 'string') {
    if (!given.trimStart().startsWith('[')) return [{ uri: given }];
    return parseReferences(parseJsonOrUndefined(given) ?? {});
  }
  if (!Array.isArray(given)) throw invalidField('files', 'must be an array');
  return given.map((each: unknown, index) => {
    if (typeof each === 'string') return { uri: each };
    const { uri, bytes, name, mediaType } = asJsonObject(each) ?? {};
    if (typeof uri !== 'string' && (typeof bytes !== 'string' || typeof name !== 'string')) {
      throw invalidField(`files[${index}]`, 'must be a URI, { uri } or { bytes, name }');
    }
    return {
      ...(typeof uri === 'string' ? { uri } : { bytes: bytes as string }),
      ...(typeof name === 'string' && { name }),
      ...(typeof mediaType === 'string' && { mediaType }),
    };
  });
}
