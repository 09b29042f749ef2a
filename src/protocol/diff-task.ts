import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from './event.ts';
import type { Part } from './part.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/**
 * Returns the events that lead from one snapshot of a task to a later one. Artifacts missing in the later snapshot are
 * ignored.
 *
 * @param normalize - maps a part to the form of the earlier snapshot, if that does not store complete parts.
 */
export function diffTask(
  before: Task,
  after: Task,
  normalize: (part: Part) => Part = identity,
): StreamEvent[] {
  const ids = { taskId: before.id, contextId: before.contextId };
  const events: StreamEvent[] = [];
  const artifacts = new Map(before.artifacts?.map((each) => [each.artifactId, each]));
  for (const artifact of after.artifacts ?? []) {
    const update = diffArtifact(artifacts.get(artifact.artifactId), artifact, normalize);
    if (update) events.push({ kind: 'artifact', ...ids, ...update });
  }
  if (!isSameStatus(before.status, after.status)) {
    const event: TaskStatusUpdateEvent = { kind: 'status', ...ids, status: after.status };
    if (after.metadata && !isEqual(before.metadata, after.metadata)) event.metadata = after.metadata;
    events.push(event);
  }
  return events;
}

const identity = (part: Part): Part => part;

function diffArtifact(
  before: Artifact | undefined,
  after: Artifact,
  normalize: (part: Part) => Part,
): Pick<TaskArtifactUpdateEvent, 'artifact' | 'append'> | undefined {
  if (!before) return { artifact: after };
  const added = addedParts(before.parts, after.parts, normalize);
  if (added === undefined) return { artifact: after };
  if (added.length === 0) return undefined;
  return { artifact: { ...after, parts: added }, append: true };
}

/** Returns the parts appended to `before`; undefined if `after` is not a continuation of it. */
function addedParts(
  before: readonly Part[],
  after: readonly Part[],
  normalize: (part: Part) => Part = identity,
): Part[] | undefined {
  if (before.length <= after.length && before.every((part, i) => isEqual(part, normalize(after[i] as Part))))
    return withoutEmptyTexts(after.slice(before.length));
  // The chunks of a text may have been joined into one part.
  const [known, current] = [joinLabeledTexts(before), joinLabeledTexts(after)];
  const end = Math.min(known.length, current.length) - 1;
  if (end < 0) return undefined;
  if (!known.slice(0, end).every((part, i) => isEqual(part, normalize(current[i] as Part)))) return undefined;
  const [last, continued] = [known[end] as Part, current[end] as Part];
  const isKnown = known.length === end + 1;
  if (isEqual(last, normalize(continued))) return isKnown ? current.slice(end + 1) : [];
  if (!('text' in last && 'text' in continued)) return undefined;
  if (isKnown && continued.text.startsWith(last.text))
    return [{ ...continued, text: continued.text.slice(last.text.length) }, ...current.slice(end + 1)];
  // An older state of the task.
  return current.length === end + 1 && last.text.startsWith(continued.text) ? [] : undefined;
}

/** Empty texts alone are no change: joined to the text before them, they disappear. */
function withoutEmptyTexts(parts: Part[]): Part[] {
  return parts.every((part) => 'text' in part && part.text === '') ? [] : parts;
}

/** Joins texts that follow each other, whatever their labels are. */
function joinLabeledTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (!('text' in part)) joined.push(part);
    else {
      const { metadata: _metadata, ...labels } = part;
      if (last && 'text' in last) joined[joined.length - 1] = { ...labels, text: last.text + part.text };
      else joined.push(labels);
    }
  }
  return joined;
}

function isSameStatus(a: TaskStatus, b: TaskStatus): boolean {
  if (a.state !== b.state) return false;
  if (a.timestamp !== undefined && b.timestamp !== undefined && a.timestamp !== b.timestamp) return false;
  if (!a.message || !b.message) return a.message === b.message || a.timestamp === b.timestamp;
  return a.message.messageId === b.message.messageId || isEqual(a.message.parts, b.message.parts);
}

/** Returns true if the task already contains the change of the event. */
export function isReflectedIn(event: StreamEvent, task: Task): boolean {
  if (event.kind === 'status') return isSameStatus(event.status, task.status);
  if (event.kind !== 'artifact') return false;
  const artifact = task.artifacts?.find((each) => each.artifactId === event.artifact.artifactId);
  if (!artifact) return false;
  const { parts } = event.artifact;
  if (!event.append) return addedParts(parts, artifact.parts) !== undefined;
  if (isEqual(parts, artifact.parts.slice(-parts.length))) return true;
  const chunk = joinLabeledTexts(parts);
  const tail = joinLabeledTexts(artifact.parts).slice(-chunk.length);
  const [first, start] = [chunk[0], tail[0]];
  if (!first || !start || !('text' in first && 'text' in start)) return false;
  return start.text.endsWith(first.text) && isEqual(chunk.slice(1), tail.slice(1));
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const names = Object.keys(left).filter((name) => left[name] !== undefined);
  if (names.length !== Object.keys(right).filter((name) => right[name] !== undefined).length) return false;
  return names.every((name) => isEqual(left[name], right[name]));
}
