import { createHash } from 'node:crypto';
import { invalidField } from '../../protocol/errors.ts';
import type { ArtifactKey } from '../artifact-store.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Prefix of filenames that are shared by all sessions of a user. */
export const sharedPrefix = 'user:';

/** Folder of the files that all sessions of a user share. */
const sharedFolder = 'user';

/** Limit of common file systems. */
const maxNameBytes = 255;

const controlCharacter = /\p{Cc}/u;
const surrogate = /\p{Surrogate}/u;
/** Device names on Windows, with any extension. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Path segments of a file in a store. */
export interface StoragePath {
  readonly app: string;
  readonly user: string;
  /** The session, or the shared folder. */
  readonly folder: string;
  /** Filename without prefix, normalized to NFKC, so that look-alike names are equal. */
  readonly name: string;
}

/** Returns why a name is not safe as a path segment, or undefined if it is. */
function segmentProblem(name: string): string | undefined {
  if (name === '') return 'must not be empty';
  if (name === '.' || name === '..') return 'must not be a relative path';
  if (/[/\\]/.test(name)) return 'must not contain / or \\';
  if (controlCharacter.test(name)) return 'must not contain control characters';
  if (surrogate.test(name)) return 'must be well-formed Unicode';
  if (/[. ]$/.test(name)) return 'must not end with a dot or a space';
  if (deviceName.test(name)) return 'must not be the name of a device';
  if (Buffer.byteLength(name) > maxNameBytes) return `must not have more than ${maxNameBytes} bytes`;
  return undefined;
}

function checkSegment(field: string, name: string): string {
  const problem = segmentProblem(name);
  if (problem !== undefined) throw invalidField(`artifact.${field}`, problem);
  return name;
}

/** Returns the folders of a session and the shared folder. @throws A2AError for unsafe names. */
export function userFolders(
  scope: Omit<ArtifactKey, 'filename'>,
): Omit<ArtifactKey, 'filename'> & { readonly shared: string } {
  if (controlCharacter.test(scope.app) || surrogate.test(scope.app)) {
    throw invalidField('artifact.app', 'must not contain control characters');
  }
  const session = checkSegment('session', scope.session);
  // Its files would be visible in all sessions of the user.
  if (session === sharedFolder) throw invalidField('artifact.session', `must not be "${sharedFolder}"`);
  return { app: scope.app, user: checkSegment('user', scope.user), session, shared: sharedFolder };
}

/** Returns the path of a file. @throws A2AError for unsafe names. */
export function storagePath(key: ArtifactKey): StoragePath {
  const { app, user, session, shared } = userFolders(key);
  const filename = key.filename.normalize('NFKC');
  const isShared = filename.startsWith(sharedPrefix);
  const name = checkSegment('filename', isShared ? filename.slice(sharedPrefix.length) : filename);
  return { app, user, folder: isShared ? shared : session, name };
}

/** Returns the last path segment like Python's `basename`: empty for a path that ends with a slash. */
export function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const metadataFile = /\.metadata\.json$/i;

/**
 * Sanitizes an untrusted filename: keeps the last path segment and replaces characters that stores reject, metadata file
 * names and the `user:` prefix.
 *
 * @param fallback - used if the sanitized name is empty
 */
export function safeFilename(name: string | undefined, fallback: string): string {
  return sanitize(name ?? '') || sanitize(fallback) || 'artifact.bin';
}

function sanitize(name: string): string {
  // Replaces lone surrogates, which cannot be encoded.
  const text = Buffer.from(name.slice(0, 4096)).toString().normalize('NFKC');
  let clean = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1);
  // Bidirectional control characters could hide the extension.
  clean = clean.replaceAll(/[\p{Cc}<>:"|?*\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '_').trimStart();
  clean = clean.replace(metadataFile, '-metadata.json');
  clean = stripTrailing(truncateFilename(clean), '. ');
  return deviceName.test(clean) ? `_${clean}` : clean;
}

/** Truncates a name but keeps its extension. Leaves room for the suffix of the metadata file. */
function truncateFilename(name: string): string {
  const maxBytes = 200;
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const extension = /\.[\w-]{1,16}$/.exec(name)?.[0] ?? '';
  let stem = '';
  let size = 0;
  for (const character of name.slice(0, name.length - extension.length)) {
    size += Buffer.byteLength(character);
    if (size > maxBytes - extension.length) break;
    stem += character;
  }
  return stem + extension;
}

/**
 * Converts a user or session id, which may be any text, to a safe folder name. The mapping is injective, and most ids
 * stay unchanged.
 */
export function safeSegment(text: string): string {
  const escaped = text.replaceAll(/[%/\\\p{Cc}\p{Surrogate}]/gu, percentEncode);
  if (escaped !== sharedFolder && segmentProblem(escaped) === undefined) return escaped;
  // Escaping needs up to five more bytes; longer names are hashed.
  if (Buffer.byteLength(escaped) > maxNameBytes - 5) {
    const digest = createHash('sha256').update(text, 'utf16le').digest('hex');
    return `${Buffer.from(escaped.slice(0, 60)).toString()}%~${digest}`;
  }
  if (escaped === '') return '%';
  return /[. ]$/.test(escaped)
    ? escaped.slice(0, -1) + percentEncode(escaped.slice(-1))
    : percentEncode(escaped.slice(0, 1)) + escaped.slice(1);
}

function percentEncode(character: string): string {
  const code = character.charCodeAt(0);
  if (code > 0xff) return `%u${code.toString(16)}`;
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
}
