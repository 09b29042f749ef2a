import type { Artifact, Task, TaskStatus } from '../../protocol/task.ts';
import { withCompat } from '../compat-metadata.ts';
import { readArtifactWith } from '../artifact.ts';
import {
  readArray,
  readMetadata,
  readObject,
  readString,
  readTimestamp,
  fieldPath,
  type WireObject,
  readId,
} from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readState, unknownState } from '../v1_0/task.ts';
import { readMessage, writeMessage } from './message.ts';
import { readParts, writePart } from './part.ts';

/** Reads a status in the JSON or protocol buffer format of 0.3. */
export function readStatus(value: unknown, at: string, mode: DecodeMode): TaskStatus {
  const wire = readObject(value, at);
  const status: TaskStatus = { state: readState(wire.state, fieldPath(at, 'state'), mode) };
  const message = wire.message ?? wire.update;
  if (message !== undefined && message !== null) {
    status.message = readMessage(message, fieldPath(at, 'message'), mode);
  }
  const timestamp = readTimestamp(wire.timestamp, fieldPath(at, 'timestamp'), mode);
  if (timestamp !== undefined) status.timestamp = timestamp;
  return status;
}

/** Writes a 0.3 JSON-RPC status; the state names equal those of the model. */
export function writeStatus(status: TaskStatus): unknown {
  return {
    state: status.state,
    message: status.message && writeMessage(status.message),
    timestamp: status.timestamp,
  };
}

/** Reads an artifact in the JSON or protocol buffer format of 0.3. */
export function readArtifact(value: unknown, at: string, mode: DecodeMode): Artifact {
  return readArtifactWith(readParts, value, at, mode);
}

/** Writes a 0.3 JSON-RPC artifact. */
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

/** Reads the context id of a task or event and records a loss if it is missing, because 0.3 requires it. */
export function readContextId(wire: WireObject, at: string, mode: DecodeMode): string {
  const contextId = readString(wire.contextId ?? wire.context_id, fieldPath(at, 'contextId'));
  if (contextId !== undefined) return contextId;
  mode.losses?.push({ path: fieldPath(at, 'contextId'), kind: 'defaulted', note: 'missing context id' });
  return '';
}

/** Reads a task in the JSON or protocol buffer format of 0.3. */
export function readTask(value: unknown, at: string, mode: DecodeMode): Task {
  const wire = readObject(value, at);
  const task: Task = {
    id: readId(wire.id, fieldPath(at, 'id'), mode),
    contextId: readContextId(wire, at, mode),
    status: readStatus(wire.status, fieldPath(at, 'status'), mode),
  };
  const { artifacts, history } = wire;
  if (artifacts !== undefined && artifacts !== null) {
    const list = readArray(artifacts, fieldPath(at, 'artifacts'));
    task.artifacts = list.map((each, i) => readArtifact(each, `${fieldPath(at, 'artifacts')}[${i}]`, mode));
  }
  if (history !== undefined && history !== null) {
    const list = readArray(history, fieldPath(at, 'history'));
    task.history = list.map((each, i) => readMessage(each, `${fieldPath(at, 'history')}[${i}]`, mode));
  }
  let metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  const stateName = unknownState(task.status, wire.status);
  if (stateName !== undefined) metadata = withCompat(metadata, { state: stateName });
  if (metadata !== undefined) task.metadata = metadata;
  return task;
}

/** Writes a 0.3 JSON-RPC task. */
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
