/**
 * What is new in a task that was seen before: the difference between two pictures, told as events.
 *
 * @module
 */
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from './event.ts';
import { type Part, textOf } from './part.ts';
import type { Artifact, Task, TaskStatus } from './task.ts';

/**
 * The events that lead from one picture of a task to a later one. What is missing from the later one is not undone.
 *
 * @param asKnown - how the earlier picture has a part of an artifact, where it does not keep everything.
 */
export function diffTask(known: Task, now: Task, asKnown: (part: Part) => Part = asItIs): StreamEvent[] {
  const ids = { taskId: known.id, contextId: known.contextId };
  const events: StreamEvent[] = [];
  const artifacts = new Map(known.artifacts?.map((each) => [each.artifactId, each]));
  for (const artifact of now.artifacts ?? []) {
    const news = newParts(artifacts.get(artifact.artifactId), artifact, asKnown);
    if (news) events.push({ kind: 'artifact', ...ids, ...news });
  }
  if (!isSameStatus(known.status, now.status)) {
    const event: TaskStatusUpdateEvent = { kind: 'status', ...ids, status: now.status };
    if (now.metadata && !isSame(known.metadata, now.metadata)) event.metadata = now.metadata;
    events.push(event);
  }
  return events;
}

const asItIs = (part: Part): Part => part;

function newParts(
  known: Artifact | undefined,
  now: Artifact,
  asKnown: (part: Part) => Part,
): Pick<TaskArtifactUpdateEvent, 'artifact' | 'append'> | undefined {
  if (!known) return { artifact: now };
  const rest = beyond(known.parts, now.parts, asKnown);
  if (rest === undefined) return { artifact: now };
  if (rest.length === 0) return undefined;
  return { artifact: { ...now, parts: rest }, append: true };
}

/** The parts that one list has beyond another; undefined when it is no continuation. */
function beyond(
  known: readonly Part[],
  now: readonly Part[],
  asKnown: (part: Part) => Part = asItIs,
): Part[] | undefined {
  if (known.length <= now.length && known.every((part, i) => isSame(part, asKnown(now[i] as Part))))
    return now.slice(known.length);
  // Some agents join the chunks of a text into one part.
  if (![...known, ...now].every((part) => 'text' in part)) return undefined;
  const [before, after] = [textOf(known), textOf(now)];
  if (!after.startsWith(before)) return before.startsWith(after) ? [] : undefined;
  const { metadata: _metadata, ...label } = now.at(-1) ?? {};
  return after === before ? [] : [{ ...label, text: after.slice(before.length) }];
}

/** True when two statuses are the same news. */
function isSameStatus(a: TaskStatus, b: TaskStatus): boolean {
  if (a.state !== b.state) return false;
  if (a.timestamp !== undefined && b.timestamp !== undefined && a.timestamp !== b.timestamp) return false;
  if (!a.message || !b.message) return a.message === b.message || a.timestamp === b.timestamp;
  return a.message.messageId === b.message.messageId || isSame(a.message.parts, b.message.parts);
}

/** True when an event tells nothing that the task does not show already. */
export function isReflectedIn(event: StreamEvent, task: Task): boolean {
  if (event.kind === 'status') return isSameStatus(event.status, task.status);
  if (event.kind !== 'artifact') return false;
  const known = task.artifacts?.find((each) => each.artifactId === event.artifact.artifactId);
  if (!known) return false;
  const { parts } = event.artifact;
  if (!event.append) return beyond(parts, known.parts) !== undefined;
  const tail = known.parts.slice(-parts.length);
  return (
    isSame(parts, tail) ||
    ([...parts, ...known.parts].every((part) => 'text' in part) &&
      textOf(known.parts).endsWith(textOf(parts)))
  );
}

/** Deep equality of JSON. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const names = Object.keys(left).filter((name) => left[name] !== undefined);
  if (names.length !== Object.keys(right).filter((name) => right[name] !== undefined).length) return false;
  return names.every((name) => isSame(left[name], right[name]));
}
