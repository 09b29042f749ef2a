import { asJsonObject } from '../../primitives/json.ts';
import { truncate } from '../../primitives/text.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { Part, RawPart, UrlPart } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { encodeBase64 } from '../stores/base64.ts';
import { findArtifactUris } from '../find-artifact-uris.ts';
import { storagePath, safeSegment, sharedPrefix } from '../stores/storage-path.ts';
import type { ArtifactKey, ArtifactStore } from '../artifact-store.ts';
import { type ArtifactUri, artifactScheme, readArtifactUri, writeArtifactUri } from '../artifact-uri.ts';

/** Collaborators and limits of {@link resolveRequest}. */
export interface ResolveContext {
  readonly store: ArtifactStore;
  readonly alias: string;
  readonly resolveMentions: boolean;
  readonly maxInlineBytes: number;
  /** Maximum number of files per request. */
  readonly maxFiles: number;
  /** User whose files the request may reference. */
  readonly user: string;
  /** Session of the request; undefined for a new one. */
  readonly session: string | undefined;
  readonly call: CallContext;
  /** Maps the application of a URI to that of the store. */
  readonly app: (uriApp: string) => string;
  /** Returns true if files of another user may be read. */
  readonly canRead: (key: ArtifactKey, call: CallContext) => boolean | Promise<boolean>;
}

/** A request with bytes instead of links. */
export interface ResolvedRequest {
  readonly request: SendRequest;
  /** The replaced links by the digest of their content. */
  readonly links: ReadonlyMap<string, UrlPart>;
}

/** A file that a request references. */
interface FileReference {
  readonly uri: ArtifactUri;
  /** Path in the request, for errors. */
  readonly field: string;
  /** The reference as written by the client. */
  readonly text: string;
}

function isLink(part: Part): part is UrlPart {
  return 'url' in part && part.url.slice(0, artifactScheme.length).toLowerCase() === artifactScheme;
}

/** Inlines the files that a request references. @returns undefined if it references none */
export async function resolveRequest(
  request: SendRequest,
  context: ResolveContext,
): Promise<ResolvedRequest | undefined> {
  const { message } = request;
  const references = readMetadataReferences(request);
  const reader = new FileReader(context);
  const parts: Part[] = [];
  for (const [index, part] of message.parts.entries()) {
    parts.push(isLink(part) ? await reader.readLink(part, `message.parts[${index}].url`) : part);
  }
  for (const [index, part] of message.parts.entries()) {
    if (!('text' in part) || !context.resolveMentions) continue;
    for (const { text, uri } of findArtifactUris(part.text, context.maxFiles + 1)) {
      const added = await reader.once({ uri, text, field: `message.parts[${index}].text` });
      if (added) parts.push(added);
    }
  }
  for (const reference of references) {
    const added = await reader.once(reader.resolveReference(reference));
    if (added) parts.push(added);
  }
  if (reader.links.size === 0) return undefined;
  return { request: { ...request, message: { ...message, parts } }, links: reader.links };
}

/** A file of the session that the metadata of a request references. */
interface MetadataReference {
  readonly filename: string;
  readonly version: number | undefined;
  readonly field: string;
}

/** Reads `invoked_with_artifacts`, which older clients put into the metadata of the request. */
function readMetadataReferences({ message, metadata }: SendRequest): MetadataReference[] {
  const inMessage = message.metadata?.invoked_with_artifacts;
  const entries = inMessage ?? metadata?.invoked_with_artifacts;
  if (entries === undefined || entries === null) return [];
  const path = `${inMessage === undefined ? '' : 'message.'}metadata.invoked_with_artifacts`;
  if (!Array.isArray(entries)) throw invalidField(path, 'must be an array of files');
  return entries.map((entry: unknown, index) => {
    const field = `${path}[${index}]`;
    const { filename, version } = asJsonObject(entry) ?? {};
    if (typeof filename !== 'string' || filename === '') throw invalidField(field, 'must have a filename');
    if (version === undefined || version === null || version === 'latest') {
      return { filename, version: undefined, field };
    }
    const number = Number(version);
    if (!Number.isSafeInteger(number) || number < 0)
      throw invalidField(`${field}.version`, 'must be a version number');
    return { filename, version: number, field };
  });
}

