import { randomUUID } from 'node:crypto';
import { base64DecodedSize } from '../../../artifacts/stores/base64.ts';
import type { ArtifactStore } from '../../../artifacts/artifact-store.ts';
import { readArtifactUri } from '../../../artifacts/artifact-uri.ts';
import type { ActionFile } from '../../action-types.ts';

/** Limits of the files that are served as MCP resources. */
export interface ResourceLimits {
  /** Number of files; the oldest is evicted. @defaultValue 200 */
  maxResources?: number;
  /** Maximum size of a file, in bytes. @defaultValue 8 MiB */
  maxResourceBytes?: number;
  /** Total size of the cached files, in bytes of base64; files in an artifact store do not count. @defaultValue 64 MiB */
  maxCacheBytes?: number;
}

/** A file that is served as an MCP resource. */
export interface CachedResource {
  readonly uri: string;
  readonly name: string;
  readonly mediaType: string;
  readonly size: number | undefined;
  /** Content as base64; undefined if the file is in an artifact store. */
  readonly bytes: string | undefined;
}

/** Reason why a resource cannot be read. */
export type ResourceMissReason = 'unknown' | 'gone' | 'too-large';

/** Cache of the files that agents created for one client. Evicts the oldest files first. */
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

  /** Prefix of URIs that only this cache can resolve. */
  readonly scheme = 'dragoman://files/';

  get maxResourceBytes(): number {
    return this.#limits.maxResourceBytes;
  }

  get files(): readonly CachedResource[] {
    return [...this.#files.values()];
  }

  /** Adds a file. @returns undefined if it is too large or not readable from here. */
  add({ name, mediaType, uri, bytes, size }: ActionFile): CachedResource | undefined {
    const length = size ?? (bytes === undefined ? undefined : base64DecodedSize(bytes));
    if (length !== undefined && length > this.#limits.maxResourceBytes) return undefined;
    let file: CachedResource;
    if (bytes !== undefined) {
      const cacheUri = `${this.scheme}${randomUUID()}/${encodeURIComponent(Buffer.from(name).toString())}`;
      file = { uri: cacheUri, name, mediaType, size: length, bytes };
    } else if (uri !== undefined && this.#store && readArtifactUri(uri)) {
      file = { uri, name, mediaType, size: length, bytes: undefined };
    } else return undefined;
    this.#delete(file.uri);
    this.#files.set(file.uri, file);
    this.#bytes += file.bytes?.length ?? 0;
    this.#evict();
    return file;
  }

  /** Reads a cached file. Files of the store that were not returned to this client are `unknown`. */
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

  #evict(): void {
    const { maxResources, maxCacheBytes } = this.#limits;
    for (const uri of this.#files.keys()) {
      if (this.#files.size <= maxResources && this.#bytes <= maxCacheBytes) return;
      this.#delete(uri);
    }
  }

  #delete(uri: string): void {
    this.#bytes -= this.#files.get(uri)?.bytes?.length ?? 0;
    this.#files.delete(uri);
  }
}
