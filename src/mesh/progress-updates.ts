/**
 * Conversion of text updates: receivers on the mesh display progress from a data part, and support artifacts only as files.
 *
 * @module
 */
import { readCompat, withCompat, withoutCompat } from '../dialects/compat-metadata.ts';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import { type Part, textOf } from '../protocol/part.ts';
import type { Artifact, Task } from '../protocol/task.ts';

const progressType = 'agent_progress_update';

/** Returns true if all parts are text. */
export function isTextOnly(parts: readonly Part[]): boolean {
  return parts.length > 0 && parts.every((part) => 'text' in part);
}

/** Converts the text of a status update to progress data. */
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

/** Converts progress data back to text; data with further members is unchanged. */
export function readProgress(event: TaskStatusUpdateEvent): TaskStatusUpdateEvent {
  const { message } = event.status;
  if (!message?.parts.some((part) => progressText(part) !== undefined)) return event;
  const parts = message.parts.map((part): Part => {
    const text = progressText(part);
    if (text === undefined || !('data' in part)) return part;
    const { data: _converted, ...labels } = part;
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

/** Converts a text artifact to a status update. Its artifact id is preserved in the metadata. */
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

/** Converts a status update of {@link writeTextArtifact} back to an artifact update. */
export function readTextArtifact(event: TaskStatusUpdateEvent): TaskArtifactUpdateEvent | undefined {
  const stored = readCompat(event.metadata)?.artifact as
    | (Partial<Artifact> & Partial<TaskArtifactUpdateEvent>)
    | undefined;
  const { message } = event.status;
  if (typeof stored?.artifactId !== 'string' || !message) return undefined;
  const { artifactId, name, description, append, lastChunk } = stored;
  const artifact: Artifact = { artifactId, parts: message.parts };
  if (typeof name === 'string') artifact.name = name;
  if (typeof description === 'string') artifact.description = description;
  const update: TaskArtifactUpdateEvent = {
    kind: 'artifact',
    taskId: event.taskId,
    contextId: event.contextId,
    artifact,
    append: append === true,
    lastChunk: lastChunk === true,
  };
  const metadata = withoutCompat(event.metadata, ['artifact']);
  if (metadata) update.metadata = metadata;
  return update;
}

/**
 * Adds the text of artifacts to the status message of a task, because receivers on the mesh display only the message.
 * The artifacts are retained, and the existing message text comes first.
 *
 * @param wasStreamed - whether the artifacts were sent as updates. They are not repeated then if the message has text.
 */
export function withTextArtifacts(task: Task, wasStreamed: boolean, messageId: string): Task {
  const { message } = task.status;
  const texts = (task.artifacts ?? []).filter(({ parts }) => isTextOnly(parts));
  const hasText = message?.parts.some((part) => 'text' in part) ?? false;
  if (texts.length === 0 || (wasStreamed && hasText)) return task;
  const added: Part[] = texts.map(({ parts }) => ({ text: textOf(parts) }));
  const extended: Message = message
    ? { ...message, parts: [...message.parts, ...added] }
    : { messageId, role: 'agent', parts: added, taskId: task.id, contextId: task.contextId };
  return { ...task, status: { ...task.status, message: extended } };
}
