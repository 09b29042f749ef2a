import type { CallContext } from '../../protocol/agent.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { Part, RawPart, UrlPart } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { encodeBase64 } from '../stores/base64.ts';
import { findArtifactUris } from '../find-artifact-uris.ts';
import { storagePath, safeSegment, sharedPrefix } from '../stores/storage-path.ts';
import type { ArtifactKey, ArtifactStore } from '../artifact-store.ts';
import { type ArtifactUri, artifactScheme, readArtifactUri, writeArtifactUri } from '../artifact-uri.ts';

/** What the requests of one call are resolved with. */
export interface ResolveContext {
  readonly store: ArtifactStore;
  readonly alias: string;
  readonly resolveMentions: boolean;
  readonly maxInlineBytes: number;
  /** How many files one request may bring. */
  readonly maxFiles: number;
  /** The caller, as whose files are kept. */
  readonly user: string;
  /** The conversation of the request, or undefined in a new one. */
  readonly session: string | undefined;
  readonly call: CallContext;
  /** The application in the store for the one that a URI names. */
  readonly app: (named: string) => string;
  readonly mayRead: (key: ArtifactKey, call: CallContext) => boolean | Promise<boolean>;
}

/** A request with bytes in the place of links, and the links by the digest of their bytes. */
export interface ResolvedRequest {
  readonly request: SendRequest;
  readonly brought: ReadonlyMap<string, UrlPart>;
}

/** A file that a request speaks of. */
interface Wanted {
  readonly uri: ArtifactUri;
  /** Where in the request, for the error. */
  readonly field: string;
  /** As the caller wrote it. */
  readonly text: string;
}

function isLink(part: Part): part is UrlPart {
  return 'url' in part && part.url.slice(0, artifactScheme.length).toLowerCase() === artifactScheme;
}

/** Reads the files that a request names into it. @returns undefined when it names none */
export async function resolveRequest(
  request: SendRequest,
  scope: ResolveContext,
): Promise<ResolvedRequest | undefined> {
  const { message } = request;
  const references = invokedWith(request);
  const isConcerned =
    references.length > 0 ||
    message.parts.some(
      (part) => isLink(part) || ('text' in part && scope.resolveMentions && mayMention(part.text)),
    );
  if (!isConcerned) return undefined;
  const reader = new Reader(scope);
  const parts: Part[] = [];
  for (const [index, part] of message.parts.entries()) {
    parts.push(isLink(part) ? await reader.inPlaceOf(part, `message.parts[${index}].url`) : part);
  }
  for (const [index, part] of message.parts.entries()) {
    if (!('text' in part) || !scope.resolveMentions) continue;
    for (const { text, uri } of findArtifactUris(part.text, scope.maxFiles + 1)) {
      const added = await reader.once({ uri, text, field: `message.parts[${index}].text` });
      if (added) parts.push(added);
    }
  }
  for (const wanted of references) {
    const added = await reader.once(reader.reference(wanted));
    if (added) parts.push(added);
  }
  if (reader.brought.size === 0) return undefined;
  return { request: { ...request, message: { ...message, parts } }, brought: reader.brought };
}

function mayMention(text: string): boolean {
  return text.toLowerCase().includes(artifactScheme);
}

/** A file of the conversation that a request names in its metadata. */
interface Reference {
  readonly filename: string;
  readonly version: number | undefined;
  readonly field: string;
}

/** Reads `invoked_with_artifacts`, which older callers put beside the message. */
function invokedWith({ message, metadata }: SendRequest): Reference[] {
  const inMessage = message.metadata?.invoked_with_artifacts;
  const listed = inMessage ?? metadata?.invoked_with_artifacts;
  if (listed === undefined || listed === null) return [];
  const path = `${inMessage === undefined ? '' : 'message.'}metadata.invoked_with_artifacts`;
  if (!Array.isArray(listed)) throw invalidField(path, 'must be an array of files');
  return listed.map((entry: unknown, index) => {
    const field = `${path}[${index}]`;
    const { filename, version } = (typeof entry === 'object' && entry !== null ? entry : {}) as {
      filename?: unknown;
      version?: unknown;
    };
    if (typeof filename !== 'string' || filename === '') throw invalidField(field, 'must have a filename');
    if (version === undefined || version === null || version === 'latest') {
      return { filename, version: undefined, field };
    }
    const number = Number(version);
    if (!Number.isSafeInteger(number) || number < 0)
      throw invalidField(`${field}.version`, 'must be a version');
    return { filename, version: number, field };
  });
}

