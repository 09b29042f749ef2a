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
  isSet,
  readBoolean,
  readMetadata,
  readObject,
  fieldPath,
  type WireObject,
  readId,
} from '../field-readers.ts';
import { readArtifactEventWith } from '../task.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { unknownState } from '../v1_0/task.ts';
import { readMessage, writeMessage } from './message.ts';
import {
  readContextId,
  readStatus,
  readTask,
  taskReaders,
  writeArtifact,
  writeStatus,
  writeTask,
} from './task.ts';

/**
 * Returns true if the stream ends with this status: terminal, input-required, or marked by the peer. An auth-required
 * task may continue by itself, so that state alone is not final.
 */
export function isFinalStatus({ status, metadata }: TaskStatusUpdateEvent): boolean {
  return (
    isTerminal(status.state) ||
    status.state === 'input-required' ||
    (metadata !== undefined && readCompat(metadata)?.final === true)
  );
}

/** Returns the metadata without the mark that `final` replaces. */
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

/** Writes a 0.3 JSON-RPC event, tagged by `kind`. */
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

/** Reads an event in the JSON or protocol buffer format of 0.3, or without a tag as some servers send it. */
export function readEvent(value: unknown, mode: DecodeMode, at = 'event'): StreamEvent {
  const wire = readObject(value, at);
  switch (wire.kind) {
    case 'status-update':
      return readStatusEvent(wire, at, mode);
    case 'artifact-update':
      return readArtifactEvent(wire, at, mode);
    case 'task':
      return { kind: 'task', task: readTask(wire, at, mode) };
    case 'message':
      return { kind: 'message', message: readMessage(wire, at, mode) };
    default:
      return readWrapped(wire, mode) ?? readUntagged(wire, at, mode);
  }
}

function readWrapped(wire: WireObject, mode: DecodeMode): StreamEvent | undefined {
  const status = wire.statusUpdate ?? wire.status_update;
  if (isSet(status)) return readStatusEvent(readObject(status, 'statusUpdate'), 'statusUpdate', mode);
  const artifact = wire.artifactUpdate ?? wire.artifact_update;
  if (isSet(artifact))
    return readArtifactEvent(readObject(artifact, 'artifactUpdate'), 'artifactUpdate', mode);
  if (isSet(wire.task)) return { kind: 'task', task: readTask(wire.task, 'task', mode) };
  const message = wire.message ?? wire.msg;
  if (isSet(message)) return { kind: 'message', message: readMessage(message, 'message', mode) };
  return undefined;
}

function readUntagged(wire: WireObject, at: string, mode: DecodeMode): StreamEvent {
  if (isSet(wire.artifact)) return readArtifactEvent(wire, at, mode);
  if (isSet(wire.status)) {
    return isSet(wire.taskId) || isSet(wire.task_id)
      ? readStatusEvent(wire, at, mode)
      : { kind: 'task', task: readTask(wire, at, mode) };
  }
  if (isSet(wire.parts) || isSet(wire.content)) {
    return { kind: 'message', message: readMessage(wire, at, mode) };
  }
  throw invalidField(at, 'must be a task, a message, a status-update or an artifact-update');
}

function readStatusEvent(wire: WireObject, at: string, mode: DecodeMode): TaskStatusUpdateEvent {
  const event: TaskStatusUpdateEvent = {
    kind: 'status',
    taskId: readId(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId'), mode),
    contextId: readContextId(wire, at, mode),
    status: readStatus(wire.status, fieldPath(at, 'status'), mode),
  };
  const { state } = event.status;
  let metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const stateName = unknownState(event.status, wire.status);
  if (stateName !== undefined) metadata = withCompat(metadata, { state: stateName });
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

function readArtifactEvent(wire: WireObject, at: string, mode: DecodeMode): TaskArtifactUpdateEvent {
  return readArtifactEventWith(taskReaders, wire, at, mode);
}

/** Creates a writer that writes each event separately and ends with a `final` status. */
export function finalStatusWriter(
  writeEvent: (event: StreamEvent) => unknown,
  writeStatusEvent: (event: TaskStatusUpdateEvent, final: boolean) => unknown,
): EventWriter {
  return {
    write: (event) => [writeEvent(event)],
    end: (last, wasWithin = false) =>
      last === undefined || (isFinalStatus(last) && !wasWithin) ? [] : [writeStatusEvent(last, true)],
  };
}

/** Writes the events of 0.3 JSON-RPC. */
export const eventWriter: EventWriter = finalStatusWriter(writeEvent, writeStatusEvent);

/** Reads a 0.3 stream. Inserts a task before the first update if the peer did not send one. */
export function eventReader(opening: StreamOpenContext): EventReader {
  let hasStarted = false;
  return {
    read(wire, mode) {
      const event = readEvent(wire, mode);
      const isFirst = !hasStarted;
      hasStarted = true;
      if (!isFirst || event.kind === 'task' || event.kind === 'message') return [event];
      return [firstTask(event, opening, mode), event];
    },
  };
}

function firstTask(
  event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent,
  opening: StreamOpenContext,
  mode: DecodeMode,
): TaskSnapshotEvent {
  mode.losses?.push({ path: 'event', kind: 'guessed', note: 'the stream did not start with a task' });
  const task: TaskSnapshotEvent['task'] = {
    id: event.taskId,
    contextId: event.contextId,
    // Without the message, which the following event contains.
    status: { state: event.kind === 'status' ? event.status.state : 'working' },
  };
  if (event.kind === 'status' && event.status.timestamp !== undefined) {
    task.status.timestamp = event.status.timestamp;
  }
  if (opening.message !== undefined) task.history = [opening.message];
  return { kind: 'task', task };
}
