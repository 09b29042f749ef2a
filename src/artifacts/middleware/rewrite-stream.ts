import type {
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
  StreamEvent,
  TaskSnapshotEvent,
} from '../../protocol/event.ts';
import type { LogSink } from '../../primitives/log.ts';
import type { Part } from '../../protocol/part.ts';
import { type Artifact, isTerminal, isTerminalOrInterrupted, type Task } from '../../protocol/task.ts';
import { ArtifactAssembly } from './artifact-assembly.ts';
import { extensionFor } from '../media-types.ts';
import {
  type RewriteContext,
  hasRawPart,
  ResponseRewriter,
  withProducedArtifacts,
} from './rewrite-response.ts';
import { TaskFiles } from './file-publisher.ts';
import type { SpoolOptions } from './spool.ts';

/** Collaborators of {@link rewriteStream}. */
export interface StreamRewriteContext extends RewriteContext {
  readonly spoolOptions: SpoolOptions;
  /** Maximum number of incomplete artifacts; the oldest is completed when it is exceeded. */
  readonly maxOpenArtifacts: number;
  readonly log: LogSink | undefined;
  /** Fetches the current task. */
  readonly task: (id: string) => Promise<Task>;
}

/** Maximum number of tracked artifacts per stream. */
const maxTrackedArtifacts = 10_000;

/**
 * Replaces bytes in a stream by links. Bytes are held back until the last chunk of their artifact, or until the task
 * reaches a terminal or interrupted state, so that a file has one version for all of its chunks. Other events pass
 * immediately.
 */
export async function* rewriteStream(
  open: () => AsyncIterable<StreamEvent> | Promise<AsyncIterable<StreamEvent>>,
  context: StreamRewriteContext,
): AsyncGenerator<StreamEvent> {
  const stream = new StreamRewriter(context);
  try {
    for await (const event of await open()) {
      if (stream.passes(event)) yield event;
      else yield* stream.rewrite(event);
    }
    yield* stream.finish();
  } finally {
    await stream.close();
  }
}

class StreamRewriter {
  readonly #context: StreamRewriteContext;
  readonly #rewriter: ResponseRewriter;
  readonly #open = new Map<string, ArtifactAssembly>();
  /** Artifacts that started in this stream, and whether an event of them was sent. */
  readonly #started = new Map<string, boolean>();

  constructor(context: StreamRewriteContext) {
    this.#context = context;
    this.#rewriter = new ResponseRewriter(context);
  }

