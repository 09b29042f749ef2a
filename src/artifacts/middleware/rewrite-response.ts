import type { Message } from '../../protocol/message.ts';
import { type Metadata, type Part, type RawPart, textOf, type UrlPart } from '../../protocol/part.ts';
import {
  type Artifact,
  isInterrupted,
  isTerminal,
  type Task,
  type TaskState,
  type TaskStatus,
} from '../../protocol/task.ts';
import {
  contentDigest,
  type FileLabels,
  type PublishedFile,
  type FilePublisher,
  rawPartSource,
  type FileScope,
  type TaskFiles,
} from './file-publisher.ts';

/** What the caller sent as links and the agent was given as bytes, by digest. */
type Brought = ReadonlyMap<string, UrlPart>;

/** What the answers to one call are rewritten with. */
export interface RewriteContext {
  readonly publisher: FilePublisher;
  readonly alias: string;
  /** Where files of a conversation are kept. */
  readonly shelf: (contextId: string | undefined) => FileScope;
  /** The files of a task. */
  readonly files: (taskId: string) => TaskFiles;
  /** What came with a message of the caller. */
  readonly brought: (messageId: string) => Brought | undefined;
}

/** True when nothing more comes of a task, at least until its caller speaks. */
export function isTerminalOrInterrupted(state: TaskState): boolean {
  return isTerminal(state) || isInterrupted(state);
}

/** Tells whether some of the parts are bytes. */
export function hasRawPart(parts: readonly Part[]): boolean {
  for (const part of parts) if ('raw' in part) return true;
  return false;
}

/** Adds what was produced, in the form that the mesh knows: file names and versions. */
export function withProducedArtifacts<T extends { metadata?: Metadata }>(
  thing: T,
  { produced }: TaskFiles,
): T {
  if (produced.length === 0) return thing;
  return {
    ...thing,
    metadata: { ...thing.metadata, produced_artifacts: produced.map((file) => ({ ...file })) },
  };
}

/** What is said of a file of an artifact. @param number - counted from 0 among the files of the artifact */
export function fileLabels(artifact: Artifact, part: RawPart, number: number, alias: string): FileLabels {
  return {
    filename: part.filename,
    mediaType: part.mediaType,
    fallback: number === 0 ? artifact.artifactId : `${artifact.artifactId}-${number + 1}`,
    description: artifact.description || textOf(artifact.parts) || `Artifact created by ${alias}`,
    artifactId: artifact.artifactId,
    isProduced: true,
    ...(part.metadata && { metadata: part.metadata }),
  };
}

/** Raw parts that are one file. */
interface Group {
  readonly pieces: RawPart[];
  file: PublishedFile | undefined;
}

/** True when bytes go on with the file before them: only a name that both have says so. */
export function continuesFile(before: RawPart | undefined, part: RawPart): boolean {
  return before?.filename !== undefined && before.filename !== '' && before.filename === part.filename;
}

/** Stores the bytes of whatever an agent answers and puts links in their place. What has no bytes stays as it is. */
export class ResponseRewriter {
  readonly #scope: RewriteContext;

  constructor(scope: RewriteContext) {
    this.#scope = scope;
  }

  /** A task as it stands. @param isAnswer - answers to a message tell what was produced, whatever the state */
  async task(task: Task, isAnswer = false): Promise<Task> {
    const files = this.#scope.files(task.id);
    let changed = task;
    const artifacts = await this.#artifacts(task, files);
    if (artifacts !== task.artifacts) {
      const { artifacts: _before, ...rest } = changed;
      changed = artifacts && artifacts.length > 0 ? { ...rest, artifacts } : rest;
    }
    const status = await this.status(task.status, task.contextId, files);
    if (status !== task.status) changed = { ...changed, status };
    if (task.history?.some(({ parts }) => hasRawPart(parts))) {
      const history: Message[] = [];
      for (const message of task.history) history.push(await this.message(message, files, task.contextId));
      changed = { ...changed, history };
    }
    return isAnswer || isTerminal(task.status.state) ? withProducedArtifacts(changed, files) : changed;
  }

