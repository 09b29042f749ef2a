/**
 * Words of an agent on their way: receivers on the mesh show them from a data part, and know artifacts as files only.
 *
 * @module
 */
import { readCompat, withCompat, withoutCompat } from '../dialects/compat-metadata.ts';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import { type Part, textOf } from '../protocol/part.ts';
import type { Artifact, Task } from '../protocol/task.ts';

const progressType = 'agent_progress_update';

/** True when there is nothing but text. */
export function isTextOnly(parts: readonly Part[]): boolean {
  return parts.length > 0 && parts.every((part) => 'text' in part);
}

/** Writes the text of an update as progress. */
export function writeProgress(event: TaskStatusUpdateEvent): TaskStatusUpdateEvent {
  const { message } = event.status;
  if (!message?.parts.some((part) => 'text' in part)) return event;
  const parts = message.parts.map((part): Part => {
    if (!('text' in part)) return part;
    const { text, ...labels } = part;
    return { ...labels, data: { type: progressType, status_text: text } };
  });
  return { ...event, status: { ...event.status, message: { ...message, parts } } };
}

/** Reads progress as the text that it was; what says more than that stays data. */
export function readProgress(event: TaskStatusUpdateEvent): TaskStatusUpdateEvent {
  const { message } = event.status;
  if (!message?.parts.some((part) => progressText(part) !== undefined)) return event;
  const parts = message.parts.map((part): Part => {
    const text = progressText(part);
    if (text === undefined || !('data' in part)) return part;
    const { data: _said, ...labels } = part;
    return { ...labels, text };
  });
  return { ...event, status: { ...event.status, message: { ...message, parts } } };
}

function progressText(part: Part): string | undefined {
  if (!('data' in part) || typeof part.data !== 'object' || part.data === null) return undefined;
  const { type, status_text, ...more } = part.data as { [name: string]: unknown };
  if (type !== progressType || Object.keys(more).length > 0) return undefined;
  return typeof status_text === 'string' ? status_text : undefined;
}

/** Writes an artifact that is only text as an update that says it; which artifact it is goes along. */
export function writeTextArtifact(event: TaskArtifactUpdateEvent, messageId: string): TaskStatusUpdateEvent {
  const { artifact, append, lastChunk, taskId, contextId, metadata } = event;
  const { parts, ...label } = artifact;
  const message: Message = { messageId, role: 'agent', parts, taskId, contextId };
  return {
    kind: 'status',
    taskId,
    contextId,
    status: { state: 'working', message },
    metadata: withCompat(metadata, { artifact: { ...label, append, lastChunk } }),
  };
}

/** Reads an update that stands for an artifact of text. */
export function readTextArtifact(event: TaskStatusUpdateEvent): TaskArtifactUpdateEvent | undefined {
  const carried = readCompat(event.metadata)?.artifact as
    | (Partial<Artifact> & Partial<TaskArtifactUpdateEvent>)
    | undefined;
  const { message } = event.status;
  if (typeof carried?.artifactId !== 'string' || !message) return undefined;
  const { artifactId, name, description, append, lastChunk } = carried;
  const artifact: Artifact = { artifactId, parts: message.parts };
  if (typeof name === 'string') artifact.name = name;
  if (typeof description === 'string') artifact.description = description;
  const read: TaskArtifactUpdateEvent = {
    kind: 'artifact',
    taskId: event.taskId,
    contextId: event.contextId,
    artifact,
    append: append === true,
    lastChunk: lastChunk === true,
  };
  const metadata = withoutCompat(event.metadata, ['artifact']);
  if (metadata) read.metadata = metadata;
  return read;
}

/**
 * Makes the task say what its artifacts of text say, because receivers on the mesh show only its message. The artifacts
 * stay where they are. What the task says itself comes first.
 *
 * @param isTold - true when the artifacts were told as updates: then they need not be repeated beside other words.
 */
export function withTextArtifacts(task: Task, isTold: boolean, messageId: string): Task {
  const { message } = task.status;
  const texts = (task.artifacts ?? []).filter(({ parts }) => isTextOnly(parts));
  const hasWords = message?.parts.some((part) => 'text' in part) ?? false;
  if (texts.length === 0 || (isTold && hasWords)) return task;
  const added: Part[] = texts.map(({ parts }) => ({ text: textOf(parts) }));
  const whole: Message = message
    ? { ...message, parts: [...message.parts, ...added] }
    : { messageId, role: 'agent', parts: added, taskId: task.id, contextId: task.contextId };
  return { ...task, status: { ...task.status, message: whole } };
}