/** Reads files for one request, within its limits. */
class Reader {
  readonly brought = new Map<string, UrlPart>();
  readonly #scope: ResolveContext;
  /** The files that are in the request already. */
  readonly #seen = new Set<string>();
  #count = 0;
  #room: number;

  constructor(scope: ResolveContext) {
    this.#scope = scope;
    this.#room = scope.maxInlineBytes;
  }

  /** The bytes for a link. */
  async inPlaceOf(part: UrlPart, field: string): Promise<RawPart> {
    const uri = readArtifactUri(part.url);
    if (!uri) {
      throw invalidField(
        field,
        `is not the URI of a file: ${shown(part.url)} (artifact://app/user/session/file?version=0)`,
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

  /** The bytes of a file, or undefined when they are in the request already. */
  async once(wanted: Wanted): Promise<RawPart | undefined> {
    if (this.#seen.has(idOf(wanted.uri))) return undefined;
    const { app, user, session, filename, version } = wanted.uri;
    return await this.#read(wanted, {
      url: writeArtifactUri({ app, user, session, filename, version }),
      filename,
    });
  }

  /** The file of this conversation that a reference names. */
  reference({ filename, version, field }: Reference): Wanted {
    const { session, user, alias } = this.#scope;
    if (session === undefined && !filename.startsWith(sharedPrefix)) {
      throw invalidField(
        field,
        `names ${shown(filename)}, but the message is of no conversation (contextId)`,
      );
    }
    return {
      uri: { app: alias, user, session: session ?? 'default', filename, version },
      field,
      text: filename,
    };
  }

  async #read(wanted: Wanted, link: UrlPart): Promise<RawPart & { filename: string; mediaType: string }> {
    const { uri, field, text } = wanted;
    if (++this.#count > this.#scope.maxFiles) {
      throw invalidField(field, `is one file too many: ${this.#scope.maxFiles} may come with a message`);
    }
    const found = await this.#find(uri);
    // Whether there is no such file or it is another's is not for strangers to know.
    if (!found) throw invalidField(field, `names a file that is not there: ${shown(text)}`);
    if (found.size > this.#room) {
      throw new A2AError(
        'PAYLOAD_TOO_LARGE',
        `The files of a message may have ${this.#scope.maxInlineBytes} bytes; ${shown(text)} is too much`,
      );
    }
    const content = await encodeBase64(found.stream(), this.#room);
    this.#room -= content.size;
    this.#seen.add(idOf(uri));
    if (uri.version === undefined) this.#seen.add(idOf({ ...uri, version: found.version }));
    this.brought.set(content.digest, link);
    return { raw: content.text, filename: uri.filename.replace(/^user:/, ''), mediaType: found.mimeType };
  }

  async #find({ app, user, session, filename, version }: ArtifactUri) {
    const { store, call, mayRead } = this.#scope;
    const isOwn = user === this.#scope.user || safeSegment(user) === this.#scope.user;
    const key = { app: this.#scope.app(app), user: isOwn ? this.#scope.user : user, session, filename };
    try {
      storagePath(key);
    } catch {
      // A name that no store takes is the name of no file.
      return undefined;
    }
    if (!isOwn && !(await mayRead(key, call))) return undefined;
    return await store.load(key, version);
  }
}

function idOf({ app, user, session, filename, version }: ArtifactUri): string {
  return JSON.stringify([app, user, session, filename, version ?? 'newest']);
}

/** What a caller wrote, as much as an error needs of it. */
function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
