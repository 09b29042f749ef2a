import { invalidField } from '../../protocol/errors.ts';
import type { TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { withCompat } from '../compat-metadata.ts';
import type { EventReader, EventWriter } from '../dialect.ts';
import { isSet, readMetadata, readObject, type WireObject, readId } from '../field-readers.ts';
import { readArtifactEventWith } from '../task.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readMessage, writeMessage } from './message.ts';
import {
  readStatus,
  readTask,
  taskReaders,
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
  if (isSet(artifact)) {
    const at = 'artifactUpdate';
    return readArtifactEventWith(taskReaders, readObject(artifact, at), at, mode);
  }
  throw invalidField('event', 'must have one of task, message, statusUpdate and artifactUpdate');
}

function readStatusEvent(wire: WireObject, mode: DecodeMode): TaskStatusUpdateEvent {
  const event: TaskStatusUpdateEvent = {
    kind: 'status',
    taskId: readId(wire.taskId ?? wire.task_id, 'statusUpdate.taskId', mode),
    contextId: taskReaders.contextId(wire, 'statusUpdate', mode),
    status: readStatus(wire.status, 'statusUpdate.status', mode),
  };
  let metadata = readMetadata(wire.metadata, 'statusUpdate.metadata');
  const stateName = unknownState(event.status, wire.status);
  if (stateName !== undefined) metadata = withCompat(metadata, { state: stateName });
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

/** Writes each event separately; 1.0 has no final event. */
export const eventWriter: EventWriter = { write: (event) => [writeEvent(event)], end: () => [] };

/** Reads each event separately. */
export const eventReader: EventReader = { read: (wire, mode) => [readEvent(wire, mode)] };
