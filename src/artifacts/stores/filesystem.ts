import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createFolder } from '../../primitives/node/create-folder.ts';
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

/** Options of {@link filesystemArtifactStore}. */
export interface FilesystemArtifactStoreOptions {
  /** Maximum size of a version, in bytes. @defaultValue 100 MiB */
  readonly maxBytes?: number;
  /** Age in milliseconds after which leftovers of a crash are removed. @defaultValue one hour */
  readonly sweepAfter?: number;
  readonly clock?: { now(): number };
}

/** Directory of incomplete files. Applications must not have this name. */
const incoming = '.incoming';

/** Maximum number of version conflicts of one save. */
const maxAttempts = 10_000;

/**
 * Stores files in a directory as `app/user/session/filename/version`, each with a `version.meta`. Several processes may
 * use the same directory.
 *
 * A writer claims a version by exclusive creation of its `.meta`, then links the complete content. Readers require both
 * files, so they never see partial content.
 */
export function filesystemArtifactStore(
  folder: string,
  options: FilesystemArtifactStoreOptions = {},
): ArtifactStore {
  const { maxBytes = defaultMaxBytes, sweepAfter = 3_600_000, clock = Date } = options;
  const root = resolve(folder);
  const spool = join(root, incoming);
  let opening: Promise<void> | undefined;

  const fileDirectory = (key: ArtifactKey): string => {
    const { app, user, folder: session, name } = storagePath(key);
    return join(userFolder(root, app, user), session, name);
  };

  const isOld = async (path: string): Promise<boolean> => {
    const loadVersion = await stat(path).catch(ignoreMissing);
    return loadVersion !== undefined && clock.now() - loadVersion.mtimeMs > sweepAfter;
  };

  /** Creates the spool directory once and removes leftovers of a crash. */
  function prepare(): Promise<void> {
    opening ??= (async () => {
      createFolder(spool);
      for (const name of await readdir(spool)) {
        const path = join(spool, name);
        if (await isOld(path)) await rm(path, { recursive: true, force: true });
      }
    })();
    // Tries again on the next call, because the directory may become available.
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  }

  /** Writes content to the spool directory. */
  async function receive(content: ArtifactContent): Promise<{ path: string; size: number }> {
    await prepare();
    const path = join(spool, randomUUID());
    let size = 0;
    try {
      const file = await open(path, 'wx', 0o640);
      try {
        for await (const chunk of readChunks(content, maxBytes)) {
          await file.writeFile(chunk);
          size += chunk.byteLength;
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

  /** Publishes a spooled file as a version. @returns false if the version exists */
  async function publish(
    path: string,
    directory: string,
    version: number,
    mimeType: string,
  ): Promise<boolean> {
    const meta = join(directory, `${version}.meta`);
    const claim = await open(meta, 'wx', 0o640).catch(ignoreExisting);
    if (!claim) return false;
    try {
      await claim.writeFile(JSON.stringify({ mime_type: mimeType }));
      await claim.sync();
    } finally {
      await claim.close();
    }
    try {
      await linkOrRename(path, join(directory, String(version)));
    } catch (thrown) {
      await rm(meta, { force: true });
      if (errorCode(thrown) === 'EEXIST') return false;
      throw thrown;
    }
    await syncFolder(directory);
    return true;
  }

  /** Returns the next version and removes old claims without content, which a crash left. */
  async function nextVersion(directory: string): Promise<number> {
    const names = new Set(await readdir(directory));
    let next = 0;
    for (const name of names) {
      const [, digits] = /^(\d+)(?:\.meta)?$/.exec(name) ?? [];
      if (digits === undefined) continue;
      const isOrphan = name !== digits && !names.has(digits);
      if (isOrphan && (await isOld(join(directory, name)))) await rm(join(directory, name), { force: true });
      else next = Math.max(next, Number(digits) + 1);
    }
    return next;
  }

  async function completeVersions(directory: string): Promise<number[]> {
    const names = new Set((await readdir(directory).catch(ignoreMissing)) ?? []);
    return [...names]
      .filter((name) => /^\d+$/.test(name) && names.has(`${name}.meta`))
      .map(Number)
      .sort((a, b) => a - b);
  }

  async function listNames(directory: string): Promise<string[]> {
    const entries = (await readdir(directory, { withFileTypes: true }).catch(ignoreMissing)) ?? [];
    const names: string[] = [];
    for (const entry of entries) {
      if (entry.isDirectory() && (await completeVersions(join(directory, entry.name))).length > 0)
        names.push(entry.name);
    }
    return names;
  }

  /** Retries if a concurrent delete removes the directory. */
  async function inDirectory<T>(directory: string, action: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      await makeFolders(root, directory);
      try {
        return await action();
      } catch (thrown) {
        if (errorCode(thrown) !== 'ENOENT' || attempt === 10) throw thrown;
      }
    }
  }

  return {
    save: (key, content, mimeType) =>
      wrapStorageErrors(async () => {
        const directory = fileDirectory(key);
        const { path, size } = await receive(content);
        try {
          const version = await inDirectory(directory, async () => {
            let number = await nextVersion(directory);
            for (let attempt = 0; !(await publish(path, directory, number, mimeType)); attempt++) {
              if (attempt === maxAttempts)
                throw new A2AError('CONFLICT', 'Too many concurrent saves of the same file');
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
        const directory = fileDirectory(key);
        const { path } = await receive(content);
        try {
          return await inDirectory(directory, () => publish(path, directory, version, mimeType));
        } finally {
          await rm(path, { force: true });
        }
      }),
    load: (key, requested) =>
      wrapStorageErrors(async () => {
        const directory = fileDirectory(key);
        const version = requested ?? (await completeVersions(directory)).at(-1);
        return version === undefined ? undefined : await loadVersion(directory, version);
      }),
    versions: (key) => wrapStorageErrors(async () => await completeVersions(fileDirectory(key))),
    list: (scope) =>
      wrapStorageErrors(async () => {
        const { app, user, session, shared } = userFolders(scope);
        const directory = userFolder(root, app, user);
        const userFiles = await listNames(join(directory, shared));
        const own = await listNames(join(directory, session));
        return [...own, ...userFiles.map((name) => sharedPrefix + name)].sort();
      }),
    delete: (key) =>
      wrapStorageErrors(async () => {
        const directory = fileDirectory(key);
        await prepare();
        const trash = join(spool, randomUUID());
        // The rename is atomic, so readers never see a partially deleted file.
        const exists = await rename(directory, trash).then(() => true, ignoreMissing);
        if (!exists) return;
        await syncFolder(dirname(directory));
        await utimes(trash, new Date(), new Date());
        await rm(trash, { recursive: true, force: true });
      }),
  };
}

/** Uses the last segment of the application name, which is empty for a namespace that ends with a slash. */
function userFolder(root: string, app: string, user: string): string {
  const name = basename(app);
  if (['.', '..', incoming].includes(name) || name.includes('\\'))
    throw invalidField('artifact.app', 'must not be a path');
  if (user === incoming) throw invalidField('artifact.user', `must not be "${incoming}"`);
  return join(root, name, user);
}

async function loadVersion(directory: string, version: number): Promise<StoredArtifact | undefined> {
  const path = join(directory, String(version));
  const stats = await stat(path).catch(ignoreMissing);
  const meta = await readFile(`${path}.meta`, 'utf8').catch(ignoreMissing);
  if (!stats?.isFile() || meta === undefined) return undefined;
  return {
    version,
    mimeType: parseMimeType(meta),
    size: stats.size,
    async bytes() {
      const bytes = await wrapStorageErrors(() => readFile(path).catch(ignoreMissing));
      if (!bytes) throw missingVersionError();
      return bytes;
    },
    async *stream() {
      try {
        for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }))
          yield chunk as Buffer;
      } catch (thrown) {
        throw errorCode(thrown) === 'ENOENT' ? missingVersionError() : storageError(thrown);
      }
    },
  };
}

function parseMimeType(meta: string): string {
  try {
    const { mime_type } = JSON.parse(meta) as { mime_type?: unknown };
    if (typeof mime_type === 'string') return mime_type;
  } catch {
    // Invalid metadata does not make the content unreadable.
  }
  return 'application/octet-stream';
}

/** Creates directories and syncs each parent, so that they survive a crash. */
async function makeFolders(root: string, directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  for (let folder = directory; folder.length >= first.length && folder !== root; folder = dirname(folder)) {
    await syncFolder(dirname(folder));
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows cannot sync directories.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Moves a file without replacing an existing one. */
async function linkOrRename(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (thrown) {
    // File systems without hard links: the claim prevents concurrent writers.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EXDEV'].includes(errorCode(thrown) ?? '')) throw thrown;
    await rename(from, to);
  }
}

function errorCode(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException | undefined)?.code;
}

function ignoreMissing(thrown: unknown): undefined {
  if (!['ENOENT', 'ENOTDIR'].includes(errorCode(thrown) ?? '')) throw thrown;
}

function ignoreExisting(thrown: unknown): undefined {
  if (errorCode(thrown) !== 'EEXIST') throw thrown;
}
