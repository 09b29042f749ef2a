import { invalidField } from '../../protocol/errors.ts';
import type { Artifact, Task, TaskState, TaskStatus } from '../../protocol/task.ts';
import { taskStates } from '../../protocol/task.ts';
import { readArtifactWith } from '../artifact.ts';
import { readObject, readTimestamp, fieldPath, type WireObject, readOptionalId } from '../field-readers.ts';
import { readTaskWith, type TaskReaders } from '../task.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readMessage, writeMessage } from './message.ts';
import { readParts, writeParts } from './part.ts';

/** State in the model → state in 1.0. */
export const wireStates: { readonly [state in TaskState]: string } = {
  unknown: 'TASK_STATE_UNSPECIFIED',
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  rejected: 'TASK_STATE_REJECTED',
  'auth-required': 'TASK_STATE_AUTH_REQUIRED',
};

const modelStates: ReadonlyMap<unknown, TaskState> = new Map<unknown, TaskState>([
  ...taskStates.map((state, number) => [number, state] as const),
  ...taskStates.map((state) => [wireStates[state], state] as const),
  ...taskStates.map((state) => [state, state] as const),
  // Spelling of the 0.3 protocol buffers.
  ['TASK_STATE_CANCELLED', 'canceled'],
]);

/** Reads a state by name, number or short name. */
export function readState(value: unknown, at: string, mode: DecodeMode): TaskState {
  const state = modelStates.get(value);
  if (state !== undefined) return state;
  if (!mode.lenient) throw invalidField(at, 'must be a task state such as TASK_STATE_WORKING');
  mode.losses?.push({
    path: at,
    kind: 'guessed',
    note: `read ${JSON.stringify(value)} as an unknown state`,
  });
  return 'unknown';
}

/** Reads a 1.0 status. */
export function readStatus(value: unknown, at: string, mode: DecodeMode): TaskStatus {
  const wire = readObject(value, at);
  const status: TaskStatus = { state: readState(wire.state, fieldPath(at, 'state'), mode) };
  if (wire.message !== undefined && wire.message !== null) {
    status.message = readMessage(wire.message, fieldPath(at, 'message'), mode);
  }
  const timestamp = readTimestamp(wire.timestamp, fieldPath(at, 'timestamp'), mode);
  if (timestamp !== undefined) status.timestamp = timestamp;
  return status;
}

/**
 * Returns the name of an unknown state, to be stored under the compat key. It remains there when the task is written:
 * an undefined state name would make the task invalid for strict readers, while `unknown` with the name in the metadata
 * does not.
 */
export function unknownState(status: TaskStatus, wire: unknown): string | undefined {
  if (status.state !== 'unknown') return undefined;
  const name = (wire as WireObject).state;
  return typeof name === 'string' && !modelStates.has(name) ? name : undefined;
}

/** Writes a 1.0 status. */
export function writeStatus(status: TaskStatus): unknown {
  return {
    state: wireStates[status.state],
    message: status.message && writeMessage(status.message),
    timestamp: status.timestamp,
  };
}

/** Reads a 1.0 artifact. */
export function readArtifact(value: unknown, at: string, mode: DecodeMode): Artifact {
  return readArtifactWith(readParts, value, at, mode);
}

/** Writes a 1.0 artifact. */
export function writeArtifact(artifact: Artifact): unknown {
  return {
    artifactId: artifact.artifactId,
    name: artifact.name,
    description: artifact.description,
    parts: writeParts(artifact.parts),
    metadata: artifact.metadata,
    extensions: artifact.extensions,
  };
}

/** Reads a 1.0 task. */
export function readTask(value: unknown, at: string, mode: DecodeMode): Task {
  return readTaskWith(taskReaders, value, at, mode);
}

/** Readers of the objects in a 1.0 task. */
export const taskReaders: TaskReaders = {
  contextId: (wire, at, mode) =>
    readOptionalId(wire.contextId ?? wire.context_id, fieldPath(at, 'contextId'), mode) ?? '',
  status: readStatus,
  artifact: readArtifact,
  message: readMessage,
  unknownState,
};

/** Writes a 1.0 task. */
export function writeTask(task: Task): unknown {
  return {
    id: task.id,
    contextId: task.contextId,
    status: writeStatus(task.status),
    artifacts: task.artifacts?.map(writeArtifact),
    history: task.history?.map(writeMessage),
    metadata: task.metadata,
  };
}
