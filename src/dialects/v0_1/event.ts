import { invalidField } from '../../protocol/errors.ts';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import type { Metadata } from '../../protocol/part.ts';
import { type Artifact, isTerminal, type Task, type TaskStatus } from '../../protocol/task.ts';
import { readCompat, withCompat, withoutCompat } from '../compat-metadata.ts';
import type { EventReader, EventWriter, StreamOpenContext } from '../dialect.ts';
import {
  isSet,
  readBoolean,
  readMetadata,
  readObject,
  type WireObject,
  readId,
  readOptionalId,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { ArtifactIndex, artifactIdForIndex } from './artifact-index.ts';
import type { MessageScope } from './message.ts';
import { unsupportedState, readArtifact, readStatus, readTask, writeArtifact, writeStatus } from './task.ts';
import { readMessageFromTask, writeMessageAsTask } from './message-as-task.ts';

const eventNames = ['contextId', 'state', 'wrappedMessage'];

/** Encodes a stream in the 0.1 format: only status and artifact events, the last one marked `final`. */
class Writer implements EventWriter {
  #indexes = new ArtifactIndex();
  /** The last artifact, and earlier ones: most streams have one artifact and need no set. */
  #current: string | undefined = undefined;
  #earlier: Set<string> | undefined = undefined;
  #contextId = '';
  #last: WireObject | undefined;

  /** @param task - snapshot of a resumed stream, whose artifacts already have indexes. */
  constructor(task?: Task) {
    for (const { artifactId } of task?.artifacts ?? []) this.#indexes.of(artifactId);
  }

  write(event: StreamEvent, losses?: LossList): readonly unknown[] {
    switch (event.kind) {
      case 'status':
        return [this.#status(event, isLast(event.status), losses)];
      case 'artifact':
        return [this.#artifact(event, losses)];
      case 'task':
        return this.#task(event.task, losses);
      case 'message': {
        const { sessionId: _session, ...wire } = writeMessageAsTask(event.message, losses);
        this.#last = { ...wire, final: true };
        return [this.#last];
      }
    }
  }

  /** Most events are state changes, which are concatenated in a third of the time of `JSON.stringify`. */
  texts(event: StreamEvent): readonly string[] {
    const wires = this.write(event) as readonly WireObject[];
    if (event.kind === 'message') return wires.map((wire) => JSON.stringify(wire));
    return wires.map((wire) => ('artifact' in wire ? JSON.stringify(wire) : serializeStatus(wire)));
  }

  /** 0.1 clients wait for `final`; repeats the last status with it if necessary. */
  end(last: TaskStatusUpdateEvent | undefined): readonly unknown[] {
    if (this.#last?.final === true) return [];
    if (this.#last) return [(this.#last = { ...this.#last, final: true })];
    return last ? [this.#status(last, true, undefined)] : [];
  }

  #status(event: Omit<TaskStatusUpdateEvent, 'kind'>, final: boolean, losses: LossList): WireObject {
    const stateName = unsupportedState(event.status.state, 'status', losses);
    const metadata = this.#withContext(event);
    this.#last = {
      id: event.taskId,
      status: writeStatus(event.status, 'status', losses, event),
      final,
      metadata: stateName === undefined ? metadata : withCompat(metadata, { state: stateName }),
    };
    return this.#last;
  }

  #artifact(event: Omit<TaskArtifactUpdateEvent, 'kind'>, losses: LossList): WireObject {
    const { artifactId } = event.artifact;
    const isNew = this.#isNew(artifactId);
    const index = this.#indexes.of(artifactId);
    // The client remembers the id, so only the first chunk carries it.
    const carriesId = isNew && artifactId !== artifactIdForIndex(index);
    const artifact = writeArtifact(event.artifact, 'artifact', losses, { index, carriesId });
    artifact.append = event.append;
    artifact.lastChunk = event.lastChunk;
    return { id: event.taskId, artifact, metadata: this.#withContext(event) };
  }

  #isNew(artifactId: string): boolean {
    if (artifactId === this.#current) return false;
    const isNew = !this.#earlier?.has(artifactId);
    if (this.#current !== undefined) (this.#earlier ??= new Set()).add(this.#current);
    this.#current = artifactId;
    return isNew;
  }

  /** Writes a snapshot, which 0.1 does not have, as artifact and status events; the status is last. */
  #task(task: Task, losses: LossList): WireObject[] {
    const { id: taskId, contextId, status: now, metadata } = task;
    if (task.history && task.history.length > 0) {
      losses?.push({ path: 'task.history', kind: 'dropped', note: '0.1 events have no history' });
    }
    const final = isTerminal(now.state);
    const wire: WireObject[] = [];
    const status = { taskId, contextId, status: now, metadata };
    if (!final) wire.push(this.#status(status, false, losses));
    for (const artifact of task.artifacts ?? []) {
      wire.push(this.#artifact({ taskId, contextId, artifact, append: false, lastChunk: true }, losses));
    }
    if (final) wire.push(this.#status(status, true, losses));
    return wire;
  }

  /** Sends the context once. Without it clients use the task id as context. */
  #withContext({
    taskId,
    contextId,
    metadata,
  }: MessageScope & { metadata?: Metadata }): Metadata | undefined {
    if (contextId === this.#contextId || contextId === '') return metadata;
    const isAssumed = this.#contextId === '' && contextId === taskId;
    this.#contextId = contextId;
    return isAssumed ? metadata : withCompat(metadata, { contextId });
  }
}

/** Serializes a status event with exactly the output of `JSON.stringify`. */
function serializeStatus(wire: WireObject): string {
  const { state, message, timestamp } = wire.status as WireObject;
  if (message !== undefined) return JSON.stringify(wire);
  const time = timestamp === undefined ? '' : `,"timestamp":${JSON.stringify(timestamp)}`;
  const rest = wire.metadata === undefined ? '' : `,"metadata":${JSON.stringify(wire.metadata)}`;
  return `{"id":${JSON.stringify(wire.id)},"status":{"state":"${state as string}"${time}},"final":${wire.final as boolean}${rest}}`;
}

/** Returns true if no event follows: terminal or input-required. */
function isLast(status: TaskStatus): boolean {
  return isTerminal(status.state) || status.state === 'input-required';
}

/** Decodes a 0.1 stream, which has no snapshot, to a stream that starts with one. */
class Reader implements EventReader {
  #opening: StreamOpenContext;
  #contextId: string | undefined;
  #hasBegun = false;
  #last: TaskStatus | undefined;
  /** Metadata of the last status as JSON. */
  #lastMetadata: string | undefined;
  #ids = new Map<number, string>();

  constructor(opening: StreamOpenContext) {
    this.#opening = opening;
    this.#contextId = opening.contextId;
  }

  read(value: unknown, mode: DecodeMode): readonly StreamEvent[] {
    const wire = readObject(value, 'event');
    if (isSet(wire.status)) {
      const message = this.#hasBegun ? undefined : readMessageFromTask(wire, 'event', mode);
      if (message) return [{ kind: 'message', message }];
      if (isSet(wire.artifacts) || isSet(wire.history)) return this.#snapshot(wire, mode);
      return this.#status(wire, mode);
    }
    if (isSet(wire.artifact)) return this.#artifact(wire, mode);
    throw invalidField('event', 'must have a status or an artifact');
  }

  /** Some servers send the task as the last event. */
  #snapshot(wire: WireObject, mode: DecodeMode): readonly StreamEvent[] {
    const task = readTask(wire, 'event', mode);
    if (!isSet(wire.sessionId) && this.#contextId) task.contextId = this.#contextId;
    this.#contextId = task.contextId;
    this.#hasBegun = true;
    this.#last = task.status;
    return [{ kind: 'task', task }];
  }

  #status(wire: WireObject, mode: DecodeMode): readonly StreamEvent[] {
    const { metadata, ...ids } = this.#envelope(wire, mode);
    const carried = readCompat(readMetadata(wire.metadata, 'event.metadata'));
    const status = readStatus(wire.status, 'event.status', mode, { ...ids, carried });
    if (!this.#hasBegun) {
      const { message, ...silent } = status;
      if (!message || isLast(status)) return [this.#begin(ids, status, metadata)];
      // The model starts with a task; the status message becomes a separate event, as in other versions.
      const snapshot = this.#begin(ids, silent, metadata);
      this.#last = status;
      return [snapshot, { kind: 'status', ...ids, status }];
    }
    // `final` may come with a repeated status.
    const metadataJson = metadata && JSON.stringify(metadata);
    if (
      wire.final === true &&
      this.#last &&
      isSame(this.#last, status) &&
      metadataJson === this.#lastMetadata
    )
      return [];
    this.#last = status;
    this.#lastMetadata = metadataJson;
    const event: TaskStatusUpdateEvent = { kind: 'status', ...ids, status };
    if (metadata !== undefined) event.metadata = metadata;
    return [event];
  }

  #artifact(wire: WireObject, mode: DecodeMode): readonly StreamEvent[] {
    const { metadata, ...ids } = this.#envelope(wire, mode);
    const inner = readObject(wire.artifact, 'event.artifact');
    const artifact: Artifact = readArtifact(inner, 'event.artifact', mode, (index, carried) => {
      if (carried !== undefined) this.#ids.set(index, carried);
      return this.#ids.get(index) ?? artifactIdForIndex(index);
    });
    const event: TaskArtifactUpdateEvent = { kind: 'artifact', ...ids, artifact };
    const append = readBoolean(inner.append, 'event.artifact.append');
    if (append !== undefined) event.append = append;
    const lastChunk = readBoolean(inner.lastChunk, 'event.artifact.lastChunk');
    if (lastChunk !== undefined) event.lastChunk = lastChunk;
    if (metadata !== undefined) event.metadata = metadata;
    return this.#hasBegun ? [event] : [this.#begin(ids, { state: 'working' }, undefined), event];
  }

  #begin(ids: MessageScope, status: TaskStatus, metadata: Metadata | undefined): StreamEvent {
    this.#hasBegun = true;
    this.#last = status;
    const task: Task = { id: ids.taskId, contextId: ids.contextId, status };
    if (this.#opening.message) task.history = [this.#opening.message];
    if (metadata !== undefined) task.metadata = metadata;
    return { kind: 'task', task };
  }

  #envelope(wire: WireObject, mode: DecodeMode): MessageScope & { metadata: Metadata | undefined } {
    const taskId = readId(wire.id ?? this.#opening.taskId, 'event.id', mode);
    const metadata = readMetadata(wire.metadata, 'event.metadata');
    const carried = readCompat(metadata);
    if (carried)
      this.#contextId = readOptionalId(carried.contextId, 'event.metadata', mode) ?? this.#contextId;
    return {
      taskId,
      contextId: this.#contextId || taskId,
      metadata: carried ? withoutCompat(metadata, eventNames) : metadata,
    };
  }
}

function isSame(before: TaskStatus, now: TaskStatus): boolean {
  return (
    before.state === now.state &&
    before.timestamp === now.timestamp &&
    before.message?.messageId === now.message?.messageId
  );
}

/** Creates a stream writer. */
export const eventWriter = (task?: Task): EventWriter => new Writer(task);

/** Creates a stream reader. */
export const eventReader = (opening: StreamOpenContext): EventReader => new Reader(opening);

/** Reads a push notification: a task, or the short form in the examples of 0.1. */
export function readNotification(value: unknown, mode: DecodeMode): StreamEvent {
  const wire = readObject(value, 'notification');
  if (isSet(wire.id) || !isSet(wire.taskId)) {
    return { kind: 'task', task: readTask(wire, 'notification', mode) };
  }
  const taskId = readId(wire.taskId, 'notification.taskId', mode);
  const ids = { taskId, contextId: readOptionalId(wire.sessionId, 'notification.sessionId', mode) ?? taskId };
  const status = typeof wire.status === 'string' ? { state: wire.status } : wire.status;
  const carried = readCompat(readMetadata(wire.metadata, 'notification.metadata'));
  return {
    kind: 'status',
    ...ids,
    status: readStatus(status, 'notification.status', mode, { ...ids, carried }),
  };
}
