import type { Artifact, Task, TaskStatus } from '../../protocol/task.ts';
import { readArtifactWith } from '../artifact.ts';
import { readObject, readString, readTimestamp, fieldPath, type WireObject } from '../field-readers.ts';
import { readTaskWith, type TaskReaders } from '../task.ts';
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
  return readTaskWith(taskReaders, value, at, mode);
}

/** Readers of the objects in a 0.3 task. */
export const taskReaders: TaskReaders = {
  contextId: readContextId,
  status: readStatus,
  artifact: readArtifact,
  message: readMessage,
  unknownState,
};

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
