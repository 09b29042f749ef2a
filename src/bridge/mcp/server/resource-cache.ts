import { randomUUID } from 'node:crypto';
import { base64DecodedSize } from '../../../artifacts/stores/base64.ts';
import type { ArtifactStore } from '../../../artifacts/artifact-store.ts';
import { readArtifactUri } from '../../../artifacts/artifact-uri.ts';
import type { ActionFile } from '../../action-types.ts';

/** How much of what agents made is kept for readers of resources. */
export interface ResourceLimits {
  /** Files; the oldest is forgotten first. @defaultValue 200 */
  maxResources?: number;
  /** Bytes of one file. @defaultValue 8 MiB */
  maxResourceBytes?: number;
  /** Bytes of all files that are kept here; those in a store do not count. @defaultValue 64 MiB */
  maxCacheBytes?: number;
}

/** A file that can be read as a resource. */
export interface CachedResource {
  readonly uri: string;
  readonly name: string;
  readonly mediaType: string;
  readonly size: number | undefined;
  /** The content as base64; what is in a store has none here. */
  readonly bytes: string | undefined;
}

/** Why a file cannot be had. */
export type ResourceMissReason = 'unknown' | 'gone' | 'too-large';

/** The files that agents made for one client, until newer ones need their place. */
export class ResourceCache {
  readonly #files = new Map<string, CachedResource>();
  readonly #limits: Required<ResourceLimits>;
  readonly #store: ArtifactStore | undefined;
  #bytes = 0;

  constructor(limits: ResourceLimits = {}, store?: ArtifactStore) {
    this.#limits = {
      maxResources: limits.maxResources ?? 200,
      maxResourceBytes: limits.maxResourceBytes ?? 8 * 1_024 * 1_024,
      maxCacheBytes: limits.maxCacheBytes ?? 64 * 1_024 * 1_024,
    };
    this.#store = store;
  }

  /** What addresses begin with that lead nowhere but to a shelf. */
  readonly scheme = 'dragoman://files/';

  /** The bytes that one file may have. */
  get maxResourceBytes(): number {
    return this.#limits.maxResourceBytes;
  }

  get files(): readonly CachedResource[] {
    return [...this.#files.values()];
  }

  /** Takes a file in. @returns undefined when it is too large, or is nowhere that this shelf can read from. */
  add({ name, mediaType, uri, bytes, size }: ActionFile): CachedResource | undefined {
    const length = size ?? (bytes === undefined ? undefined : base64DecodedSize(bytes));
    if (length !== undefined && length > this.#limits.maxResourceBytes) return undefined;
    let file: CachedResource;
    if (bytes !== undefined) {
      const address = `${this.scheme}${randomUUID()}/${encodeURIComponent(Buffer.from(name).toString())}`;
      file = { uri: address, name, mediaType, size: length, bytes };
    } else if (uri !== undefined && this.#store && readArtifactUri(uri)) {
      file = { uri, name, mediaType, size: length, bytes: undefined };
    } else return undefined;
    this.#forget(file.uri);
    this.#files.set(file.uri, file);
    this.#bytes += file.bytes?.length ?? 0;
    this.#makeRoom();
    return file;
  }

  /** Reads a file that was taken in here. What is in the store but was never given to this client is unknown. */
  async read(uri: string): Promise<(CachedResource & { readonly bytes: string }) | ResourceMissReason> {
    const file = this.#files.get(uri);
    if (!file) return 'unknown';
    if (file.bytes !== undefined) return { ...file, bytes: file.bytes };
    const key = readArtifactUri(uri);
    const stored = key && (await this.#store?.load(key, key.version));
    if (!stored) return 'gone';
    if (stored.size > this.#limits.maxResourceBytes) return 'too-large';
    const bytes = Buffer.from(await stored.bytes()).toString('base64');
    return { ...file, mediaType: stored.mimeType, size: stored.size, bytes };
  }

  #makeRoom(): void {
    const { maxResources, maxCacheBytes: maxShelfBytes } = this.#limits;
    for (const uri of this.#files.keys()) {
      if (this.#files.size <= maxResources && this.#bytes <= maxShelfBytes) return;
      this.#forget(uri);
    }
  }

  #forget(uri: string): void {
    this.#bytes -= this.#files.get(uri)?.bytes?.length ?? 0;
    this.#files.delete(uri);
  }
}
