import { createHash } from 'node:crypto';
import { A2AError } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import type { Metadata, RawPart, UrlPart } from '../../protocol/part.ts';
import { decodeBase64Chunks, base64DecodedSize } from '../stores/base64.ts';
import { extensionFor, mediaTypeFor } from '../media-types.ts';
import { saveWithMetadata } from '../artifact-metadata.ts';
import { safeFilename } from '../stores/storage-path.ts';
import type { ArtifactStore } from '../artifact-store.ts';
import { writeArtifactUri } from '../artifact-uri.ts';

/** Bytes that are about to become a file. */
export interface ByteSource {
  readonly size: number;
  stream(): AsyncIterable<Uint8Array>;
}

/** The bytes of raw parts, one after the other. */
export function rawPartSource(parts: readonly RawPart[]): ByteSource {
  const raws = parts.map(({ raw }) => raw);
  return {
    size: raws.reduce((size, raw) => size + base64DecodedSize(raw), 0),
    stream: () => decodeBase64Chunks(raws),
  };
}

/** What tells bytes from others. */
export async function contentDigest(source: ByteSource): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of source.stream()) hash.update(piece);
  return hash.digest('hex');
}

/** A file that a store has. */
export interface PublishedFile {
  readonly filename: string;
  readonly version: number;
  readonly size: number;
  readonly digest: string;
  readonly part: UrlPart;
}

/** What became of the pieces of one artifact: how many raw parts in a row are which file. */
export interface PartLayout {
  readonly pieces: number;
  readonly file: PublishedFile;
}

/** The files of one task, so that what is seen again is not saved again. */
export class TaskFiles {
  /** What the agent made, in order. */
  readonly produced: { filename: string; version: number }[] = [];
  readonly #layouts = new Map<string, readonly PartLayout[]>();
  readonly #files: PublishedFile[] = [];
  #last: Promise<unknown> = Promise.resolve();

  get count(): number {
    return this.#files.length;
  }

  /** The files of that name and size. */
  candidates(filename: string, size: number): PublishedFile[] {
    return this.#files.filter((file) => file.filename === filename && file.size === size);
  }

  /** The files of an artifact that was whole. */
  layoutOf(artifactId: string): readonly PartLayout[] {
    return this.#layouts.get(artifactId) ?? [];
  }

  /** Notes which parts of an artifact are which file, for as many artifacts as there are files. */
  setLayout(artifactId: string, layouts: readonly PartLayout[]): void {
    this.#layouts.delete(artifactId);
    this.#layouts.set(artifactId, layouts);
    if (this.#layouts.size <= this.#files.length) return;
    for (const oldest of this.#layouts.keys()) {
      this.#layouts.delete(oldest);
      return;
    }
  }

  add(file: PublishedFile, isProduced: boolean): void {
    this.#files.push(file);
    if (isProduced) this.produced.push({ filename: file.filename, version: file.version });
  }

  /** Does one thing after the other: two streams of a task see the same file at the same moment. */
  async inTurn<T>(action: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(action);
    this.#last = mine.catch(() => {});
    return await mine;
  }
}

/** What is said of a file. */
export interface FileLabels {
  readonly filename: string | undefined;
  readonly mediaType: string | undefined;
  /** What the file is called when it has no name, without an extension. */
  readonly fallback: string;
  readonly description: string;
  readonly metadata?: Metadata;
  /** The artifact that it was part of. */
  readonly artifactId?: string;
  /** False for what the caller brought. */
  readonly isProduced: boolean;
}

/** Whose files they are, by the names of the folders. */
export interface FileScope {
  /** The application in the store. */
  readonly app: string;
  readonly user: string;
  readonly session: string;
}

/** Saves files and gives links to them. */
export class FilePublisher {
  readonly #store: ArtifactStore;
  readonly #alias: string;
  readonly #now: () => number;
  readonly #log: LogSink | undefined;
  readonly #maxFiles: number;

  constructor(
    store: ArtifactStore,
    alias: string,
    maxFiles: number,
    now: () => number,
    log: LogSink | undefined,
  ) {
    this.#store = store;
    this.#alias = alias;
    this.#maxFiles = maxFiles;
    this.#now = now;
    this.#log = log;
  }

  /** Saves a file, unless the task has it already, and gives the link to it. */
  publish(
    source: ByteSource,
    labels: FileLabels,
    shelf: FileScope,
    files: TaskFiles,
  ): Promise<PublishedFile> {
    return files.inTurn(() => this.#publish(source, labels, shelf, files));
  }

  /** Finds a file that the task has already. */
  async find(source: ByteSource, labels: FileLabels, files: TaskFiles): Promise<PublishedFile | undefined> {
    const candidates = files.candidates(filenameOf(labels), source.size);
    if (candidates.length === 0) return undefined;
    const digest = await contentDigest(source);
    return candidates.find((file) => file.digest === digest);
  }

  async #publish(
    source: ByteSource,
    labels: FileLabels,
    shelf: FileScope,
    files: TaskFiles,
  ): Promise<PublishedFile> {
    const known = await this.find(source, labels, files);
    if (known) return known;
    const filename = filenameOf(labels);
    if (files.count >= this.#maxFiles) {
      throw new A2AError(
        'INVALID_AGENT_RESPONSE',
        `The agent made more than ${this.#maxFiles} files in one task`,
      );
    }
    const hash = createHash('sha256');
    const mimeType = labels.mediaType ?? mediaTypeFor(filename);
    const saved = await saveWithMetadata(
      this.#store,
      { ...shelf, filename },
      hashed(source, hash),
      {
        mimeType,
        description: labels.description,
        ...(labels.artifactId !== undefined && { source: { proxied_from_artifact_id: labels.artifactId } }),
      },
      this.#now,
    );
    if (saved.error) {
      this.#log?.({
        level: 'warn',
        message: `The metadata of ${filename} could not be saved`,
        error: saved.error,
      });
    }
    const { version, size } = saved;
    const url = writeArtifactUri({ ...shelf, app: this.#alias, filename, version });
    const part: UrlPart = { url, filename, mediaType: mimeType };
    if (labels.metadata) part.metadata = labels.metadata;
    const file = { filename, version, size, digest: hash.digest('hex'), part };
    files.add(file, labels.isProduced);
    return file;
  }
}

function filenameOf({ filename, fallback, mediaType }: FileLabels): string {
  return safeFilename(filename, `${fallback}.${extensionFor(mediaType)}`);
}

async function* hashed(
  source: ByteSource,
  hash: { update(piece: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const piece of source.stream()) {
    hash.update(piece);
    yield piece;
  }
}
