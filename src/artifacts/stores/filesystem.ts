import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import {
  checkVersion,
  defaultMaxBytes,
  missingVersionError,
  readChunks,
  storageError,
  wrapStorageErrors,
} from './content.ts';
import { basename, userFolders, storagePath, sharedPrefix } from './storage-path.ts';
import type { ArtifactContent, ArtifactKey, ArtifactStore, StoredArtifact } from '../artifact-store.ts';

/** How {@link filesystemArtifactStore} works. */
export interface FilesystemArtifactStoreOptions {
  /** How large one version may be. @defaultValue 100 MiB */
  readonly maxBytes?: number;
  /** After how many milliseconds what a crash left behind is removed. @defaultValue one hour */
  readonly sweepAfter?: number;
  readonly clock?: { now(): number };
}

/** Where files are until they are whole; no application has such a name. */
const incoming = '.incoming';

/** How often a place may turn out to be taken before something is wrong. */
const maxAttempts = 10_000;

/**
 * Keeps files in a folder, as `app/user/session/filename/version` with a `version.meta` beside each. Several processes
 * may use the same folder.
 *
 * A version is claimed by its `.meta`, which can be made once only, and there when its bytes are, which come last and
 * whole. Readers need both.
 */
export function filesystemArtifactStore(
  folder: string,
  options: FilesystemArtifactStoreOptions = {},
): ArtifactStore {
  const { maxBytes = defaultMaxBytes, sweepAfter = 3_600_000, clock = Date } = options;
  const root = resolve(folder);
  const spool = join(root, incoming);
  let opening: Promise<void> | undefined;

  const folderOf = (key: ArtifactKey): string => {
    const { app, user, folder: session, name } = storagePath(key);
    return join(userFolder(root, app, user), session, name);
  };

  const isOld = async (path: string): Promise<boolean> => {
    const found = await stat(path).catch(ignoreMissing);
    return found !== undefined && clock.now() - found.mtimeMs > sweepAfter;
  };

  /** Makes the folder ready, once, and removes what a crash left there. */
  function opened(): Promise<void> {
    opening ??= (async () => {
      await mkdir(spool, { recursive: true });
      for (const name of await readdir(spool)) {
        const path = join(spool, name);
        if (await isOld(path)) await rm(path, { recursive: true, force: true });
      }
    })();
    // A folder that cannot be used now may be there later.
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  }

  /** Writes content to where nobody looks. */
  async function receive(content: ArtifactContent): Promise<{ path: string; size: number }> {
    await opened();
    const path = join(spool, randomUUID());
    let size = 0;
    try {
      const file = await open(path, 'wx', 0o640);
      try {
        for await (const piece of readChunks(content, maxBytes)) {
          await file.writeFile(piece);
          size += piece.byteLength;
        }
        await file.sync();
      } finally {
        await file.close();
      }
      return { path, size };
    } catch (thrown) {
      await rm(path, { force: true });
      throw thrown;
    }
  }

  /** Makes a version of what was received. @returns false when there is one of that number */
  async function publish(path: string, place: string, version: number, mimeType: string): Promise<boolean> {
    const meta = join(place, `${version}.meta`);
    const claim = await open(meta, 'wx', 0o640).catch(ignoreTaken);
    if (!claim) return false;
    try {
      await claim.writeFile(JSON.stringify({ mime_type: mimeType }));
      await claim.sync();
    } finally {
      await claim.close();
    }
    try {
      await linkOrRename(path, join(place, String(version)));
    } catch (thrown) {
      await rm(meta, { force: true });
      if (codeOf(thrown) === 'EEXIST') return false;
      throw thrown;
    }
    await syncFolder(place);
    return true;
  }

  /** Finds the number after the newest, and removes claims that a crash left without bytes. */
  async function nextVersion(place: string): Promise<number> {
    const names = new Set(await readdir(place));
    let next = 0;
    for (const name of names) {
      const [, digits] = /^(\d+)(?:\.meta)?$/.exec(name) ?? [];
      if (digits === undefined) continue;
      const isOrphan = name !== digits && !names.has(digits);
      if (isOrphan && (await isOld(join(place, name)))) await rm(join(place, name), { force: true });
      else next = Math.max(next, Number(digits) + 1);
    }
    return next;
  }

  async function whole(place: string): Promise<number[]> {
    const names = new Set((await readdir(place).catch(ignoreMissing)) ?? []);
    return [...names]
      .filter((name) => /^\d+$/.test(name) && names.has(`${name}.meta`))
      .map(Number)
      .sort((a, b) => a - b);
  }

  async function namesIn(place: string): Promise<string[]> {
    const entries = (await readdir(place, { withFileTypes: true }).catch(ignoreMissing)) ?? [];
    const names: string[] = [];
    for (const entry of entries) {
      if (entry.isDirectory() && (await whole(join(place, entry.name))).length > 0) names.push(entry.name);
    }
    return names;
  }

  /** Does something with a place that somebody else may remove at any moment. */
  async function atPlace<T>(place: string, action: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      await makeFolders(root, place);
      try {
        return await action();
      } catch (thrown) {
        if (codeOf(thrown) !== 'ENOENT' || attempt === 10) throw thrown;
      }
    }
  }

  return {
    save: (key, content, mimeType) =>
      wrapStorageErrors(async () => {
        const place = folderOf(key);
        const { path, size } = await receive(content);
        try {
          const version = await atPlace(place, async () => {
            let number = await nextVersion(place);
            for (let attempt = 0; !(await publish(path, place, number, mimeType)); attempt++) {
              if (attempt === maxAttempts) throw new A2AError('CONFLICT', 'Too many save the same file');
              number++;
            }
            return number;
          });
          return { version, size };
        } finally {
          await rm(path, { force: true });
        }
      }),
    saveAs: (key, version, content, mimeType) =>
      wrapStorageErrors(async () => {
        checkVersion(version);
        const place = folderOf(key);
        const { path } = await receive(content);
        try {
          return await atPlace(place, () => publish(path, place, version, mimeType));
        } finally {
          await rm(path, { force: true });
        }
      }),
    load: (key, wanted) =>
      wrapStorageErrors(async () => {
        const place = folderOf(key);
        const version = wanted ?? (await whole(place)).at(-1);
        return version === undefined ? undefined : await found(place, version);
      }),
    versions: (key) => wrapStorageErrors(async () => await whole(folderOf(key))),
    list: (scope) =>
      wrapStorageErrors(async () => {
        const { app, user, session, shared } = userFolders(scope);
        const place = userFolder(root, app, user);
        const everywhere = await namesIn(join(place, shared));
        const own = await namesIn(join(place, session));
        return [...own, ...everywhere.map((name) => sharedPrefix + name)].sort();
      }),
    delete: (key) =>
      wrapStorageErrors(async () => {
        const place = folderOf(key);
        await opened();
        const aside = join(spool, randomUUID());
        // Out of sight at once, however long it takes to remove.
        const isThere = await rename(place, aside).then(() => true, ignoreMissing);
        if (!isThere) return;
        await syncFolder(dirname(place));
        await utimes(aside, new Date(), new Date());
        await rm(aside, { recursive: true, force: true });
      }),
  };
}

