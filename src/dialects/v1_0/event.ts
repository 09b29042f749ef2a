import { invalidField } from '../../protocol/errors.ts';
import type { ArtifactEvent, StatusEvent, StreamEvent } from '../../protocol/event.ts';
import { withCompat } from '../compat-metadata.ts';
import type { EventReader, EventWriter } from '../dialect.ts';
import { readFlag, readMetadata, readName, readObject, readText, under, type Wire } from '../field-readers.ts';
import type { Reading } from '../translation-loss.ts';
import { readMessage, writeMessage } from './message.ts';
import {
  readArtifact,
  readStatus,
  readTask,
  strangeState,
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
export function readEvent(value: unknown, reading: Reading): StreamEvent {
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

function readIds(wire: Wire, at: string): { taskId: string; contextId: string } {
  return {
    taskId: readName(wire.taskId ?? wire.task_id, under(at, 'taskId')),
    contextId: readText(wire.contextId ?? wire.context_id, under(at, 'contextId')) ?? '',
  };
}

function readStatusEvent(wire: Wire, reading: Reading): StatusEvent {
  const event: StatusEvent = {
    kind: 'status',
    ...readIds(wire, 'statusUpdate'),
    status: readStatus(wire.status, 'statusUpdate.status', reading),
  };
  let metadata = readMetadata(wire.metadata, 'statusUpdate.metadata');
  const strange = strangeState(event.status, wire.status);
  if (strange !== undefined) metadata = withCompat(metadata, { state: strange });
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

function readArtifactEvent(wire: Wire, reading: Reading): ArtifactEvent {
  const event: ArtifactEvent = {
    kind: 'artifact',
    ...readIds(wire, 'artifactUpdate'),
    artifact: readArtifact(wire.artifact, 'artifactUpdate.artifact', reading),
  };
  const append = readFlag(wire.append, 'artifactUpdate.append');
  if (append !== undefined) event.append = append;
  const lastChunk = readFlag(wire.lastChunk ?? wire.last_chunk, 'artifactUpdate.lastChunk');
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
