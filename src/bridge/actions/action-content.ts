import { base64DecodedSize } from '../../artifacts/stores/base64.ts';
import { extensionFor, mediaTypeFor } from '../../artifacts/media-types.ts';
import { safeFilename } from '../../artifacts/stores/storage-path.ts';
import { continuesFile } from '../../artifacts/middleware/rewrite-response.ts';
import {
  FilePublisher,
  rawPartSource,
  type FileScope,
  TaskFiles,
} from '../../artifacts/middleware/file-publisher.ts';
import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import { isJsonObject } from '../../primitives/json.ts';
import type { LogSink } from '../../primitives/log.ts';
import type { Message } from '../../protocol/message.ts';
import { type Part, type RawPart, textOf } from '../../protocol/part.ts';
import type { Task } from '../../protocol/task.ts';
import type { ActionFile } from '../action-types.ts';

/** Text, data and files of a task or message. */
export interface ActionContent {
  message: string;
  data: { [key: string]: unknown };
  files: ActionFile[];
}

/** Options of {@link contentFromTask} and {@link contentFromMessage}. */
export interface ActionContentOptions {
  readonly store: ArtifactStore | undefined;
  /** Maximum size of a file that is returned inline if no store is configured. */
  readonly maxInlineBytes: number;
  readonly maxFilesPerTask: number;
  readonly now: () => number;
  readonly log: LogSink | undefined;
}

/** Parts of one message or artifact. */
interface PartSource {
  readonly parts: readonly Part[];
  /** Name of files without a filename. */
  readonly fallback: string;
  readonly description?: string | undefined;
  readonly artifactId?: string;
}

/** Collects the content of a finished task. */
export function contentFromTask(
  task: Task,
  scope: () => FileScope,
  options: ActionContentOptions,
): ActionContent | Promise<ActionContent> {
  const statusSource = messageSource(task.status.message);
  const sources: PartSource[] = statusSource ? [statusSource] : [];
  for (const { artifactId, parts, name, description } of task.artifacts ?? []) {
    sources.push({ parts, artifactId, fallback: name ?? artifactId, description });
  }
  const last = sources.length > 0 ? undefined : messageSource(lastAgentMessage(task));
  return collectContent(last ? [last] : sources, scope, options);
}

/** Collects the content of a direct message or a status message. */
export function contentFromMessage(
  message: Message | undefined,
  scope: () => FileScope,
  options: ActionContentOptions,
): ActionContent | Promise<ActionContent> {
  const source = messageSource(message);
  return collectContent(source ? [source] : [], scope, options);
}

function messageSource(message: Message | undefined): PartSource | undefined {
  return message && message.parts.length > 0
    ? { parts: message.parts, fallback: message.messageId }
    : undefined;
}

/** Returns the last message if the agent sent it: some agents return results only in the history. */
function lastAgentMessage({ history }: Task): Message | undefined {
  const last = history?.at(-1);
  return last?.role === 'agent' ? last : undefined;
}

/** Asynchronous only if there are files to store. */
function collectContent(
  sources: readonly PartSource[],
  scope: () => FileScope,
  options: ActionContentOptions,
): ActionContent | Promise<ActionContent> {
  const texts = new Set<string>();
  const content: ActionContent = { message: '', data: {}, files: [] };
  const values: unknown[] = [];
  const rawFiles: RawFiles[] = [];
  for (const source of sources) {
    const text = textOf(source.parts);
    // Deduplicates text, because many agents repeat their artifact in the last status message.
    if (text !== '') texts.add(text);
    const raws: RawPart[] = [];
    for (const part of source.parts) {
      if ('data' in part) {
        if (isJsonObject(part.data)) content.data = { ...content.data, ...part.data };
        else values.push(part.data);
      } else if ('url' in part) content.files.push(toLinkedFile(part.url, part.filename, part.mediaType));
      else if ('raw' in part) raws.push(part);
    }
    if (raws.length > 0) rawFiles.push({ source, raws, at: content.files.length });
  }
  if (values.length > 0) content.data.values = values;
  content.message = [...texts].join('\n\n');
  return rawFiles.length === 0 ? content : storeFiles(content, rawFiles, new FileStorer(scope(), options));
}