  async #artifacts(task: Task, files: TaskFiles): Promise<Artifact[] | undefined> {
    if (!task.artifacts?.some(({ parts }) => hasRawPart(parts))) return task.artifacts;
    const kept: Artifact[] = [];
    const isWhole = isTerminalOrInterrupted(task.status.state);
    for (const artifact of task.artifacts) {
      const changed = await this.artifact(artifact, task.contextId, files, isWhole);
      if (changed.parts.length > 0) kept.push(changed);
    }
    return kept;
  }

  /** A status with its message. */
  async status(status: TaskStatus, contextId: string, files: TaskFiles): Promise<TaskStatus> {
    if (!status.message || !hasRawPart(status.message.parts)) return status;
    return { ...status, message: await this.message(status.message, files, contextId) };
  }

  /** A message of anybody. What the caller brought is shown as the caller wrote it, and is not a product. */
  async message(message: Message, files: TaskFiles, contextId: string | undefined): Promise<Message> {
    if (!hasRawPart(message.parts)) return message;
    const { publisher, alias, shelf, brought } = this.#scope;
    const isProduced = message.role === 'agent';
    const links = isProduced ? undefined : brought(message.messageId);
    const parts: Part[] = [];
    let number = 0;
    for (const part of message.parts) {
      if (!('raw' in part)) {
        parts.push(part);
        continue;
      }
      const source = rawPartSource([part]);
      const link = links?.get(await contentDigest(source));
      number++;
      if (link) {
        parts.push(link);
        continue;
      }
      const file = await publisher.publish(
        source,
        {
          filename: part.filename,
          mediaType: part.mediaType,
          fallback: number === 1 ? message.messageId : `${message.messageId}-${number}`,
          description: textOf(message.parts) || `Artifact created by ${alias}`,
          isProduced,
          ...(part.metadata && { metadata: part.metadata }),
        },
        shelf(message.contextId ?? contextId),
        files,
      );
      parts.push(file.part);
    }
    return { ...message, parts };
  }

  /**
   * An artifact as it stands.
   *
   * @param isWhole - false while more may come of it: bytes that are not stored yet are left out until then
   */
  async artifact(
    artifact: Artifact,
    contextId: string,
    files: TaskFiles,
    isWhole: boolean,
  ): Promise<Artifact> {
    const raws = artifact.parts.filter((part) => 'raw' in part);
    if (raws.length === 0) return artifact;
    const groups = await this.#groups(artifact.artifactId, raws, files);
    const { publisher, alias, shelf } = this.#scope;
    for (const [number, group] of groups.entries()) {
      const [first] = group.pieces;
      if (group.file || !first) continue;
      const labels = fileLabels(artifact, first, number, alias);
      const source = rawPartSource(group.pieces);
      group.file = isWhole
        ? await publisher.publish(source, labels, shelf(contextId), files)
        : await publisher.find(source, labels, files);
    }
    if (isWhole) {
      files.setLayout(
        artifact.artifactId,
        groups.flatMap(({ pieces, file }) => (file ? [{ pieces: pieces.length, file }] : [])),
      );
    }
    const firsts = new Map(groups.map(({ pieces: [first], file }) => [first, file]));
    const parts = artifact.parts.flatMap((part): Part[] => {
      if (!('raw' in part)) return [part];
      const file = firsts.get(part);
      return file ? [file.part] : [];
    });
    return { ...artifact, parts };
  }

  /** Which parts are one file: those that came in chunks are known, the others are told by their names. */
  async #groups(artifactId: string, raws: readonly RawPart[], files: TaskFiles): Promise<Group[]> {
    const groups: Group[] = [];
    let at = 0;
    for (const { pieces, file } of files.layoutOf(artifactId)) {
      const taken = raws.slice(at, at + pieces);
      const source = rawPartSource(taken);
      if (source.size !== file.size || (await contentDigest(source)) !== file.digest) break;
      groups.push({ pieces: taken, file });
      at += pieces;
    }
    let before: RawPart | undefined;
    for (const part of raws.slice(at)) {
      if (continuesFile(before, part)) groups.at(-1)?.pieces.push(part);
      else groups.push({ pieces: [part], file: undefined });
      before = part;
    }
    return groups;
  }
}
