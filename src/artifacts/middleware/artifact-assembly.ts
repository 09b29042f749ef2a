import type { TaskArtifactUpdateEvent } from '../../protocol/event.ts';
import type { Part, RawPart } from '../../protocol/part.ts';
import type { Artifact } from '../../protocol/task.ts';
import { decodeBase64Chunks } from '../stores/base64.ts';
import { type RewriteContext, continuesFile, fileLabels } from './rewrite-response.ts';
import type { PartLayout, TaskFiles } from './file-publisher.ts';
import { Spool, type SpoolOptions } from './spool.ts';

/** A file of an artifact, as far as it has come. */
interface GrowingFile {
  readonly spool: Spool;
  readonly first: RawPart;
  pieces: number;
}

/** An artifact that comes in chunks: its bytes are gathered, file by file, until it is whole. */
export class ArtifactAssembly {
  /** True when chunks came before those that were seen. */
  readonly isTorn: boolean;
  readonly #spooling: SpoolOptions;
  readonly #files: GrowingFile[] = [];
  #head: Artifact;
  #event: Pick<TaskArtifactUpdateEvent, 'taskId' | 'contextId' | 'metadata'>;

  constructor(event: TaskArtifactUpdateEvent, spooling: SpoolOptions, isTorn: boolean) {
    this.isTorn = isTorn;
    this.#spooling = spooling;
    this.#event = event;
    this.#head = { ...event.artifact, parts: [] };
  }

  get taskId(): string {
    return this.#event.taskId;
  }

  /** Takes the bytes of a chunk. @returns the parts that are no bytes */
  async take(event: TaskArtifactUpdateEvent): Promise<Part[]> {
    const { artifact } = event;
    this.#event = event;
    // Texts of the artifact may be what describes its files.
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
      const file = last && (isSame || continuesFile(last.first, part)) ? last : this.#begin(part);
      file.pieces++;
      for await (const piece of decodeBase64Chunks([part.raw])) await file.spool.write(piece);
    }
    return others;
  }

  #begin(part: RawPart): GrowingFile {
    // The base64 itself is not kept.
    const file = { spool: new Spool(this.#spooling), first: { ...part, raw: '' }, pieces: 0 };
    this.#files.push(file);
    return file;
  }

  /** Stores the files, now that they are whole. @returns the event that tells of them */
  async publish(scope: RewriteContext, files: TaskFiles): Promise<TaskArtifactUpdateEvent> {
    const { artifactId } = this.#head;
    const { taskId, contextId, metadata } = this.#event;
    const layouts: PartLayout[] = [];
    for (const [number, { spool, first, pieces }] of this.#files.entries()) {
      const labels = fileLabels(this.#head, first, number, scope.alias);
      const file = await scope.publisher.publish(spool, labels, scope.shelf(contextId), files);
      layouts.push({ pieces, file });
    }
    files.setLayout(artifactId, layouts);
    const artifact = { ...this.#head, parts: layouts.map(({ file }) => file.part) };
    return { kind: 'artifact', taskId, contextId, artifact, lastChunk: true, ...(metadata && { metadata }) };
  }

  /** Lets go of what was gathered. */
  async close(): Promise<void> {
    for (const { spool } of this.#files) await spool.close();
  }
}