/** Reads the files of one request and enforces its limits. */
class FileReader {
  readonly links = new Map<string, UrlPart>();
  readonly #context: ResolveContext;
  /** Ids of files that are already part of the request. */
  readonly #included = new Set<string>();
  #count = 0;
  #remainingBytes: number;

  constructor(context: ResolveContext) {
    this.#context = context;
    this.#remainingBytes = context.maxInlineBytes;
  }

  async readLink(part: UrlPart, field: string): Promise<RawPart> {
    const uri = readArtifactUri(part.url);
    if (!uri) {
      throw invalidField(
        field,
        `must be a URI such as artifact://app/user/session/file?version=0, not ${truncate(part.url, 200)}`,
      );
    }
    const { url: _link, ...labels } = part;
    const { raw, filename, mediaType } = await this.#read({ uri, field, text: part.url }, part);
    return {
      raw,
      ...labels,
      filename: labels.filename || filename,
      mediaType: labels.mediaType || mediaType,
    };
  }

  /** Reads a file. Returns undefined if it is already part of the request. */
  async once(file: FileReference): Promise<RawPart | undefined> {
    if (this.#included.has(fileId(file.uri))) return undefined;
    const { app, user, session, filename, version } = file.uri;
    return await this.#read(file, {
      url: writeArtifactUri({ app, user, session, filename, version }),
      filename,
    });
  }

  resolveReference({ filename, version, field }: MetadataReference): FileReference {
    const { session, user, alias } = this.#context;
    if (session === undefined && !filename.startsWith(sharedPrefix)) {
      throw invalidField(
        field,
        `must not reference ${truncate(filename, 200)} without a contextId in the message`,
      );
    }
    return {
      uri: { app: alias, user, session: session ?? 'default', filename, version },
      field,
      text: filename,
    };
  }

  async #read(
    file: FileReference,
    link: UrlPart,
  ): Promise<RawPart & { filename: string; mediaType: string }> {
    const { uri, field, text } = file;
    if (++this.#count > this.#context.maxFiles) {
      throw invalidField(field, `must not exceed the limit of ${this.#context.maxFiles} files per message`);
    }
    const found = await this.#find(uri);
    // The same error for missing files and files of other users, so that clients cannot tell them apart.
    if (!found) throw invalidField(field, `must name an existing file, not ${truncate(text, 200)}`);
    if (found.size > this.#remainingBytes) {
      throw new A2AError(
        'PAYLOAD_TOO_LARGE',
        `The files of the message exceed ${this.#context.maxInlineBytes} bytes at ${truncate(text, 200)}`,
      );
    }
    const content = await encodeBase64(found.stream(), this.#remainingBytes);
    this.#remainingBytes -= content.size;
    this.#included.add(fileId(uri));
    if (uri.version === undefined) this.#included.add(fileId({ ...uri, version: found.version }));
    this.links.set(content.digest, link);
    return { raw: content.text, filename: uri.filename.replace(/^user:/, ''), mediaType: found.mimeType };
  }

  async #find({ app, user, session, filename, version }: ArtifactUri) {
    const { store, call, canRead } = this.#context;
    const isOwn = user === this.#context.user || safeSegment(user) === this.#context.user;
    const key = { app: this.#context.app(app), user: isOwn ? this.#context.user : user, session, filename };
    try {
      storagePath(key);
    } catch {
      // No store accepts the name, so the file cannot exist.
      return undefined;
    }
    if (!isOwn && !(await canRead(key, call))) return undefined;
    return await store.load(key, version);
  }
}

function fileId({ app, user, session, filename, version }: ArtifactUri): string {
  return JSON.stringify([app, user, session, filename, version ?? 'newest']);
}
