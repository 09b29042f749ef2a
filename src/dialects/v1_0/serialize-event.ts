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

/** Serializes a chunk. Chunks of one artifact differ in their text and flags only, so the rest is cached. */
function artifactText(event: TaskArtifactUpdateEvent): string {
  const { taskId, contextId, artifact, append, lastChunk, metadata } = event;
  const part = artifact.parts[0];
  if (metadata !== undefined || !hasOnlyOnePart(artifact) || !isPlainTextPart(part))
    return JSON.stringify(writeEvent(event));
  const end = chunkEnds[flagIndex(append)]?.[flagIndex(lastChunk)] ?? '';
  return chunkStart(taskId, contextId, artifact) + escapeText(part.text) + end;
}

/** Cached start: chunks of one artifact are often consecutive. */
let lastStart = '';
let lastStartIds = '';
let lastArtifactId = '';
let lastName: string | undefined = '';

/** Returns the JSON of a chunk before its text. */
function chunkStart(taskId: string, contextId: string, { artifactId, name }: Artifact): string {
  const startIds = ids(taskId, contextId);
  if (startIds === lastStartIds && artifactId === lastArtifactId && name === lastName) return lastStart;
  const labels = JSON.stringify({ artifactId, name }).slice(0, -1);
  lastStart = `{"artifactUpdate":${startIds},"artifact":${labels},"parts":[{"text":"`;
  lastStartIds = startIds;
  lastArtifactId = artifactId;
  lastName = name;
  return lastStart;
}

const flags = [undefined, false, true];

/** JSON of a chunk after its text, by its flags. */
const chunkEnds = flags.map((append) =>
  flags.map((lastChunk) => {
    const end = JSON.stringify({ append, lastChunk }).slice(1);
    return end === '}' ? '"}]}}}' : `"}]},${end}}`;
  }),
);

function flagIndex(flag: boolean | undefined): number {
  return flag === undefined ? 0 : flag ? 2 : 1;
}

/** Characters that JSON escapes, and all outside of ASCII, because some of them are escaped. */
const escapable = /[^ !#-[\]-~]/;

/** Length above which the search for such characters costs more than it saves. */
const maxSearched = 128;

/** Returns the JSON of a text without its quotes. */
function escapeText(text: string): string {
  return text.length > maxSearched || escapable.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** Serializes an artifact. */
export function serializeArtifact(artifact: Artifact): string {
  const { artifactId, name, parts } = artifact;
  const part = parts[0];
  if (!hasOnlyOnePart(artifact) || !isPlainTextPart(part)) return JSON.stringify(writeArtifact(artifact));
  const start =
    name === undefined
      ? quoteCached(artifactId)
      : `${quoteCached(artifactId)},"name":${JSON.stringify(name)}`;
  return `{"artifactId":${start},"parts":[{"text":${JSON.stringify(part.text)}}]}`;
}

/** Returns true for one part and no labels other than the id and the name. */
function hasOnlyOnePart({ description, parts, metadata, extensions }: Artifact): boolean {
  return (
    parts.length === 1 && description === undefined && metadata === undefined && extensions === undefined
  );
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
