import { invalidField } from '../../protocol/errors.ts';
import type { ArtifactEvent, StatusEvent, StreamEvent, TaskEvent } from '../../protocol/event.ts';
import { isInterrupted, isTerminal } from '../../protocol/task.ts';
import { compatOf, withCompat, withoutCompat } from '../compat-metadata.ts';
import type { EventReader, EventWriter, StreamOpening } from '../dialect.ts';
import { readFlag, readMetadata, readName, readObject, under, type Wire } from '../field-readers.ts';
import type { Reading } from '../translation-loss.ts';
import { strangeState } from '../v1_0/task.ts';
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
export function isFinal({ status, metadata }: StatusEvent): boolean {
  return (
    isTerminal(status.state) ||
    status.state === 'input-required' ||
    (metadata !== undefined && compatOf(metadata)?.final === true)
  );
}

/** The metadata of a status event without the mark that `final` says better. */
export function withoutFinal({ metadata }: StatusEvent): StatusEvent['metadata'] {
  if (metadata === undefined || compatOf(metadata)?.final === undefined) return metadata;
  return withoutCompat(metadata, ['final']);
}

function writeStatusEvent(event: StatusEvent, final: boolean): unknown {
  return {
    kind: 'status-update',
    taskId: event.taskId,
    contextId: event.contextId,
    status: writeStatus(event.status),
    final,
    metadata: withoutFinal(event),
  };
}

/** Writes an event as 0.3 has it over JSON-RPC: `kind` tells what it is. */
function writeEvent(event: StreamEvent): unknown {
  switch (event.kind) {
    case 'status':
      return writeStatusEvent(event, isFinal(event));
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
export function readEvent(value: unknown, reading: Reading, at = 'event'): StreamEvent {
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

function readWrapped(wire: Wire, reading: Reading): StreamEvent | undefined {
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

function readUntagged(wire: Wire, at: string, reading: Reading): StreamEvent {
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

function readStatusEvent(wire: Wire, at: string, reading: Reading): StatusEvent {
  const event: StatusEvent = {
    kind: 'status',
    taskId: readName(wire.taskId ?? wire.task_id, under(at, 'taskId')),
    contextId: readContextId(wire, at, reading),
    status: readStatus(wire.status, under(at, 'status'), reading),
  };
  const { state } = event.status;
  let metadata = readMetadata(wire.metadata, under(at, 'metadata'));
  const strange = strangeState(event.status, wire.status);
  if (strange !== undefined) metadata = withCompat(metadata, { state: strange });
  if (readFlag(wire.final, under(at, 'final')) === true && !isTerminal(state) && !isInterrupted(state)) {
    metadata = withCompat(metadata, { final: true });
  }
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

function readArtifactEvent(wire: Wire, at: string, reading: Reading): ArtifactEvent {
  const event: ArtifactEvent = {
    kind: 'artifact',
    taskId: readName(wire.taskId ?? wire.task_id, under(at, 'taskId')),
    contextId: readContextId(wire, at, reading),
    artifact: readArtifact(wire.artifact, under(at, 'artifact'), reading),
  };
  const append = readFlag(wire.append, under(at, 'append'));
  if (append !== undefined) event.append = append;
  const lastChunk = readFlag(wire.lastChunk ?? wire.last_chunk, under(at, 'lastChunk'));
  if (lastChunk !== undefined) event.lastChunk = lastChunk;
  const metadata = readMetadata(wire.metadata, under(at, 'metadata'));
  if (metadata !== undefined) event.metadata = metadata;
  return event;
}

/** 0.3 says each event as it is, and closes with a status that is `final`. */
export const eventWriter: EventWriter = {
  write: (event) => [writeEvent(event)],
  end: (last, wasWithin = false) =>
    last === undefined || (isFinal(last) && !wasWithin) ? [] : [writeStatusEvent(last, true)],
};

/** Reads a stream of 0.3. If a peer begins with an update, a task is put before it: the model begins with one. */
export function eventReader(opening: StreamOpening): EventReader {
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

function firstTask(event: StatusEvent | ArtifactEvent, opening: StreamOpening, reading: Reading): TaskEvent {
  reading.losses?.push({ path: 'event', kind: 'guessed', note: 'the stream did not begin with its task' });
  const task: TaskEvent['task'] = {
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
