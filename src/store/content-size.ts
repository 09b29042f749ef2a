import { A2AError } from '../protocol/errors.ts';
import type { Message } from '../protocol/message.ts';
import type { Part, TextPart } from '../protocol/part.ts';
import type { TaskChange } from '../protocol/reduce.ts';
import type { Artifact, Task } from '../protocol/task.ts';

/** Approximate memory use of an object without its strings, in bytes. */
const objectSize = 64;
/** Approximate memory use of a task without its content: record, log and index entries, in bytes. */
const emptyTaskSize = 400;

/** Returns the approximate memory use of a task, in bytes. A character counts as one byte. */
export function taskSize({ id, contextId, status, artifacts, history, metadata }: Task): number {
  let size = emptyTaskSize + id.length + contextId.length;
  if (status.message) size += messageSize(status.message);
  if (artifacts) for (const artifact of artifacts) size += artifactSize(artifact);
  if (history) for (const message of history) size += messageSize(message);
  return metadata ? size + jsonSize(metadata) : size;
}

/** Returns the approximate memory use of a change, in bytes. A character counts as one byte. */
export function changeSize(change: TaskChange): number {
  switch (change.kind) {
    case 'task':
      return taskSize(change.task);
    case 'artifact':
      return objectSize + artifactSize(change.artifact) + (change.metadata ? jsonSize(change.metadata) : 0);
    case 'status': {
      const { message } = change.status;
      const size = message ? 2 * objectSize + messageSize(message) : 2 * objectSize;
      return change.metadata ? size + jsonSize(change.metadata) : size;
    }
    default:
      return messageSize(change.message);
  }
}

/** Returns true for a change that must be stored even if there is no room: it ends the task or says why. */
export function isSmallStatus(change: TaskChange, size: number): boolean {
  return change.kind === 'status' && size < 16_384;
}

/** Creates the error of a task that exceeds the maximum size. */
export function taskTooLargeError(taskId: string, maxTaskBytes: number): A2AError {
  return new A2AError('RESOURCE_EXHAUSTED', `The task would be larger than ${maxTaskBytes} bytes`, {
    details: { taskId },
    hint: 'Raise maxTaskBytes of the task store, or keep large files in an artifact store.',
  });
}

/** Creates the error of a change for which there is no room. */
export function storeFullError(): A2AError {
  return new A2AError('RESOURCE_EXHAUSTED', 'The task store is full of unfinished tasks', {
    hint: 'Finish or cancel tasks, or raise maxBytes and maxOwnerBytes of the task store.',
  });
}

function artifactSize({ artifactId, parts, description, extensions, metadata }: Artifact): number {
  let size = objectSize + artifactId.length + partsSize(parts);
  if (description !== undefined) size += description.length;
  if (extensions) size += jsonSize(extensions);
  return metadata ? size + jsonSize(metadata) : size;
}

/** Returns the approximate memory use of a message, in bytes. A character counts as one byte. */
export function messageSize({ messageId, parts, extensions, referenceTaskIds, metadata }: Message): number {
  let size = objectSize + messageId.length + partsSize(parts);
  if (extensions) size += jsonSize(extensions);
  if (referenceTaskIds) size += jsonSize(referenceTaskIds);
  return metadata ? size + jsonSize(metadata) : size;
}

function partsSize(parts: readonly Part[]): number {
  let size = 0;
  for (const part of parts) {
    const { text, metadata } = part as Partial<TextPart>;
    size += text !== undefined && metadata === undefined ? objectSize + text.length : jsonSize(part);
  }
  return size;
}

function jsonSize(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = objectSize;
  if (Array.isArray(value)) for (const member of value) size += jsonSize(member);
  else for (const [name, member] of Object.entries(value)) size += name.length + jsonSize(member);
  return size;
}
