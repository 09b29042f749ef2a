import { createHash } from 'node:crypto';
import { A2AError } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import type { Metadata, RawPart, UrlPart } from '../../protocol/part.ts';
import { decodeBase64Chunks, base64DecodedSize } from '../stores/base64.ts';
import { extensionFor, mediaTypeFor } from '../media-types.ts';
import { saveWithMetadata } from '../artifact-metadata.ts';
import { safeFilename } from '../stores/storage-path.ts';
import type { ArtifactKey, ArtifactStore } from '../artifact-store.ts';
import { writeArtifactUri } from '../artifact-uri.ts';

/** Content of a file to store. */
export interface ByteSource {
  readonly size: number;
  stream(): AsyncIterable<Uint8Array>;
}

/** Returns the concatenated bytes of raw parts. */
export function rawPartSource(parts: readonly RawPart[]): ByteSource {
  const raws = parts.map(({ raw }) => raw);
  return {
    size: raws.reduce((size, raw) => size + base64DecodedSize(raw), 0),
    stream: () => decodeBase64Chunks(raws),
  };
}

/** Returns the SHA-256 digest of the content. */
export async function contentDigest(source: ByteSource): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source.stream()) hash.update(chunk);
  return hash.digest('hex');
}

/** A stored file and its link. */
export interface PublishedFile {
  readonly filename: string;
  readonly version: number;
  readonly size: number;
  readonly digest: string;
  readonly part: UrlPart;
}

/** Number of consecutive raw parts of an artifact that form one file. */
export interface PartLayout {
  readonly chunks: number;
  readonly file: PublishedFile;
}

/** Files of one task. Deduplicates files that appear in several responses. */
export class TaskFiles {
  /** Files that the agent produced, in order. */
  readonly produced: { filename: string; version: number }[] = [];
  readonly #layouts = new Map<string, readonly PartLayout[]>();
  readonly #files: PublishedFile[] = [];
  #last: Promise<unknown> = Promise.resolve();

  get count(): number {
    return this.#files.length;
  }

  /** Returns stored files with this name and size. */
  candidates(filename: string, size: number): PublishedFile[] {
    return this.#files.filter((file) => file.filename === filename && file.size === size);
  }

  /** Returns the files of a completed artifact. */
  layoutOf(artifactId: string): readonly PartLayout[] {
    return this.#layouts.get(artifactId) ?? [];
  }

  /** Records the files of an artifact. Retains at most as many artifacts as there are files. */
  setLayout(artifactId: string, layouts: readonly PartLayout[]): void {
    this.#layouts.delete(artifactId);
    this.#layouts.set(artifactId, layouts);
    const [oldest = artifactId] = this.#layouts.keys();
    if (this.#layouts.size > this.#files.length) this.#layouts.delete(oldest);
  }

  add(file: PublishedFile, isProduced: boolean): void {
    this.#files.push(file);
    if (isProduced) this.produced.push({ filename: file.filename, version: file.version });
  }

  /** Serializes actions, because two streams of a task may contain the same file concurrently. */
  async serialize<T>(action: () => Promise<T>): Promise<T> {
    const current = this.#last.then(action);
    this.#last = current.catch(() => {});
    return await current;
  }
}

/** Name, media type and description of a file to store. */
export interface FileLabels {
  readonly filename: string | undefined;
  readonly mediaType: string | undefined;
  /** Name of a file without filename, without extension. */
  readonly fallback: string;
  readonly description: string;
  readonly metadata?: Metadata;
  /** Id of the artifact that contained the file. */
  readonly artifactId?: string;
  /** False for files that the client sent. */
  readonly isProduced: boolean;
}

/** Application, user and session of stored files. */
export type FileScope = Omit<ArtifactKey, 'filename'>;

/** Stores files and returns links to them. */
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

  /** Stores a file unless the task already has it. */
  publish(
    source: ByteSource,
    labels: FileLabels,
    scope: FileScope,
    files: TaskFiles,
  ): Promise<PublishedFile> {
    return files.serialize(() => this.#publish(source, labels, scope, files));
  }

  /** Returns the file if the task already has it. */
  async find(source: ByteSource, labels: FileLabels, files: TaskFiles): Promise<PublishedFile | undefined> {
    const candidates = files.candidates(chooseFilename(labels), source.size);
    if (candidates.length === 0) return undefined;
    const digest = await contentDigest(source);
    return candidates.find((file) => file.digest === digest);
  }

  async #publish(
    source: ByteSource,
    labels: FileLabels,
    scope: FileScope,
    files: TaskFiles,
  ): Promise<PublishedFile> {
    const existing = await this.find(source, labels, files);
    if (existing) return existing;
    const filename = chooseFilename(labels);
    if (files.count >= this.#maxFiles) {
      throw new A2AError(
        'INVALID_AGENT_RESPONSE',
        `The agent produced more than ${this.#maxFiles} files in one task`,
      );
    }
    const hash = createHash('sha256');
    const mimeType = labels.mediaType ?? mediaTypeFor(filename);
    const saved = await saveWithMetadata(
      this.#store,
      { ...scope, filename },
      withHash(source, hash),
      {
        mimeType,
        description: labels.description,
        ...(labels.artifactId !== undefined && { source: { proxied_from_artifact_id: labels.artifactId } }),
      },
      this.#now,
    );
    const { version, size, error } = saved;
    if (error) this.#log?.({ level: 'warn', message: `Failed to save the metadata of ${filename}`, error });
    const url = writeArtifactUri({ ...scope, app: this.#alias, filename, version });
    const part: UrlPart = { url, filename, mediaType: mimeType };
    if (labels.metadata) part.metadata = labels.metadata;
    const file = { filename, version, size, digest: hash.digest('hex'), part };
    files.add(file, labels.isProduced);
    return file;
  }
}

function chooseFilename({ filename, fallback, mediaType }: FileLabels): string {
  return safeFilename(filename, `${fallback}.${extensionFor(mediaType)}`);
}

async function* withHash(
  source: ByteSource,
  hash: { update(chunk: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source.stream()) {
    hash.update(chunk);
    yield chunk;
  }
}
