import { invalidField } from '../../protocol/errors.ts';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import type { Metadata } from '../../protocol/part.ts';
import { type Artifact, isTerminal, type Task, type TaskStatus } from '../../protocol/task.ts';
import { readCompat, withCompat, withoutCompat } from '../compat-metadata.ts';
import type { EventReader, EventWriter, StreamOpenContext } from '../dialect.ts';
import {
  readBoolean,
  readMetadata,
  readNonEmptyString,
  readObject,
  readOptionalText,
  type WireObject,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { ArtifactIndex, artifactIdForIndex } from './artifact-index.ts';
import type { MessageScope } from './message.ts';
import { unsupportedState, readArtifact, readStatus, readTask, writeArtifact, writeStatus } from './task.ts';
import { readMessageFromTask, writeMessageAsTask } from './message-as-task.ts';

const eventNames = ['contextId', 'state', 'wrappedMessage'];

/** Writes one stream as 0.1 has it: status and artifact events only, the last one marked. */
class Writer implements EventWriter {
  #indexes = new ArtifactIndex();
  /** The artifact that was told of last, and those before it: most streams have one, which needs no set. */
  #current: string | undefined = undefined;
  #told: Set<string> | undefined = undefined;
  #contextId = '';
  #last: WireObject | undefined;

  /** In the middle of a task its artifacts have their numbers already. */
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

  /** Most of what is written are changes of state, which are put together from their pieces in a third of the time. */
  texts(event: StreamEvent): readonly string[] {
    const wires = this.write(event) as readonly WireObject[];
    if (event.kind === 'message') return wires.map((wire) => JSON.stringify(wire));
    return wires.map((wire) => ('artifact' in wire ? JSON.stringify(wire) : statusText(wire)));
  }

  /** Readers of 0.1 wait for a mark; the newest status says it again if it went out without. */
  end(last: TaskStatusUpdateEvent | undefined): readonly unknown[] {
    if (this.#last?.final === true) return [];
    if (this.#last) return [(this.#last = { ...this.#last, final: true })];
    return last ? [this.#status(last, true, undefined)] : [];
  }

  #status(event: Omit<TaskStatusUpdateEvent, 'kind'>, final: boolean, losses: LossList): WireObject {
    const folded = unsupportedState(event.status.state, 'status', losses);
    const metadata = this.#withContext(event);
    this.#last = {
      id: event.taskId,
      status: writeStatus(event.status, 'status', losses, event),
      final,
      metadata: folded === undefined ? metadata : withCompat(metadata, { state: folded }),
    };
    return this.#last;
  }

  #artifact(event: Omit<TaskArtifactUpdateEvent, 'kind'>, losses: LossList): WireObject {
    const { artifactId } = event.artifact;
    const isNew = this.#isNew(artifactId);
    const index = this.#indexes.of(artifactId);
    // The reader of a stream remembers an id, so that not every chunk has to carry it.
    const carriesId = isNew && artifactId !== artifactIdForIndex(index);
    const artifact = writeArtifact(event.artifact, 'artifact', losses, { index, carriesId });
    artifact.append = event.append;
    artifact.lastChunk = event.lastChunk;
    return { id: event.taskId, artifact, metadata: this.#withContext(event) };
  }

  #isNew(artifactId: string): boolean {
    if (artifactId === this.#current) return false;
    const isNew = !this.#told?.has(artifactId);
    if (this.#current !== undefined) (this.#told ??= new Set()).add(this.#current);
    this.#current = artifactId;
    return isNew;
  }

  /** 0.1 has no event for a whole task, so it is told piece by piece; what finishes it comes last. */
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

  /** The context goes along once; a reader keeps it, and takes the name of the task for it otherwise. */
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

/** The text of a status event, the same as `JSON.stringify` of it to the letter. */
function statusText(wire: WireObject): string {
  const { state, message, timestamp } = wire.status as WireObject;
  if (message !== undefined) return JSON.stringify(wire);
  const time = timestamp === undefined ? '' : `,"timestamp":${JSON.stringify(timestamp)}`;
  const rest = wire.metadata === undefined ? '' : `,"metadata":${JSON.stringify(wire.metadata)}`;
  return `{"id":${JSON.stringify(wire.id)},"status":{"state":"${state as string}"${time}},"final":${wire.final as boolean}${rest}}`;
}

/** True when no event follows: the task ended, or waits for words. */
function isLast(status: TaskStatus): boolean {
  return isTerminal(status.state) || status.state === 'input-required';
}

/** Reads one stream of 0.1, which never tells the whole task, as a stream that begins with it. */
class Reader implements EventReader {
  #opening: StreamOpenContext;
  #contextId: string | undefined;
  #hasBegun = false;
  #last: TaskStatus | undefined;
  /** The metadata of the last status, as text. */
  #said: string | undefined;
  #ids = new Map<number, string>();

  constructor(opening: StreamOpenContext) {
    this.#opening = opening;
    this.#contextId = opening.contextId;
  }

  read(value: unknown, reading: DecodeMode): readonly StreamEvent[] {
    const wire = readObject(value, 'event');
    if (isSet(wire.status)) {
      const message = this.#hasBegun ? undefined : readMessageFromTask(wire, 'event', reading);
      if (message) return [{ kind: 'message', message }];
      if (isSet(wire.artifacts) || isSet(wire.history)) return this.#whole(wire, reading);
      return this.#status(wire, reading);
    }
    if (isSet(wire.artifact)) return this.#artifact(wire, reading);
    throw invalidField('event', 'must have a status or an artifact');
  }

  /** Some servers close with the task itself. */
  #whole(wire: WireObject, reading: DecodeMode): readonly StreamEvent[] {
    const task = readTask(wire, 'event', reading);
    if (!isSet(wire.sessionId) && this.#contextId) task.contextId = this.#contextId;
    this.#contextId = task.contextId;
    this.#hasBegun = true;
    this.#last = task.status;
    return [{ kind: 'task', task }];
  }

  #status(wire: WireObject, reading: DecodeMode): readonly StreamEvent[] {
    const { metadata, ...ids } = this.#envelope(wire);
    const carried = readCompat(readMetadata(wire.metadata, 'event.metadata'));
    const status = readStatus(wire.status, 'event.status', reading, { ...ids, carried });
    if (!this.#hasBegun) {
      const { message, ...silent } = status;
      if (!message || isLast(status)) return [this.#begin(ids, status, metadata)];
      // The model begins with a task; what was said on the way is an event of its own, as others tell it.
      const begun = this.#begin(ids, silent, metadata);
      this.#last = status;
      return [begun, { kind: 'status', ...ids, status }];
    }
    // The mark of the end may come with a status that was told before.
    const said = metadata && JSON.stringify(metadata);
    if (wire.final === true && this.#last && isSame(this.#last, status) && said === this.#said) return [];
    this.#last = status;
    this.#said = said;
    const event: TaskStatusUpdateEvent = { kind: 'status', ...ids, status };
    if (metadata !== undefined) event.metadata = metadata;
    return [event];
  }

  #artifact(wire: WireObject, reading: DecodeMode): readonly StreamEvent[] {
    const { metadata, ...ids } = this.#envelope(wire);
    const inner = readObject(wire.artifact, 'event.artifact');
    const artifact: Artifact = readArtifact(inner, 'event.artifact', reading, (index, carried) => {
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

  #envelope(wire: WireObject): MessageScope & { metadata: Metadata | undefined } {
    const taskId = readNonEmptyString(wire.id ?? this.#opening.taskId, 'event.id');
    const metadata = readMetadata(wire.metadata, 'event.metadata');
    const carried = readCompat(metadata);
    if (carried) this.#contextId = readOptionalText(carried.contextId, 'event.metadata') ?? this.#contextId;
    return {
      taskId,
      contextId: this.#contextId || taskId,
      metadata: carried ? withoutCompat(metadata, eventNames) : metadata,
    };
  }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isSame(before: TaskStatus, now: TaskStatus): boolean {
  return (
    before.state === now.state &&
    before.timestamp === now.timestamp &&
    before.message?.messageId === now.message?.messageId
  );
}

/** Begins to write a stream. */
export const eventWriter = (task?: Task): EventWriter => new Writer(task);

/** Begins to read a stream. */
export const eventReader = (opening: StreamOpenContext): EventReader => new Reader(opening);

/** Reads the body of a push notification: a task, or the few words that 0.1 shows as an example. */
export function readNotification(value: unknown, reading: DecodeMode): StreamEvent {
  const wire = readObject(value, 'notification');
  if (isSet(wire.id) || !isSet(wire.taskId)) {
    return { kind: 'task', task: readTask(wire, 'notification', reading) };
  }
  const taskId = readNonEmptyString(wire.taskId, 'notification.taskId');
  const ids = { taskId, contextId: readOptionalText(wire.sessionId, 'notification.sessionId') ?? taskId };
  const status = typeof wire.status === 'string' ? { state: wire.status } : wire.status;
  const carried = readCompat(readMetadata(wire.metadata, 'notification.metadata'));
  return {
    kind: 'status',
    ...ids,
    status: readStatus(status, 'notification.status', reading, { ...ids, carried }),
  };
}
