import type { Message } from '../../protocol/message.ts';
import { type Metadata, type Part, type RawPart, textOf, type UrlPart } from '../../protocol/part.ts';
import {
  type Artifact,
  isTerminal,
  isTerminalOrInterrupted,
  type Task,
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

/** Collaborators of {@link ResponseRewriter}. */
export interface RewriteContext {
  readonly publisher: FilePublisher;
  readonly alias: string;
  /** Returns the scope in which files of a context are stored. */
  readonly fileScope: (contextId: string | undefined) => FileScope;
  readonly files: (taskId: string) => TaskFiles;
  /** Returns the links of a client message that were replaced by bytes, by digest. */
  readonly clientLinks: (messageId: string) => ReadonlyMap<string, UrlPart> | undefined;
}

/** Returns true if a part contains raw bytes. */
export function hasRawPart(parts: readonly Part[]): boolean {
  for (const part of parts) if ('raw' in part) return true;
  return false;
}

/** Adds `produced_artifacts` to the metadata: filenames and versions, as Solace Agent Mesh expects. */
export function withProducedArtifacts<T extends { metadata?: Metadata }>(
  response: T,
  { produced }: TaskFiles,
): T {
  if (produced.length === 0) return response;
  const produced_artifacts = produced.map((file) => ({ ...file }));
  return { ...response, metadata: { ...response.metadata, produced_artifacts } };
}

/** Returns the labels of a file of an artifact. @param number - index of the file in the artifact, from 0 */
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

/** Raw parts that form one file. */
interface FileGroup {
  readonly chunks: RawPart[];
  file: PublishedFile | undefined;
}

/** Returns true if a part continues the file of the previous part: both have the same non-empty filename. */
export function continuesFile(before: RawPart | undefined, part: RawPart): boolean {
  return before?.filename !== undefined && before.filename !== '' && before.filename === part.filename;
}

/** Replaces bytes in responses of an agent by links to stored files. Returns responses without bytes unchanged. */
export class ResponseRewriter {
  readonly #context: RewriteContext;

  constructor(context: RewriteContext) {
    this.#context = context;
  }

  /** @param isSendResult - adds the produced artifacts in every state, not only in terminal ones */
  async task(task: Task, isSendResult = false): Promise<Task> {
    const files = this.#context.files(task.id);
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
    return isSendResult || isTerminal(task.status.state) ? withProducedArtifacts(changed, files) : changed;
  }

  async #artifacts(task: Task, files: TaskFiles): Promise<Artifact[] | undefined> {
    if (!task.artifacts?.some(({ parts }) => hasRawPart(parts))) return task.artifacts;
    const artifacts: Artifact[] = [];
    const isComplete = isTerminalOrInterrupted(task.status.state);
    for (const artifact of task.artifacts) {
      const changed = await this.artifact(artifact, task.contextId, files, isComplete);
      if (changed.parts.length > 0) artifacts.push(changed);
    }
    return artifacts;
  }

  async status(status: TaskStatus, contextId: string, files: TaskFiles): Promise<TaskStatus> {
    if (!status.message || !hasRawPart(status.message.parts)) return status;
    return { ...status, message: await this.message(status.message, files, contextId) };
  }

  /** Restores links that the client sent; its files are not produced artifacts. */
  async message(message: Message, files: TaskFiles, contextId: string | undefined): Promise<Message> {
    if (!hasRawPart(message.parts)) return message;
    const { publisher, alias, fileScope, clientLinks } = this.#context;
    const isProduced = message.role === 'agent';
    const links = isProduced ? undefined : clientLinks(message.messageId);
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
        fileScope(message.contextId ?? contextId),
        files,
      );
      parts.push(file.part);
    }
    return { ...message, parts };
  }

  /** @param isComplete - false while more chunks may follow; bytes that are not stored yet are omitted then */
  async artifact(
    artifact: Artifact,
    contextId: string,
    files: TaskFiles,
    isComplete: boolean,
  ): Promise<Artifact> {
    const raws = artifact.parts.filter((part) => 'raw' in part);
    if (raws.length === 0) return artifact;
    const groups = await this.#groupFiles(artifact.artifactId, raws, files);
    const { publisher, alias, fileScope } = this.#context;
    for (const [number, group] of groups.entries()) {
      const [first] = group.chunks;
      if (group.file || !first) continue;
      const labels = fileLabels(artifact, first, number, alias);
      const source = rawPartSource(group.chunks);
      group.file = isComplete
        ? await publisher.publish(source, labels, fileScope(contextId), files)
        : await publisher.find(source, labels, files);
    }
    if (isComplete) {
      files.setLayout(
        artifact.artifactId,
        groups.flatMap(({ chunks, file }) => (file ? [{ chunks: chunks.length, file }] : [])),
      );
    }
    const firsts = new Map(groups.map(({ chunks: [first], file }) => [first, file]));
    const parts = artifact.parts.flatMap((part): Part[] => {
      if (!('raw' in part)) return [part];
      const file = firsts.get(part);
      return file ? [file.part] : [];
    });
    return { ...artifact, parts };
  }

  /** Groups parts to files: by the recorded layout of streamed chunks, otherwise by filename. */
  async #groupFiles(artifactId: string, raws: readonly RawPart[], files: TaskFiles): Promise<FileGroup[]> {
    const groups: FileGroup[] = [];
    let at = 0;
    for (const { chunks: count, file } of files.layoutOf(artifactId)) {
      const chunks = raws.slice(at, at + count);
      const source = rawPartSource(chunks);
      if (source.size !== file.size || (await contentDigest(source)) !== file.digest) break;
      groups.push({ chunks, file });
      at += count;
    }
    let before: RawPart | undefined;
    for (const part of raws.slice(at)) {
      if (continuesFile(before, part)) groups.at(-1)?.chunks.push(part);
      else groups.push({ chunks: [part], file: undefined });
      before = part;
    }
    return groups;
  }
}
