import type { Artifact, Task, TaskState, TaskStatus } from '../../protocol/task.ts';
import { wireStates as newerStates } from '../v1_0/task.ts';
import { writeMessage } from './message.ts';
import { writePart } from './part.ts';

/** State in the model → state in the protocol buffers of 0.3. */
export const wireStates: { readonly [state in TaskState]: string } = {
  ...newerStates,
  canceled: 'TASK_STATE_CANCELLED',
};

/** Writes a status in the 0.3 protocol buffer format. */
export function writeStatus(status: TaskStatus): unknown {
  return {
    state: wireStates[status.state],
    message: status.message && writeMessage(status.message),
    timestamp: status.timestamp,
  };
}

/** Writes an artifact in the 0.3 protocol buffer format, where parts are named `parts`. */
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

/** Writes a task in the 0.3 protocol buffer format. */
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
