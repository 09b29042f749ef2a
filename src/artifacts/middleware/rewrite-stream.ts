import type {
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
  StreamEvent,
  TaskSnapshotEvent,
} from '../../protocol/event.ts';
import type { LogSink } from '../../primitives/log.ts';
import type { Part } from '../../protocol/part.ts';
import { type Artifact, isTerminal, type Task } from '../../protocol/task.ts';
import { ArtifactAssembly } from './artifact-assembly.ts';
import { extensionFor } from '../media-types.ts';
import {
  type RewriteContext,
  hasRawPart,
  isTerminalOrInterrupted,
  ResponseRewriter,
  withProducedArtifacts,
} from './rewrite-response.ts';
import { TaskFiles } from './file-publisher.ts';
import type { SpoolOptions } from './spool.ts';

/** What the rewriting of a stream needs beside what every answer needs. */
export interface StreamRewriteContext extends RewriteContext {
  readonly spooling: SpoolOptions;
  /** How many artifacts may be under way at once; the oldest counts as whole when there are more. */
  readonly maxOpen: number;
  readonly log: LogSink | undefined;
  /** Asks for the task as it stands. */
  readonly task: (id: string) => Promise<Task>;
}

/** How many artifacts of a stream are remembered. */
const maxRemembered = 10_000;

/**
 * Rewrites a stream. Bytes of artifacts are held back until their artifact is whole, which is when its last chunk came
 * or the task rests; everything else goes on at once. So a file has one version, however many chunks it came in.
 */
export async function* rewriteStream(
  open: () => AsyncIterable<StreamEvent> | Promise<AsyncIterable<StreamEvent>>,
  scope: StreamRewriteContext,
): AsyncGenerator<StreamEvent> {
  const stream = new OutboundStream(scope);
  try {
    for await (const event of await open()) {
      if (stream.lets(event)) yield event;
      else yield* stream.rewrite(event);
    }
    yield* stream.finish();
  } finally {
    await stream.close();
  }
}

class OutboundStream {
  readonly #scope: StreamRewriteContext;
  readonly #outbound: ResponseRewriter;
  readonly #open = new Map<string, ArtifactAssembly>();
  /** The artifacts that began in this stream, and whether anything of them was passed on. */
  readonly #begun = new Map<string, boolean>();

  constructor(scope: StreamRewriteContext) {
    this.#scope = scope;
    this.#outbound = new ResponseRewriter(scope);
  }