  /** Returns true for most events: those that contain no bytes and complete no artifact. */
  passes(event: StreamEvent): boolean {
    if (event.kind === 'status') {
      const { message, state } = event.status;
      return !isTerminalOrInterrupted(state) && (!message || !hasRawPart(message.parts));
    }
    if (event.kind !== 'artifact') return false;
    const { artifactId, parts } = event.artifact;
    if (hasRawPart(parts) || this.#open.has(artifactId)) return false;
    // For an artifact that started before this stream it is unknown whether bytes were held back.
    if (!event.append || this.#started.has(artifactId)) this.#markStarted(artifactId, true);
    return true;
  }

  async *rewrite(event: StreamEvent): AsyncGenerator<StreamEvent> {
    switch (event.kind) {
      case 'message': {
        const { taskId, contextId } = event.message;
        const files = taskId === undefined ? new TaskFiles() : this.#context.files(taskId);
        const rewritten = await this.#rewriter.message(event.message, files, contextId);
        const message = withProducedArtifacts(rewritten, files);
        yield message === event.message ? event : { ...event, message };
        break;
      }
      case 'status':
        yield* this.#status(event);
        break;
      case 'artifact':
        yield* this.#artifact(event);
        break;
      case 'task':
        yield* this.#task(event);
        break;
    }
  }

  /** Completes all open artifacts. */
  async *finish(): AsyncGenerator<StreamEvent> {
    for (const artifactId of this.#open.keys()) yield* this.#publish(artifactId);
  }

  async close(): Promise<void> {
    for (const assembly of this.#open.values()) await assembly.close();
    this.#open.clear();
  }

  async *#status(event: TaskStatusUpdateEvent): AsyncGenerator<StreamEvent> {
    if (isTerminalOrInterrupted(event.status.state)) yield* this.finish();
    const files = this.#context.files(event.taskId);
    const status = await this.#rewriter.status(event.status, event.contextId, files);
    const changed = status === event.status ? event : { ...event, status };
    yield isTerminal(status.state) ? withProducedArtifacts(changed, files) : changed;
  }

  async *#artifact(event: TaskArtifactUpdateEvent): AsyncGenerator<StreamEvent> {
    const { artifactId } = event.artifact;
    // A new start of the artifact completes the previous one.
    if (!event.append) yield* this.#publish(artifactId);
    if (event.lastChunk && !event.append) {
      const files = this.#context.files(event.taskId);
      this.#markStarted(artifactId, true);
      const artifact = await this.#rewriter.artifact(event.artifact, event.contextId, files, true);
      yield { ...event, artifact };
    } else if (this.#open.has(artifactId) || hasRawPart(event.artifact.parts)) yield* this.#assemble(event);
    else {
      this.#markStarted(artifactId, true);
      yield event;
    }
  }

  async *#assemble(event: TaskArtifactUpdateEvent): AsyncGenerator<StreamEvent> {
    const { artifactId } = event.artifact;
    let assembly = this.#open.get(artifactId);
    if (!assembly) {
      const isIncomplete = event.append === true && !this.#started.has(artifactId);
      assembly = new ArtifactAssembly(event, this.#context.spoolOptions, isIncomplete);
      this.#open.set(artifactId, assembly);
      if (!event.append || isIncomplete) this.#markStarted(artifactId, false);
      yield* this.#limitOpen();
    }
    const others = await assembly.add(event);
    if (!event.lastChunk) {
      if (others.length > 0)
        yield this.#withAppend({ ...event, artifact: { ...event.artifact, parts: others } });
      return;
    }
    for await (const last of this.#publish(artifactId, others)) {
      yield event.sequence === undefined ? last : { ...last, sequence: event.sequence };
    }
  }

  /** Completes the oldest artifacts beyond the limit. */
  async *#limitOpen(): AsyncGenerator<StreamEvent> {
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= Math.max(1, this.#context.maxOpenArtifacts)) return;
      yield* this.#publish(oldest);
    }
  }

  /** Stores the assembled files and returns the event with links. @param others - other parts of the last chunk */
  async *#publish(artifactId: string, others: readonly Part[] = []): AsyncGenerator<TaskArtifactUpdateEvent> {
    const assembly = this.#open.get(artifactId);
    if (!assembly) return;
    this.#open.delete(artifactId);
    try {
      const complete = assembly.isIncomplete ? await this.#fetchComplete(artifactId, assembly) : undefined;
      if (complete) {
        yield complete;
        return;
      }
      const event = await assembly.publish(this.#context, this.#context.files(assembly.taskId));
      const artifact = { ...event.artifact, parts: [...others, ...event.artifact.parts] };
      yield this.#withAppend({ ...event, artifact, append: true });
    } finally {
      await assembly.close();
    }
  }

  /** Fetches the complete artifact from the task if the stream started in the middle of it. */
  async #fetchComplete(
    artifactId: string,
    { taskId }: ArtifactAssembly,
  ): Promise<TaskArtifactUpdateEvent | undefined> {
    try {
      const { contextId, artifacts } = await this.#context.task(taskId);
      const found = artifacts?.find((artifact) => artifact.artifactId === artifactId);
      if (!found) return undefined;
      const named = nameChunks(found);
      const artifact = await this.#rewriter.artifact(named, contextId, this.#context.files(taskId), true);
      return { kind: 'artifact', taskId, contextId, artifact, lastChunk: true };
    } catch (error) {
      const message = `Artifact ${artifactId} is incomplete: its first chunks could not be fetched`;
      this.#context.log?.({ level: 'warn', message, taskId, error });
      return undefined;
    }
  }

  async *#task(event: TaskSnapshotEvent): AsyncGenerator<StreamEvent> {
    const { task } = event;
    if (isTerminalOrInterrupted(task.status.state)) yield* this.finish();
    const changed = await this.#rewriter.task(task);
    const rewrittenIds = new Set(changed.artifacts?.map(({ artifactId }) => artifactId));
    for (const artifact of task.artifacts ?? []) {
      const { artifactId } = artifact;
      if (!this.#started.has(artifactId)) this.#markStarted(artifactId, rewrittenIds.has(artifactId));
      const isHeldBack = hasRawPart(artifact.parts) && !isTerminalOrInterrupted(task.status.state);
      if (isHeldBack && !this.#open.has(artifactId)) await this.#resume(task, artifact, changed);
    }
    yield changed === task ? event : { ...event, task: changed };
    yield* this.#limitOpen();
  }

  /** Continues an artifact that the task snapshot contains partially. */
  async #resume(task: Task, artifact: Artifact, rewritten: Task): Promise<void> {
    const { parts = [] } =
      rewritten.artifacts?.find(({ artifactId }) => artifactId === artifact.artifactId) ?? {};
    const links = new Set(artifact.parts.map((part) => ('url' in part ? part.url : '')));
    // Stored files are complete.
    if (parts.some((part) => 'url' in part && !links.has(part.url))) return;
    const { id: taskId, contextId } = task;
    const event: TaskArtifactUpdateEvent = { kind: 'artifact', taskId, contextId, artifact };
    const assembly = new ArtifactAssembly(event, this.#context.spoolOptions, false);
    this.#open.set(artifact.artifactId, assembly);
    await assembly.add(event);
  }

  #markStarted(artifactId: string, isSent: boolean): void {
    this.#started.set(artifactId, isSent);
    const [oldest = artifactId] = this.#started.keys();
    if (this.#started.size > maxTrackedArtifacts) this.#started.delete(oldest);
  }

  /** Sets `append` only if an earlier event of the artifact was sent. */
  #withAppend(event: TaskArtifactUpdateEvent): TaskArtifactUpdateEvent {
    const { append: _before, ...rest } = event;
    const isAppended = event.append === true && this.#started.get(event.artifact.artifactId) === true;
    this.#markStarted(event.artifact.artifactId, true);
    return isAppended ? { ...rest, append: true } : rest;
  }
}

/** Copies the filename of the first chunk to the following ones, which may omit it. */
function nameChunks(artifact: Artifact): Artifact {
  let name: string | undefined;
  const parts = artifact.parts.map((part) => {
    if (!('raw' in part)) return part;
    name = part.filename || name || `${artifact.artifactId}.${extensionFor(part.mediaType)}`;
    return { ...part, filename: name };
  });
  return { ...artifact, parts };
}