/** The folder of an application is the end of its name, which is nothing for a namespace that ends with a slash. */
function userFolder(root: string, app: string, user: string): string {
  const name = basename(app);
  if (['.', '..', incoming].includes(name) || name.includes('\\'))
    throw invalidField('artifact.app', 'must not be a path');
  if (user === incoming) throw invalidField('artifact.user', 'must be another name');
  return join(root, name, user);
}

async function found(place: string, version: number): Promise<StoredArtifact | undefined> {
  const path = join(place, String(version));
  const facts = await stat(path).catch(ignoreMissing);
  const meta = await readFile(`${path}.meta`, 'utf8').catch(ignoreMissing);
  if (!facts?.isFile() || meta === undefined) return undefined;
  return {
    version,
    mimeType: mimeTypeIn(meta),
    size: facts.size,
    async bytes() {
      const bytes = await wrapStorageErrors(() => readFile(path).catch(ignoreMissing));
      if (!bytes) throw missingVersionError();
      return bytes;
    },
    async *stream() {
      try {
        for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 }))
          yield piece as Buffer;
      } catch (thrown) {
        throw codeOf(thrown) === 'ENOENT' ? missingVersionError() : storageError(thrown);
      }
    },
  };
}

function mimeTypeIn(meta: string): string {
  try {
    const { mime_type } = JSON.parse(meta) as { mime_type?: unknown };
    if (typeof mime_type === 'string') return mime_type;
  } catch {
    // Bytes of an unknown kind are still bytes.
  }
  return 'application/octet-stream';
}

/** Makes folders one after the other, so that each is known to survive a crash. */
async function makeFolders(root: string, place: string): Promise<void> {
  const first = await mkdir(place, { recursive: true });
  if (first === undefined) return;
  for (let folder = place; folder.length >= first.length && folder !== root; folder = dirname(folder)) {
    await syncFolder(dirname(folder));
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows has no such thing for folders.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts a file in its place, unless there is one. */
async function linkOrRename(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (thrown) {
    // Not every file system has links; the claim keeps others away there.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EXDEV'].includes(codeOf(thrown) ?? '')) throw thrown;
    await rename(from, to);
  }
}

function codeOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException | undefined)?.code;
}

function ignoreMissing(thrown: unknown): undefined {
  if (!['ENOENT', 'ENOTDIR'].includes(codeOf(thrown) ?? '')) throw thrown;
}

function ignoreTaken(thrown: unknown): undefined {
  if (codeOf(thrown) !== 'EEXIST') throw thrown;
}
