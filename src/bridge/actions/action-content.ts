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
import type { LogSink } from '../../primitives/log.ts';
import type { Message } from '../../protocol/message.ts';
import { type Part, type RawPart, textOf } from '../../protocol/part.ts';
import type { Task } from '../../protocol/task.ts';
import type { ActionFile } from '../action-types.ts';

/** What an agent said, as a host application takes it. */
export interface ActionContent {
  message: string;
  data: { [key: string]: unknown };
  files: ActionFile[];
}

/** Where files of agents are kept. */
export interface ActionContentOptions {
  readonly store: ArtifactStore | undefined;
  /** How large a file may be to be given as it is, where there is no store. */
  readonly maxInlineBytes: number;
  readonly maxFilesPerTask: number;
  readonly now: () => number;
  readonly log: LogSink | undefined;
}

/** Parts that belong together, and what they are called. */
interface Source {
  readonly parts: readonly Part[];
  /** What a file without a name is called. */
  readonly fallback: string;
  readonly description?: string | undefined;
  readonly artifactId?: string;
}

/** The whole answer of a task that is over. */
export function contentFromTask(
  task: Task,
  shelf: () => FileScope,
  options: ActionContentOptions,
): ActionContent | Promise<ActionContent> {
  const said = messageSource(task.status.message);
  const sources: Source[] = said ? [said] : [];
  for (const { artifactId, parts, name, description } of task.artifacts ?? []) {
    sources.push({ parts, artifactId, fallback: name ?? artifactId, description });
  }
  const last = sources.length > 0 ? undefined : messageSource(lastWords(task));
  return answerOf(last ? [last] : sources, shelf, options);
}

/** The answer that is a message: a direct one, or what was said with a status. */
export function contentFromMessage(
  message: Message | undefined,
  shelf: () => FileScope,
  options: ActionContentOptions,
): ActionContent | Promise<ActionContent> {
  const source = messageSource(message);
  return answerOf(source ? [source] : [], shelf, options);
}

function messageSource(message: Message | undefined): Source | undefined {
  return message && message.parts.length > 0
    ? { parts: message.parts, fallback: message.messageId }
    : undefined;
}

/** What the agent said last, if that was after its caller: some agents answer in the history only. */
function lastWords({ history }: Task): Message | undefined {
  const last = history?.at(-1);
  return last?.role === 'agent' ? last : undefined;
}

/** Waits only where there are files to be kept. */
function answerOf(
  sources: readonly Source[],
  shelf: () => FileScope,
  options: ActionContentOptions,
): ActionContent | Promise<ActionContent> {
  const texts = new Set<string>();
  const answer: ActionContent = { message: '', data: {}, files: [] };
  const values: unknown[] = [];
  const bulky: Bulk[] = [];
  for (const source of sources) {
    const text = textOf(source.parts);
    // Many agents say with their last status what is in their artifact as well.
    if (text !== '') texts.add(text);
    const raws: RawPart[] = [];
    for (const part of source.parts) {
      if ('data' in part) {
        if (isObject(part.data)) answer.data = { ...answer.data, ...part.data };
        else values.push(part.data);
      } else if ('url' in part) answer.files.push(linkOf(part.url, part.filename, part.mediaType));
      else if ('raw' in part) raws.push(part);
    }
    if (raws.length > 0) bulky.push({ source, raws, at: answer.files.length });
  }
  if (values.length > 0) answer.data.values = values;
  answer.message = [...texts].join('\n\n');
  return bulky.length === 0 ? answer : withKept(answer, bulky, new Keeper(shelf(), options));
}

/** The contents of files in one source, and before which file of the answer they belong. */
interface Bulk {
  readonly source: Source;
  readonly raws: readonly RawPart[];
  readonly at: number;
}

async function withKept(
  answer: ActionContent,
  bulky: readonly Bulk[],
  keeper: Keeper,
): Promise<ActionContent> {
  const files: ActionFile[] = [];
  let taken = 0;
  for (const { source, raws, at } of bulky) {
    files.push(...answer.files.slice(taken, at), ...(await keeper.keepAll(raws, source)));
    taken = at;
  }
  files.push(...answer.files.slice(taken));
  return { ...answer, files };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function linkOf(uri: string, filename: string | undefined, mediaType: string | undefined): ActionFile {
  const path = uri.split(/[?#]/)[0] ?? '';
  const name = safeFilename(filename, path.slice(path.lastIndexOf('/') + 1) || 'file');
  return { name, mediaType: mediaType ?? mediaTypeFor(name), uri };
}

/** Keeps the files of one answer. */
class Keeper {
  readonly #shelf: FileScope;
  readonly #options: ActionContentOptions;
  readonly #publisher: FilePublisher | undefined;
  readonly #files = new TaskFiles();

  constructor(shelf: FileScope, options: ActionContentOptions) {
    const { store, maxFilesPerTask, now, log } = options;
    this.#shelf = shelf;
    this.#options = options;
    this.#publisher = store && new FilePublisher(store, shelf.app, maxFilesPerTask, now, log);
  }

  /** Pieces in a row with the same name are one file. */
  async keepAll(raws: readonly RawPart[], source: Source): Promise<ActionFile[]> {
    const groups: RawPart[][] = [];
    let before: RawPart | undefined;
    for (const part of raws) {
      if (continuesFile(before, part)) groups.at(-1)?.push(part);
      else groups.push([part]);
      before = part;
    }
    const files: ActionFile[] = [];
    for (const [number, pieces] of groups.entries()) {
      files.push(await this.#keep(pieces, source, number === 0 ? '' : `-${number + 1}`));
    }
    return files;
  }

  async #keep(pieces: readonly RawPart[], source: Source, suffix: string): Promise<ActionFile> {
    const { filename, mediaType } = pieces[0] ?? {};
    const fallback = `${source.fallback}${suffix}`;
    if (!this.#publisher) return this.#inline(pieces, fallback);
    const { part, size } = await this.#publisher.publish(
      rawPartSource(pieces),
      {
        filename,
        mediaType,
        fallback,
        description: source.description || textOf(source.parts) || `Artifact created by ${this.#shelf.app}`,
        isProduced: true,
        ...(source.artifactId !== undefined && { artifactId: source.artifactId }),
      },
      this.#shelf,
      this.#files,
    );
    return { name: part.filename ?? fallback, mediaType: part.mediaType ?? '', uri: part.url, size };
  }

  #inline(pieces: readonly RawPart[], fallback: string): ActionFile {
    const [first] = pieces;
    const name = safeFilename(first?.filename, `${fallback}.${extensionFor(first?.mediaType)}`);
    const size = pieces.reduce((sum, { raw }) => sum + base64DecodedSize(raw), 0);
    const file: ActionFile = { name, mediaType: first?.mediaType ?? mediaTypeFor(name), size };
    if (size > this.#options.maxInlineBytes) {
      this.#options.log?.({
        level: 'warn',
        message: `${name} has ${size} bytes, and there is no artifact store to keep it`,
      });
      return file;
    }
    const bytes =
      pieces.length === 1
        ? (first?.raw ?? '')
        : Buffer.concat(pieces.map(({ raw }) => Buffer.from(raw, 'base64'))).toString('base64');
    return { ...file, bytes };
  }
}
