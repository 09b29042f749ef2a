import { invalidField } from '../../protocol/errors.ts';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { withCompat } from '../compat-metadata.ts';
import type { EventReader, EventWriter } from '../dialect.ts';
import {
  readBoolean,
  readMetadata,
  readNonEmptyString,
  readObject,
  readOptionalText,
  fieldPath,
  type WireObject,
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

/** Writes an event as the one-key wrapper of 1.0. */
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

/** Reads an event by its one key. */
export function readEvent(value: unknown, reading: DecodeMode): StreamEvent {
  const wire = readObject(value, 'event');
  if (isSet(wire.task)) return { kind: 'task', task: readTask(wire.task, 'task', reading) };
  if (isSet(wire.message)) return { kind: 'message', message: readMessage(wire.message, 'message', reading) };
  const status = wire.statusUpdate ?? wire.status_update;
  if (isSet(status)) return readStatusEvent(readObject(status, 'statusUpdate'), reading);
  const artifact = wire.artifactUpdate ?? wire.artifact_update;
  if (isSet(artifact)) return readArtifactEvent(readObject(artifact, 'artifactUpdate'), reading);
  throw invalidField('event', 'must have one of task, message, statusUpdate and artifactUpdate');
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function readIds(wire: WireObject, at: string): { taskId: string; contextId: string } {
  return {
    taskId: readNonEmptyString(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId')),
    contextId: readOptionalText(wire.contextId ?? wire.context_id, fieldPath(at, 'contextId')) ?? '',
  };
}

function readStatusEvent(wire: WireObject, reading: DecodeMode): TaskStatusUpdateEvent {
  const event: TaskStatusUpdateEvent = {
    kind: 'status',
    ...readIds(wire, 'statusUpdate'),
    status: readStatus(wire.status, 'statusUpdate.status', reading),
  };
  let metadata = readMetadata(wire.metadata, 'statusUpdate.metadata');
  const strange = unknownState(event.status, wire.status);
  if (strange !== undefined) metadata = withCompat(metadata, { state: strange });
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

function readArtifactEvent(wire: WireObject, reading: DecodeMode): TaskArtifactUpdateEvent {
  const event: TaskArtifactUpdateEvent = {
    kind: 'artifact',
    ...readIds(wire, 'artifactUpdate'),
    artifact: readArtifact(wire.artifact, 'artifactUpdate.artifact', reading),
  };
  const append = readBoolean(wire.append, 'artifactUpdate.append');
  if (append !== undefined) event.append = append;
  const lastChunk = readBoolean(wire.lastChunk ?? wire.last_chunk, 'artifactUpdate.lastChunk');
  if (lastChunk !== undefined) event.lastChunk = lastChunk;
  const metadata = readMetadata(wire.metadata, 'artifactUpdate.metadata');
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

/** 1.0 says each event as it is, and closes without a word. */
export const eventWriter: EventWriter = {
  write: (event) => [writeEvent(event)],
  end: () => [],
};

/** 1.0 sends each event as it is. */
export const eventReader: EventReader = {
  read: (wire, reading) => [readEvent(wire, reading)],
};
