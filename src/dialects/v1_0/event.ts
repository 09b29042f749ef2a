import { invalidField } from '../../protocol/errors.ts';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { withCompat } from '../compat-metadata.ts';
import type { EventReader, EventWriter } from '../dialect.ts';
import {
  isSet,
  readBoolean,
  readMetadata,
  readObject,
  fieldPath,
  type WireObject,
  readId,
  readOptionalId,
} from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readMessage, writeMessage } from './message.ts';
import {
  readArtifact,
  readStatus,
  readTask,
  unknownState,
  writeArtifact,
  writeStatus,
  writeTask,
} from './task.ts';

/** Writes an event in the one-key wrapper of 1.0. */
export function writeEvent(event: StreamEvent): unknown {
  switch (event.kind) {
    case 'status':
      return {
        statusUpdate: {
          taskId: event.taskId,
          contextId: event.contextId,
          status: writeStatus(event.status),
          metadata: event.metadata,
        },
      };
    case 'artifact':
      return {
        artifactUpdate: {
          taskId: event.taskId,
          contextId: event.contextId,
          artifact: writeArtifact(event.artifact),
          append: event.append,
          lastChunk: event.lastChunk,
          metadata: event.metadata,
        },
      };
    case 'task':
      return { task: writeTask(event.task) };
    case 'message':
      return { message: writeMessage(event.message) };
  }
}

/** Reads an event by its wrapper key. */
export function readEvent(value: unknown, mode: DecodeMode): StreamEvent {
  const wire = readObject(value, 'event');
  if (isSet(wire.task)) return { kind: 'task', task: readTask(wire.task, 'task', mode) };
  if (isSet(wire.message)) return { kind: 'message', message: readMessage(wire.message, 'message', mode) };
  const status = wire.statusUpdate ?? wire.status_update;
  if (isSet(status)) return readStatusEvent(readObject(status, 'statusUpdate'), mode);
  const artifact = wire.artifactUpdate ?? wire.artifact_update;
  if (isSet(artifact)) return readArtifactEvent(readObject(artifact, 'artifactUpdate'), mode);
  throw invalidField('event', 'must have one of task, message, statusUpdate and artifactUpdate');
}

function readIds(wire: WireObject, at: string, mode: DecodeMode): { taskId: string; contextId: string } {
  return {
    taskId: readId(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId'), mode),
    contextId: readOptionalId(wire.contextId ?? wire.context_id, fieldPath(at, 'contextId'), mode) ?? '',
  };
}

function readStatusEvent(wire: WireObject, mode: DecodeMode): TaskStatusUpdateEvent {
  const event: TaskStatusUpdateEvent = {
    kind: 'status',
    ...readIds(wire, 'statusUpdate', mode),
    status: readStatus(wire.status, 'statusUpdate.status', mode),
  };
  let metadata = readMetadata(wire.metadata, 'statusUpdate.metadata');
  const stateName = unknownState(event.status, wire.status);
  if (stateName !== undefined) metadata = withCompat(metadata, { state: stateName });
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

function readArtifactEvent(wire: WireObject, mode: DecodeMode): TaskArtifactUpdateEvent {
  const event: TaskArtifactUpdateEvent = {
    kind: 'artifact',
    ...readIds(wire, 'artifactUpdate', mode),
    artifact: readArtifact(wire.artifact, 'artifactUpdate.artifact', mode),
  };
  const append = readBoolean(wire.append, 'artifactUpdate.append');
  if (append !== undefined) event.append = append;
  const lastChunk = readBoolean(wire.lastChunk ?? wire.last_chunk, 'artifactUpdate.lastChunk');
  if (lastChunk !== undefined) event.lastChunk = lastChunk;
  const metadata = readMetadata(wire.metadata, 'artifactUpdate.metadata');
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

/** Writes each event separately; 1.0 has no final event. */
export const eventWriter: EventWriter = {
  write: (event) => [writeEvent(event)],
  end: () => [],
};

/** Reads each event separately. */
export const eventReader: EventReader = {
  read: (wire, mode) => [readEvent(wire, mode)],
};
