import { invalidField } from '../../protocol/errors.ts';
import type {
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
  StreamEvent,
  TaskSnapshotEvent,
} from '../../protocol/event.ts';
import { isInterrupted, isTerminal } from '../../protocol/task.ts';
import { readCompat, withCompat, withoutCompat } from '../compat-metadata.ts';
import type { EventReader, EventWriter, StreamOpenContext } from '../dialect.ts';
import {
  readBoolean,
  readMetadata,
  readNonEmptyString,
  readObject,
  fieldPath,
  type WireObject,
} from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { unknownState } from '../v1_0/task.ts';
import { readMessage, writeMessage } from './message.ts';
import {
  readArtifact,
  readContextId,
  readStatus,
  readTask,
  writeArtifact,
  writeStatus,
  writeTask,
} from './task.ts';

/**
 * True when the stream ends with this status: the task is over, waits for input, or the peer that sent it said so.
 * A task that waits for authorization may go on by itself, so that state alone ends nothing.
 */
export function isFinalStatus({ status, metadata }: TaskStatusUpdateEvent): boolean {
  return (
    isTerminal(status.state) ||
    status.state === 'input-required' ||
    (metadata !== undefined && readCompat(metadata)?.final === true)
  );
}

/** The metadata of a status event without the mark that `final` says better. */
export function removeFinalMark({ metadata }: TaskStatusUpdateEvent): TaskStatusUpdateEvent['metadata'] {
  if (metadata === undefined || readCompat(metadata)?.final === undefined) return metadata;
  return withoutCompat(metadata, ['final']);
}

function writeStatusEvent(event: TaskStatusUpdateEvent, final: boolean): unknown {
  return {
    kind: 'status-update',
    taskId: event.taskId,
    contextId: event.contextId,
    status: writeStatus(event.status),
    final,
    metadata: removeFinalMark(event),
  };
}

/** Writes an event as 0.3 has it over JSON-RPC: `kind` tells what it is. */
function writeEvent(event: StreamEvent): unknown {
  switch (event.kind) {
    case 'status':
      return writeStatusEvent(event, isFinalStatus(event));
    case 'artifact':
      return {
        kind: 'artifact-update',
        taskId: event.taskId,
        contextId: event.contextId,
        artifact: writeArtifact(event.artifact),
        append: event.append,
        lastChunk: event.lastChunk,
        metadata: event.metadata,
      };
    case 'task':
      return writeTask(event.task);
    case 'message':
      return writeMessage(event.message);
  }
}

/** Reads an event in either form of 0.3, or without a tag as some servers send it. */
export function readEvent(value: unknown, reading: DecodeMode, at = 'event'): StreamEvent {
  const wire = readObject(value, at);
  switch (wire.kind) {
    case 'status-update':
      return readStatusEvent(wire, at, reading);
    case 'artifact-update':
      return readArtifactEvent(wire, at, reading);
    case 'task':
      return { kind: 'task', task: readTask(wire, at, reading) };
    case 'message':
      return { kind: 'message', message: readMessage(wire, at, reading) };
    default:
      return readWrapped(wire, reading) ?? readUntagged(wire, at, reading);
  }
}

function readWrapped(wire: WireObject, reading: DecodeMode): StreamEvent | undefined {
  const status = wire.statusUpdate ?? wire.status_update;
  if (isSet(status)) return readStatusEvent(readObject(status, 'statusUpdate'), 'statusUpdate', reading);
  const artifact = wire.artifactUpdate ?? wire.artifact_update;
  if (isSet(artifact))
    return readArtifactEvent(readObject(artifact, 'artifactUpdate'), 'artifactUpdate', reading);
  if (isSet(wire.task)) return { kind: 'task', task: readTask(wire.task, 'task', reading) };
  const message = wire.message ?? wire.msg;
  if (isSet(message)) return { kind: 'message', message: readMessage(message, 'message', reading) };
  return undefined;
}

function readUntagged(wire: WireObject, at: string, reading: DecodeMode): StreamEvent {
  if (isSet(wire.artifact)) return readArtifactEvent(wire, at, reading);
  if (isSet(wire.status)) {
    return isSet(wire.taskId) || isSet(wire.task_id)
      ? readStatusEvent(wire, at, reading)
      : { kind: 'task', task: readTask(wire, at, reading) };
  }
  if (isSet(wire.parts) || isSet(wire.content)) {
    return { kind: 'message', message: readMessage(wire, at, reading) };
  }
  throw invalidField(at, 'must be a task, a message, a status-update or an artifact-update');
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function readStatusEvent(wire: WireObject, at: string, reading: DecodeMode): TaskStatusUpdateEvent {
  const event: TaskStatusUpdateEvent = {
    kind: 'status',
    taskId: readNonEmptyString(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId')),
    contextId: readContextId(wire, at, reading),
    status: readStatus(wire.status, fieldPath(at, 'status'), reading),
  };
  const { state } = event.status;
  let metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const strange = unknownState(event.status, wire.status);
  if (strange !== undefined) metadata = withCompat(metadata, { state: strange });
  if (
    readBoolean(wire.final, fieldPath(at, 'final')) === true &&
    !isTerminal(state) &&
    !isInterrupted(state)
  ) {
    metadata = withCompat(metadata, { final: true });
  }
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

function readArtifactEvent(wire: WireObject, at: string, reading: DecodeMode): TaskArtifactUpdateEvent {
  const event: TaskArtifactUpdateEvent = {
    kind: 'artifact',
    taskId: readNonEmptyString(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId')),
    contextId: readContextId(wire, at, reading),
    artifact: readArtifact(wire.artifact, fieldPath(at, 'artifact'), reading),
  };
  const append = readBoolean(wire.append, fieldPath(at, 'append'));
  if (append !== undefined) event.append = append;
  const lastChunk = readBoolean(wire.lastChunk ?? wire.last_chunk, fieldPath(at, 'lastChunk'));
  if (lastChunk !== undefined) event.lastChunk = lastChunk;
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

/** 0.3 says each event as it is, and closes with a status that is `final`. */
export const eventWriter: EventWriter = {
  write: (event) => [writeEvent(event)],
  end: (last, wasWithin = false) =>
    last === undefined || (isFinalStatus(last) && !wasWithin) ? [] : [writeStatusEvent(last, true)],
};

/** Reads a stream of 0.3. If a peer begins with an update, a task is put before it: the model begins with one. */
export function eventReader(opening: StreamOpenContext): EventReader {
  let begun = false;
  return {
    read(wire, reading) {
      const event = readEvent(wire, reading);
      const isFirst = !begun;
      begun = true;
      if (!isFirst || event.kind === 'task' || event.kind === 'message') return [event];
      return [firstTask(event, opening, reading), event];
    },
  };
}

function firstTask(
  event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent,
  opening: StreamOpenContext,
  reading: DecodeMode,
): TaskSnapshotEvent {
  reading.losses?.push({ path: 'event', kind: 'guessed', note: 'the stream did not begin with its task' });
  const task: TaskSnapshotEvent['task'] = {
    id: event.taskId,
    contextId: event.contextId,
    // The status without its message: the event that follows brings it.
    status: { state: event.kind === 'status' ? event.status.state : 'working' },
  };
  if (event.kind === 'status' && event.status.timestamp !== undefined) {
    task.status.timestamp = event.status.timestamp;
  }
  if (opening.message !== undefined) task.history = [opening.message];
  return { kind: 'task', task };
}