/** Raw parts of one source and their insertion index in `files`, which keeps the order of the parts. */
interface RawFiles {
  readonly source: PartSource;
  readonly raws: readonly RawPart[];
  readonly at: number;
}

async function storeFiles(
  content: ActionContent,
  rawFiles: readonly RawFiles[],
  storer: FileStorer,
): Promise<ActionContent> {
  const files: ActionFile[] = [];
  let copied = 0;
  for (const { source, raws, at } of rawFiles) {
    files.push(...content.files.slice(copied, at), ...(await storer.storeAll(raws, source)));
    copied = at;
  }
  files.push(...content.files.slice(copied));
  return { ...content, files };
}

function toLinkedFile(uri: string, filename: string | undefined, mediaType: string | undefined): ActionFile {
  const path = uri.split(/[?#]/)[0] ?? '';
  const name = safeFilename(filename, path.slice(path.lastIndexOf('/') + 1) || 'file');
  return { name, mediaType: mediaType ?? mediaTypeFor(name), uri };
}

/** Stores the files of one response, or returns them inline if no store is configured. */
class FileStorer {
  readonly #scope: FileScope;
  readonly #options: ActionContentOptions;
  readonly #publisher: FilePublisher | undefined;
  readonly #files = new TaskFiles();

  constructor(scope: FileScope, options: ActionContentOptions) {
    const { store, maxFilesPerTask, now, log } = options;
    this.#scope = scope;
    this.#options = options;
    this.#publisher = store && new FilePublisher(store, scope.app, maxFilesPerTask, now, log);
  }

  /** Consecutive parts with the same name are chunks of one file. */
  async storeAll(raws: readonly RawPart[], source: PartSource): Promise<ActionFile[]> {
    const groups: RawPart[][] = [];
    let before: RawPart | undefined;
    for (const part of raws) {
      if (continuesFile(before, part)) groups.at(-1)?.push(part);
      else groups.push([part]);
      before = part;
    }
    const files: ActionFile[] = [];
    for (const [number, chunks] of groups.entries()) {
      files.push(await this.#store(chunks, source, number === 0 ? '' : `-${number + 1}`));
    }
    return files;
  }

  async #store(chunks: readonly RawPart[], source: PartSource, suffix: string): Promise<ActionFile> {
    const { filename, mediaType } = chunks[0] ?? {};
    const fallback = `${source.fallback}${suffix}`;
    if (!this.#publisher) return this.#inline(chunks, fallback);
    const { part, size } = await this.#publisher.publish(
      rawPartSource(chunks),
      {
        filename,
        mediaType,
        fallback,
        description: source.description || textOf(source.parts) || `Artifact created by ${this.#scope.app}`,
        isProduced: true,
        ...(source.artifactId !== undefined && { artifactId: source.artifactId }),
      },
      this.#scope,
      this.#files,
    );
    return { name: part.filename ?? fallback, mediaType: part.mediaType ?? '', uri: part.url, size };
  }

  #inline(chunks: readonly RawPart[], fallback: string): ActionFile {
    const [first] = chunks;
    const name = safeFilename(first?.filename, `${fallback}.${extensionFor(first?.mediaType)}`);
    const size = chunks.reduce((sum, { raw }) => sum + base64DecodedSize(raw), 0);
    const file: ActionFile = { name, mediaType: first?.mediaType ?? mediaTypeFor(name), size };
    if (size > this.#options.maxInlineBytes) {
      this.#options.log?.({
        level: 'warn',
        message: `Dropped the content of ${name}: ${size} bytes, and no artifact store is configured`,
      });
      return file;
    }
    const bytes =
      chunks.length === 1
        ? (first?.raw ?? '')
        : Buffer.concat(chunks.map(({ raw }) => Buffer.from(raw, 'base64'))).toString('base64');
    return { ...file, bytes };
  }
}
