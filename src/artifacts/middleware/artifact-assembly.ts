import type { TaskArtifactUpdateEvent } from '../../protocol/event.ts';
import type { Part, RawPart } from '../../protocol/part.ts';
import type { Artifact } from '../../protocol/task.ts';
import { decodeBase64Chunks } from '../stores/base64.ts';
import { type RewriteContext, continuesFile, fileLabels } from './rewrite-response.ts';
import type { PartLayout, TaskFiles } from './file-publisher.ts';
import { Spool, type SpoolOptions } from './spool.ts';

/** A partially received file. */
interface PartialFile {
  readonly spool: Spool;
  readonly first: RawPart;
  chunks: number;
}

/** Assembles the files of an artifact that is streamed in chunks. */
export class ArtifactAssembly {
  /** True if the stream started after the first chunks of the artifact. */
  readonly isIncomplete: boolean;
  readonly #spoolOptions: SpoolOptions;
  readonly #files: PartialFile[] = [];
  #head: Artifact;
  #event: Pick<TaskArtifactUpdateEvent, 'taskId' | 'contextId' | 'metadata'>;

  constructor(event: TaskArtifactUpdateEvent, spoolOptions: SpoolOptions, isIncomplete: boolean) {
    this.isIncomplete = isIncomplete;
    this.#spoolOptions = spoolOptions;
    this.#event = event;
    this.#head = { ...event.artifact, parts: [] };
  }

  get taskId(): string {
    return this.#event.taskId;
  }

  /** Adds the raw parts of a chunk. @returns all other parts */
  async add(event: TaskArtifactUpdateEvent): Promise<Part[]> {
    const { artifact } = event;
    this.#event = event;
    // Text parts may describe the files of the artifact.
    const texts = artifact.parts.filter((part) => 'text' in part);
    this.#head = { ...this.#head, ...artifact, parts: [...this.#head.parts, ...texts].slice(0, 16) };
    const others: Part[] = [];
    let isFirst = true;
    for (const part of artifact.parts) {
      if (!('raw' in part)) {
        others.push(part);
        continue;
      }
      const last = this.#files.at(-1);
      const isSame =
        isFirst && event.append && last && (!part.filename || part.filename === last.first.filename);
      isFirst = false;
      const file = last && (isSame || continuesFile(last.first, part)) ? last : this.#startFile(part);
      file.chunks++;
      for await (const chunk of decodeBase64Chunks([part.raw])) await file.spool.write(chunk);
    }
    return others;
  }

  #startFile(part: RawPart): PartialFile {
    // Drops the base64, which would stay in memory.
    const file = { spool: new Spool(this.#spoolOptions), first: { ...part, raw: '' }, chunks: 0 };
    this.#files.push(file);
    return file;
  }

  /** Stores the complete files. @returns an event with links to them */
  async publish(context: RewriteContext, files: TaskFiles): Promise<TaskArtifactUpdateEvent> {
    const { artifactId } = this.#head;
    const { taskId, contextId, metadata } = this.#event;
    const layouts: PartLayout[] = [];
    for (const [number, { spool, first, chunks }] of this.#files.entries()) {
      const labels = fileLabels(this.#head, first, number, context.alias);
      const file = await context.publisher.publish(spool, labels, context.fileScope(contextId), files);
      layouts.push({ chunks, file });
    }
    files.setLayout(artifactId, layouts);
    const artifact = { ...this.#head, parts: layouts.map(({ file }) => file.part) };
    return { kind: 'artifact', taskId, contextId, artifact, lastChunk: true, ...(metadata && { metadata }) };
  }

  async close(): Promise<void> {
    for (const { spool } of this.#files) await spool.close();
  }
}
