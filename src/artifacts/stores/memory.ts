import { compositeKey } from '../../primitives/composite-key.ts';
import { checkVersion, defaultMaxBytes, readChunks } from './content.ts';
import { userFolders, storagePath, sharedPrefix } from './storage-path.ts';
import type { ArtifactContent, ArtifactKey, ArtifactStore, StoredArtifact } from '../artifact-store.ts';

/** Options of {@link memoryArtifactStore}. */
export interface MemoryArtifactStoreOptions {
  /** Maximum size of a version, in bytes. @defaultValue 100 MiB */
  readonly maxBytes?: number;
  /** Maximum total size; the oldest versions are evicted. @defaultValue 256 MiB */
  readonly maxTotalBytes?: number;
  /** Maximum number of versions; the oldest are evicted. @defaultValue 10,000 */
  readonly maxVersions?: number;
}

/** Allocation unit, in bytes. */
const blockSize = 64 * 1024;

interface Version {
  readonly number: number;
  readonly blocks: readonly Uint8Array[];
  readonly size: number;
  readonly mimeType: string;
}

/** Versions by number, in insertion order. */
interface File {
  readonly folder: Folder;
  readonly name: string;
  readonly versions: Map<number, Version>;
  next: number;
}

/** Files by name. */
interface Folder {
  readonly id: string;
  readonly files: Map<string, File>;
}

/** Stores files in memory. They are lost on restart, and the oldest are evicted beyond the limits. */
export function memoryArtifactStore(options: MemoryArtifactStoreOptions = {}): ArtifactStore {
  const { maxBytes = defaultMaxBytes, maxTotalBytes = 256 * 1024 * 1024, maxVersions = 10_000 } = options;
  const folders = new Map<string, Folder>();
  /** All versions, oldest first. */
  const byAge = new Map<Version, File>();
  let total = 0;

  function find(key: ArtifactKey): File | undefined {
    const { app, user, folder, name } = storagePath(key);
    return folders.get(compositeKey(app, user, folder))?.files.get(name);
  }

  function findOrCreate(key: ArtifactKey): File {
    const path = storagePath(key);
    const id = compositeKey(path.app, path.user, path.folder);
    const folder = folders.get(id) ?? { id, files: new Map() };
    folders.set(id, folder);
    const file = folder.files.get(path.name) ?? { folder, name: path.name, versions: new Map(), next: 0 };
    folder.files.set(path.name, file);
    return file;
  }

  function remove(version: Version, file: File): void {
    byAge.delete(version);
    total -= version.size;
    file.versions.delete(version.number);
    if (file.versions.size > 0) return;
    file.folder.files.delete(file.name);
    if (file.folder.files.size === 0) folders.delete(file.folder.id);
  }

  function add(file: File, version: Version): void {
    file.versions.set(version.number, version);
    file.next = Math.max(file.next, version.number + 1);
    byAge.set(version, file);
    total += version.size;
    for (const [oldest, oldestFile] of byAge) {
      if ((total <= maxTotalBytes && byAge.size <= maxVersions) || oldest === version) break;
      remove(oldest, oldestFile);
    }
  }

  /** Copies chunks, which are valid only until the next one, into blocks, because chunks may be tiny. */
  async function readBlocks(content: ArtifactContent): Promise<Pick<Version, 'blocks' | 'size'>> {
    const blocks: Uint8Array[] = [];
    let block = new Uint8Array();
    let room = 0;
    let size = 0;
    for await (const chunk of readChunks(content, Math.min(maxBytes, maxTotalBytes))) {
      size += chunk.byteLength;
      for (let at = 0; at < chunk.byteLength; ) {
        if (room === 0) {
          block = new Uint8Array(blockSize);
          room = blockSize;
          blocks.push(block);
        }
        const slice = chunk.subarray(at, at + room);
        block.set(slice, blockSize - room);
        room -= slice.byteLength;
        at += slice.byteLength;
      }
    }
    // Trims the last block.
    if (room > 0) blocks[blocks.length - 1] = block.slice(0, blockSize - room);
    return { blocks, size };
  }

  return {
    async save(key, content, mimeType) {
      storagePath(key);
      const stored = await readBlocks(content);
      const file = findOrCreate(key);
      const number = file.next;
      add(file, { number, ...stored, mimeType });
      return { version: number, size: stored.size };
    },
    async saveAs(key, number, content, mimeType) {
      checkVersion(number);
      storagePath(key);
      const stored = await readBlocks(content);
      const file = findOrCreate(key);
      if (file.versions.has(number)) return false;
      add(file, { number, ...stored, mimeType });
      return true;
    },
    async load(key, number) {
      const file = find(key);
      const version = file?.versions.get(number ?? Math.max(...file.versions.keys()));
      return version && toStoredArtifact(version);
    },
    async versions(key) {
      return [...(find(key)?.versions.keys() ?? [])].sort((a, b) => a - b);
    },
    async list(scope) {
      const { app, user, session, shared } = userFolders(scope);
      const own = folders.get(compositeKey(app, user, session))?.files.keys() ?? [];
      const userFiles = folders.get(compositeKey(app, user, shared))?.files.keys() ?? [];
      return [...own, ...Array.from(userFiles, (name) => sharedPrefix + name)].sort();
    },
    async delete(key) {
      const file = find(key);
      if (file) for (const version of file.versions.values()) remove(version, file);
    },
  };
}

function toStoredArtifact({ number, blocks, size, mimeType }: Version): StoredArtifact {
  return {
    version: number,
    mimeType,
    size,
    bytes: async () => Buffer.concat(blocks),
    async *stream() {
      for (const block of blocks) yield block.slice();
    },
  };
}
