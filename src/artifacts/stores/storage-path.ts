import { createHash } from 'node:crypto';
import { invalidField } from '../../protocol/errors.ts';
import type { ArtifactKey } from '../artifact-store.ts';

/** What a name of a file begins with when the file is the same in every conversation of its user. */
export const sharedPrefix = 'user:';

/** The folder of files that all conversations of a user share. */
const sharedFolder = 'user';

/** As many bytes as a name may have in any file system. */
const maxNameBytes = 255;

const control = /\p{Cc}/u;
const surrogate = /\p{Surrogate}/u;
/** Names that are devices on Windows, whatever their extension. */
const device = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Where the versions of a file are kept, below what the driver begins with. */
export interface StoragePath {
  readonly app: string;
  readonly user: string;
  /** The conversation, or the folder that all of them share. */
  readonly folder: string;
  /** The name of the file without its prefix, in the normal form of Unicode that look-alikes share (NFKC). */
  readonly name: string;
}

/** What is wrong with a name that becomes a folder of its own, or undefined. */
function faultOf(name: string): string | undefined {
  if (name === '') return 'must not be empty';
  if (name === '.' || name === '..') return 'must not be a path';
  if (/[/\\]/.test(name)) return 'must not contain / or \\';
  if (control.test(name)) return 'must not contain control characters';
  if (surrogate.test(name)) return 'must be well-formed Unicode';
  if (/[. ]$/.test(name)) return 'must not end with a dot or a space';
  if (device.test(name)) return 'must not be the name of a device';
  if (Buffer.byteLength(name) > maxNameBytes) return `must not have more than ${maxNameBytes} bytes`;
  return undefined;
}

function checked(field: string, name: string): string {
  const fault = faultOf(name);
  if (fault !== undefined) throw invalidField(`artifact.${field}`, fault);
  return name;
}

/** The folders of a user: those of a conversation and the shared one. @throws A2AError for a name that is not safe. */
export function userFolders(scope: Omit<ArtifactKey, 'filename'>): {
  app: string;
  user: string;
  session: string;
  shared: string;
} {
  if (control.test(scope.app) || surrogate.test(scope.app)) {
    throw invalidField('artifact.app', 'must not contain control characters');
  }
  const session = checked('session', scope.session);
  // Files of such a conversation would be those of all others.
  if (session === sharedFolder) throw invalidField('artifact.session', `must not be "${sharedFolder}"`);
  return { app: scope.app, user: checked('user', scope.user), session, shared: sharedFolder };
}

/** Where the versions of a file are kept. @throws A2AError for a name that is not safe. */
export function storagePath(key: ArtifactKey): StoragePath {
  const { app, user, session, shared } = userFolders(key);
  const filename = key.filename.normalize('NFKC');
  const isShared = filename.startsWith(sharedPrefix);
  const name = checked('filename', isShared ? filename.slice(sharedPrefix.length) : filename);
  return { app, user, folder: isShared ? shared : session, name };
}

/** The end of a path as Python tells it: nothing at all for a path that ends with a slash. */
export function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const companion = /\.metadata\.json$/i;

/**
 * Makes a file name of what a peer called a file: its last segment, without anything that a store refuses, that
 * would name the companion of another file or reach other conversations.
 *
 * @param fallback - taken when nothing is left of the name
 */
export function safeFilename(name: string | undefined, fallback: string): string {
  return cleaned(name ?? '') || cleaned(fallback) || 'artifact.bin';
}

function cleaned(name: string): string {
  // Unicode's replacement stands for what cannot be written.
  const text = Buffer.from(name.slice(0, 4096)).toString().normalize('NFKC');
  let clean = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1);
  // What turns the direction of writing hides what a name ends with.
  clean = clean.replaceAll(/[\p{Cc}<>:"|?*\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, '_').trimStart();
  clean = clean.replace(companion, '-metadata.json');
  clean = shortened(clean).replace(/[. ]+$/, '');
  return device.test(clean) ? `_${clean}` : clean;
}

/** Cuts a name so that its extension stays and its companion's name has room. */
function shortened(name: string): string {
  const room = 200;
  if (Buffer.byteLength(name) <= room) return name;
  const extension = /\.[\w-]{1,16}$/.exec(name)?.[0] ?? '';
  let stem = '';
  let size = 0;
  for (const character of name.slice(0, name.length - extension.length)) {
    size += Buffer.byteLength(character);
    if (size > room - extension.length) break;
    stem += character;
  }
  return stem + extension;
}

/**
 * Makes a user or a conversation, which may be any text, the name of a folder. Two texts never become one, and most
 * stay as they are.
 */
export function safeSegment(text: string): string {
  const escaped = text.replaceAll(/[%/\\\p{Cc}\p{Surrogate}]/gu, percent);
  const fault = escaped === sharedFolder || faultOf(escaped) !== undefined;
  if (!fault) return escaped;
  // A fault may cost some more bytes to mend than there is room for.
  if (Buffer.byteLength(escaped) > maxNameBytes - 5) {
    const digest = createHash('sha256').update(text, 'utf16le').digest('hex');
    return `${Buffer.from(escaped.slice(0, 60)).toString()}%~${digest}`;
  }
  if (escaped === '') return '%';
  return /[. ]$/.test(escaped)
    ? escaped.slice(0, -1) + percent(escaped.slice(-1))
    : percent(escaped.slice(0, 1)) + escaped.slice(1);
}

function percent(character: string): string {
  const code = character.charCodeAt(0);
  if (code > 0xff) return `%u${code.toString(16)}`;
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
}
