import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import type { Part } from '../../protocol/part.ts';
import type { Artifact } from '../../protocol/task.ts';
import { writeEvent } from './event.ts';
import { wireStates, writeArtifact } from './task.ts';

/**
 * Serializes an event with exactly the output of `JSON.stringify`. Most events are text chunks or state changes, which
 * are concatenated in a third of the time.
 */
export function serializeEvent(event: StreamEvent): string {
  if (event.kind === 'artifact') return artifactText(event);
  if (event.kind === 'status' && event.status.message === undefined) return statusText(event);
  return JSON.stringify(writeEvent(event));
}

function statusText({ taskId, contextId, status, metadata }: TaskStatusUpdateEvent): string {
  const time = status.timestamp === undefined ? '' : `,"timestamp":${quoteCached(status.timestamp)}`;
  const rest = metadata === undefined ? '}}' : `,"metadata":${JSON.stringify(metadata)}}}`;
  return `{"statusUpdate":${ids(taskId, contextId)},"status":{"state":"${wireStates[status.state]}"${time}}${rest}`;
}

function artifactText({
  taskId,
  contextId,
  artifact,
  append,
  lastChunk,
  metadata,
}: TaskArtifactUpdateEvent): string {
  let text = `{"artifactUpdate":${ids(taskId, contextId)},"artifact":${serializeArtifact(artifact)}`;
  if (append !== undefined) text += append ? ',"append":true' : ',"append":false';
  if (lastChunk !== undefined) text += lastChunk ? ',"lastChunk":true' : ',"lastChunk":false';
  return metadata === undefined ? `${text}}}` : `${text},"metadata":${JSON.stringify(metadata)}}}`;
}

/** Serializes an artifact. */
export function serializeArtifact(artifact: Artifact): string {
  const { artifactId, name, description, parts, metadata, extensions } = artifact;
  const part = parts[0];
  const isPlain = description === undefined && metadata === undefined && extensions === undefined;
  if (!isPlain || parts.length !== 1 || !isPlainTextPart(part))
    return JSON.stringify(writeArtifact(artifact));
  const start =
    name === undefined
      ? quoteCached(artifactId)
      : `${quoteCached(artifactId)},"name":${JSON.stringify(name)}`;
  return `{"artifactId":${start},"parts":[{"text":${JSON.stringify(part.text)}}]}`;
}

/** Returns true for a text part without labels. */
export function isPlainTextPart(part: Part | undefined): part is { text: string } {
  if (part === undefined || !('text' in part)) return false;
  for (const label in part) if (label !== 'text') return false;
  return true;
}

/** Cached ids: events of one task are often consecutive. */
let lastTask = '';
let lastContext = '';
let lastIds = '{"taskId":"","contextId":""';

function ids(taskId: string, contextId: string): string {
  if (taskId === lastTask && contextId === lastContext) return lastIds;
  lastTask = taskId;
  lastContext = contextId;
  lastIds = `{"taskId":${JSON.stringify(taskId)},"contextId":${JSON.stringify(contextId)}`;
  return lastIds;
}

let lastText = '';
let lastQuoted = '""';

/** Quotes a text that is likely to be repeated. */
export function quoteCached(text: string): string {
  if (text === lastText) return lastQuoted;
  lastText = text;
  lastQuoted = JSON.stringify(text);
  return lastQuoted;
}
