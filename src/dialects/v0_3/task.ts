import type { Artifact, Task, TaskStatus } from '../../protocol/task.ts';
import { withCompat } from '../compat-metadata.ts';
import { readArtifactWith } from '../artifact.ts';
import {
  readArray,
  readMetadata,
  readNonEmptyString,
  readObject,
  readString,
  readTimestamp,
  fieldPath,
  type WireObject,
} from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readState, unknownState } from '../v1_0/task.ts';
import { readMessage, writeMessage } from './message.ts';
import { readParts, writePart } from './part.ts';

/** Reads a status in either form of 0.3. */
export function readStatus(value: unknown, at: string, reading: DecodeMode): TaskStatus {
  const wire = readObject(value, at);
  const status: TaskStatus = { state: readState(wire.state, fieldPath(at, 'state'), reading) };
  const message = wire.message ?? wire.update;
  if (message !== undefined && message !== null) {
    status.message = readMessage(message, fieldPath(at, 'message'), reading);
  }
  const timestamp = readTimestamp(wire.timestamp, fieldPath(at, 'timestamp'), reading);
  if (timestamp !== undefined) status.timestamp = timestamp;
  return status;
}

/** Writes a status as 0.3 has it over JSON-RPC: the states of the model are the words of 0.3. */
export function writeStatus(status: TaskStatus): unknown {
  return {
    state: status.state,
    message: status.message && writeMessage(status.message),
    timestamp: status.timestamp,
  };
}

/** Reads an artifact in either form of 0.3. */
export function readArtifact(value: unknown, at: string, reading: DecodeMode): Artifact {
  return readArtifactWith(readParts, value, at, reading);
}

/** Writes an artifact as 0.3 has it over JSON-RPC. */
export function writeArtifact(artifact: Artifact): unknown {
  return {
    artifactId: artifact.artifactId,
    name: artifact.name,
    description: artifact.description,
    parts: artifact.parts.map(writePart),
    metadata: artifact.metadata,
    extensions: artifact.extensions,
  };
}

/** Reads the context of a task or an event; 0.3 demands one, so its absence is noted. */
export function readContextId(wire: WireObject, at: string, reading: DecodeMode): string {
  const contextId = readString(wire.contextId ?? wire.context_id, fieldPath(at, 'contextId'));
  if (contextId !== undefined) return contextId;
  reading.losses?.push({ path: fieldPath(at, 'contextId'), kind: 'defaulted', note: 'no context was given' });
  return '';
}

/** Reads a task in either form of 0.3. */
export function readTask(value: unknown, at: string, reading: DecodeMode): Task {
  const wire = readObject(value, at);
  const task: Task = {
    id: readNonEmptyString(wire.id, fieldPath(at, 'id')),
    contextId: readContextId(wire, at, reading),
    status: readStatus(wire.status, fieldPath(at, 'status'), reading),
  };
  const { artifacts, history } = wire;
  if (artifacts !== undefined && artifacts !== null) {
    const list = readArray(artifacts, fieldPath(at, 'artifacts'));
    task.artifacts = list.map((each, i) =>
      readArtifact(each, `${fieldPath(at, 'artifacts')}[${i}]`, reading),
    );
  }
  if (history !== undefined && history !== null) {
    const list = readArray(history, fieldPath(at, 'history'));
    task.history = list.map((each, i) => readMessage(each, `${fieldPath(at, 'history')}[${i}]`, reading));
  }
  let metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const strange = unknownState(task.status, wire.status);
  if (strange !== undefined) metadata = withCompat(metadata, { state: strange });
  if (metadata !== undefined) task.metadata = metadata;
  return task;
}

/** Writes a task as 0.3 has it over JSON-RPC. */
export function writeTask(task: Task): unknown {
  return {
    kind: 'task',
    id: task.id,
    contextId: task.contextId,
    status: writeStatus(task.status),
    artifacts: task.artifacts?.map(writeArtifact),
    history: task.history?.map(writeMessage),
    metadata: task.metadata,
  };
}
