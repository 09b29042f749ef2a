import { checkVersion, defaultMaxBytes, readChunks } from './content.ts';
import { userFolders, storagePath, sharedPrefix } from './storage-path.ts';
import type { ArtifactContent, ArtifactKey, ArtifactStore, StoredArtifact } from '../artifact-store.ts';

/** How much {@link memoryArtifactStore} keeps. */
export interface MemoryArtifactStoreOptions {
  /** How large one version may be. @defaultValue 100 MiB */
  readonly maxBytes?: number;
  /** How many bytes there may be of all versions; the oldest versions give way. @defaultValue 256 MiB */
  readonly maxTotalBytes?: number;
  /** How many versions there may be; the oldest give way. @defaultValue 10,000 */
  readonly maxVersions?: number;
}

/** How much memory is taken at once. */
const blockSize = 64 * 1024;

interface Version {
  readonly number: number;
  readonly blocks: readonly Uint8Array[];
  readonly size: number;
  readonly mimeType: string;
}

/** The versions of a file by number, in the order in which they came. */
interface File {
  readonly shelf: Shelf;
  readonly name: string;
  readonly versions: Map<number, Version>;
  next: number;
}

/** The files of one folder by name. */
interface Shelf {
  readonly id: string;
  readonly files: Map<string, File>;
}

/** Keeps files in memory, for as long as the process lives and there is room. */
export function memoryArtifactStore(options: MemoryArtifactStoreOptions = {}): ArtifactStore {
  const { maxBytes = defaultMaxBytes, maxTotalBytes = 256 * 1024 * 1024, maxVersions = 10_000 } = options;
  const shelves = new Map<string, Shelf>();
  /** Every version there is, oldest first. */
  const age = new Map<Version, File>();
  let total = 0;

  const idOf = (...folders: string[]): string => JSON.stringify(folders);

  function find(key: ArtifactKey): File | undefined {
    const { app, user, folder, name } = storagePath(key);
    return shelves.get(idOf(app, user, folder))?.files.get(name);
  }

  function make(key: ArtifactKey): File {
    const { app, user, folder, name } = storagePath(key);
    const id = idOf(app, user, folder);
    const shelf = shelves.get(id) ?? { id, files: new Map() };
    shelves.set(id, shelf);
    const file = shelf.files.get(name) ?? { shelf, name, versions: new Map(), next: 0 };
    shelf.files.set(name, file);
    return file;
  }

  function remove(version: Version, file: File): void {
    age.delete(version);
    total -= version.size;
    file.versions.delete(version.number);
    if (file.versions.size > 0) return;
    file.shelf.files.delete(file.name);
    if (file.shelf.files.size === 0) shelves.delete(file.shelf.id);
  }

  function add(file: File, version: Version): void {
    file.versions.set(version.number, version);
    file.next = Math.max(file.next, version.number + 1);
    age.set(version, file);
    total += version.size;
    for (const [oldest, its] of age) {
      if ((total <= maxTotalBytes && age.size <= maxVersions) || oldest === version) break;
      remove(oldest, its);
    }
  }

  /** Copies content, because a piece is not ours, into blocks of a good size, because pieces may be tiny. */
  async function gather(content: ArtifactContent): Promise<Pick<Version, 'blocks' | 'size'>> {
    const blocks: Uint8Array[] = [];
    let block = new Uint8Array();
    let room = 0;
    let size = 0;
    for await (const piece of readChunks(content, Math.min(maxBytes, maxTotalBytes))) {
      size += piece.byteLength;
      for (let at = 0; at < piece.byteLength; ) {
        if (room === 0) {
          block = new Uint8Array(blockSize);
          room = blockSize;
          blocks.push(block);
        }
        const taken = piece.subarray(at, at + room);
        block.set(taken, blockSize - room);
        room -= taken.byteLength;
        at += taken.byteLength;
      }
    }
    // The last block is as large as what is in it.
    if (room > 0) blocks[blocks.length - 1] = block.slice(0, blockSize - room);
    return { blocks, size };
  }

  return {
    async save(key, content, mimeType) {
      storagePath(key);
      const gathered = await gather(content);
      const file = make(key);
      const number = file.next;
      add(file, { number, ...gathered, mimeType });
      return { version: number, size: gathered.size };
    },
    async saveAs(key, number, content, mimeType) {
      checkVersion(number);
      storagePath(key);
      const gathered = await gather(content);
      const file = make(key);
      if (file.versions.has(number)) return false;
      add(file, { number, ...gathered, mimeType });
      return true;
    },
    async load(key, number) {
      const file = find(key);
      const version = file?.versions.get(number ?? Math.max(...file.versions.keys()));
      return version && show(version);
    },
    async versions(key) {
      return [...(find(key)?.versions.keys() ?? [])].sort((a, b) => a - b);
    },
    async list(scope) {
      const { app, user, session, shared } = userFolders(scope);
      const own = shelves.get(idOf(app, user, session))?.files.keys() ?? [];
      const everywhere = shelves.get(idOf(app, user, shared))?.files.keys() ?? [];
      return [...own, ...Array.from(everywhere, (name) => sharedPrefix + name)].sort();
    },
    async delete(key) {
      const file = find(key);
      if (file) for (const version of file.versions.values()) remove(version, file);
    },
  };
}

function show({ number, blocks, size, mimeType }: Version): StoredArtifact {
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