  /** Lets most events pass as they are: those that neither hold bytes nor make anything whole. */
  lets(event: StreamEvent): boolean {
    if (event.kind === 'status') {
      const { message, state } = event.status;
      return !isTerminalOrInterrupted(state) && (!message || !hasRawPart(message.parts));
    }
    if (event.kind !== 'artifact') return false;
    const { artifactId, parts } = event.artifact;
    if (hasRawPart(parts) || this.#open.has(artifactId)) return false;
    // Of an artifact that began before this stream, nobody knows whether bytes of it were held back.
    if (!event.append || this.#begun.has(artifactId)) this.#begin(artifactId, true);
    return true;
  }

  async *rewrite(event: StreamEvent): AsyncGenerator<StreamEvent> {
    switch (event.kind) {
      case 'message': {
        const { taskId, contextId } = event.message;
        const files = taskId === undefined ? new TaskFiles() : this.#scope.files(taskId);
        const message = withProducedArtifacts(
          await this.#outbound.message(event.message, files, contextId),
          files,
        );
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

  /** Nothing follows: what is there is all there is. */
  async *finish(): AsyncGenerator<StreamEvent> {
    for (const artifactId of this.#open.keys()) yield* this.#publish(artifactId);
  }

  async close(): Promise<void> {
    for (const gathering of this.#open.values()) await gathering.close();
    this.#open.clear();
  }

  async *#status(event: TaskStatusUpdateEvent): AsyncGenerator<StreamEvent> {
    if (isTerminalOrInterrupted(event.status.state)) yield* this.finish();
    const files = this.#scope.files(event.taskId);
    const status = await this.#outbound.status(event.status, event.contextId, files);
    const changed = status === event.status ? event : { ...event, status };
    yield isTerminal(status.state) ? withProducedArtifacts(changed, files) : changed;
  }

  async *#artifact(event: TaskArtifactUpdateEvent): AsyncGenerator<StreamEvent> {
    const { artifactId } = event.artifact;
    // What begins anew does not go on with what was there.
    if (!event.append) yield* this.#publish(artifactId);
    if (event.lastChunk && !event.append) {
      const files = this.#scope.files(event.taskId);
      this.#begin(artifactId, true);
      yield {
        ...event,
        artifact: await this.#outbound.artifact(event.artifact, event.contextId, files, true),
      };
    } else if (this.#open.has(artifactId) || hasRawPart(event.artifact.parts)) yield* this.#gather(event);
    else {
      this.#begin(artifactId, true);
      yield event;
    }
  }

  async *#gather(event: TaskArtifactUpdateEvent): AsyncGenerator<StreamEvent> {
    const { artifactId } = event.artifact;
    let gathering = this.#open.get(artifactId);
    if (!gathering) {
      const isTorn = event.append === true && !this.#begun.has(artifactId);
      gathering = new ArtifactAssembly(event, this.#scope.spooling, isTorn);
      this.#open.set(artifactId, gathering);
      if (!event.append || isTorn) this.#begin(artifactId, false);
      yield* this.#makeRoom();
    }
    const others = await gathering.take(event);
    if (!event.lastChunk) {
      if (others.length > 0) yield this.#passOn({ ...event, artifact: { ...event.artifact, parts: others } });
      return;
    }
    for await (const last of this.#publish(artifactId, others)) {
      yield event.sequence === undefined ? last : { ...last, sequence: event.sequence };
    }
  }

  /** Takes what is under way the longest for whole when there is too much. */
  async *#makeRoom(): AsyncGenerator<StreamEvent> {
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= Math.max(1, this.#scope.maxOpen)) return;
      yield* this.#publish(oldest);
    }
  }

  /** Stores what was gathered of an artifact and tells of it. @param others - what came with the last of it */
  async *#publish(artifactId: string, others: readonly Part[] = []): AsyncGenerator<TaskArtifactUpdateEvent> {
    const gathering = this.#open.get(artifactId);
    if (!gathering) return;
    this.#open.delete(artifactId);
    try {
      const whole = gathering.isTorn ? await this.#whole(artifactId, gathering) : undefined;
      if (whole) {
        yield whole;
        return;
      }
      const told = await gathering.publish(this.#scope, this.#scope.files(gathering.taskId));
      const artifact = { ...told.artifact, parts: [...others, ...told.artifact.parts] };
      yield this.#passOn({ ...told, artifact, append: true });
    } finally {
      await gathering.close();
    }
  }

  /** The artifact from the task itself, where the stream began in the middle of it. */
  async #whole(
    artifactId: string,
    { taskId }: ArtifactAssembly,
  ): Promise<TaskArtifactUpdateEvent | undefined> {
    try {
      const { contextId, artifacts } = await this.#scope.task(taskId);
      const found = artifacts?.find((artifact) => artifact.artifactId === artifactId);
      if (!found) return undefined;
      const joined = joinedPieces(found);
      const artifact = await this.#outbound.artifact(joined, contextId, this.#scope.files(taskId), true);
      return { kind: 'artifact', taskId, contextId, artifact, lastChunk: true };
    } catch (error) {
      const message = `The artifact ${artifactId} is not complete: its beginning could not be had`;
      this.#scope.log?.({ level: 'warn', message, taskId, error });
      return undefined;
    }
  }

  async *#task(event: TaskSnapshotEvent): AsyncGenerator<StreamEvent> {
    const { task } = event;
    if (isTerminalOrInterrupted(task.status.state)) yield* this.finish();
    const changed = await this.#outbound.task(task);
    const shown = new Set(changed.artifacts?.map(({ artifactId }) => artifactId));
    for (const artifact of task.artifacts ?? []) {
      const { artifactId } = artifact;
      if (!this.#begun.has(artifactId)) this.#begin(artifactId, shown.has(artifactId));
      const isHeldBack = hasRawPart(artifact.parts) && !isTerminalOrInterrupted(task.status.state);
      if (isHeldBack && !this.#open.has(artifactId)) await this.#takeUp(task, artifact, changed);
    }
    yield changed === task ? event : { ...event, task: changed };
    yield* this.#makeRoom();
  }

  /** Goes on with an artifact of which the task tells a part. */
  async #takeUp(task: Task, artifact: Artifact, shown: Task): Promise<void> {
    const kept = shown.artifacts?.find(({ artifactId }) => artifactId === artifact.artifactId)?.parts ?? [];
    const links = new Set(artifact.parts.map((part) => ('url' in part ? part.url : '')));
    // Files that are stored are whole.
    if (kept.some((part) => 'url' in part && !links.has(part.url))) return;
    const event: TaskArtifactUpdateEvent = {
      kind: 'artifact',
      taskId: task.id,
      contextId: task.contextId,
      artifact,
    };
    const gathering = new ArtifactAssembly(event, this.#scope.spooling, false);
    this.#open.set(artifact.artifactId, gathering);
    await gathering.take(event);
  }

  #begin(artifactId: string, isPassedOn: boolean): void {
    this.#begun.set(artifactId, isPassedOn);
    if (this.#begun.size <= maxRemembered) return;
    for (const oldest of this.#begun.keys()) {
      this.#begun.delete(oldest);
      return;
    }
  }

  /** Whether an event adds to its artifact depends on whether anything of it was passed on. */
  #passOn(event: TaskArtifactUpdateEvent): TaskArtifactUpdateEvent {
    const { append: _before, ...rest } = event;
    const isAdded = event.append === true && this.#begun.get(event.artifact.artifactId) === true;
    this.#begin(event.artifact.artifactId, true);
    return isAdded ? { ...rest, append: true } : rest;
  }
}

/** An artifact that came in chunks, of which only the first had to have a name. */
function joinedPieces(artifact: Artifact): Artifact {
  let name: string | undefined;
  const parts = artifact.parts.map((part) => {
    if (!('raw' in part)) return part;
    name = part.filename || name || `${artifact.artifactId}.${extensionFor(part.mediaType)}`;
    return { ...part, filename: name };
  });
  return { ...artifact, parts };
}
