import { isJsonObject, type JsonObject } from '../../primitives/json.ts';

/** Short name of a task state, or the unknown value that the agent returned. */
export type TaskStateName = string;

/** Version-neutral view of an artifact. */
export interface NormalizedArtifact {
  /** In 0.1, its index. */
  readonly id: string;
  readonly parts: readonly unknown[];
}

/** Version-neutral view of a task. */
export interface NormalizedTask {
  readonly id: string | undefined;
  readonly contextId: string | undefined;
  readonly state: TaskStateName;
  readonly timestamp: string | undefined;
  /** Parts of the status message. */
  readonly statusParts: readonly unknown[] | undefined;
  readonly artifacts: readonly NormalizedArtifact[] | undefined;
  readonly history: readonly unknown[] | undefined;
  readonly raw: object;
}

/** Version-neutral view of a direct message. */
export interface NormalizedMessage {
  readonly parts: readonly unknown[];
  readonly raw: object;
}

/** Version-neutral view of a stream event. */
export type NormalizedEvent =
  | { readonly kind: 'task'; readonly task: NormalizedTask; readonly raw: unknown }
  | { readonly kind: 'message'; readonly parts: readonly unknown[]; readonly raw: unknown }
  | {
      readonly kind: 'status';
      readonly taskId: string | undefined;
      readonly contextId: string | undefined;
      readonly state: TaskStateName;
      readonly timestamp: string | undefined;
      /** False in versions without `final`. */
      readonly final: boolean;
      readonly raw: unknown;
    }
  | {
      readonly kind: 'artifact';
      readonly taskId: string | undefined;
      readonly contextId: string | undefined;
      readonly artifact: NormalizedArtifact | undefined;
      readonly append: boolean;
      readonly lastChunk: boolean;
      readonly raw: unknown;
    }
  | { readonly kind: 'unknown'; readonly reason: string; readonly raw: unknown };

/** Returns the value if it is a string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns the value if it is an array. */
export function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Returns the value if it is an array, else an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return asList(value) ?? [];
}

/** Returns the value if it is a JSON object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the JSON objects in a list; an empty list if the value is none. */
export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value).filter(isJsonObject);
}

/** Concatenates the text of parts of any version. */
export function partsToText(parts: readonly unknown[]): string {
  return parts.map((part) => (isJsonObject(part) ? (asText(part.text) ?? '') : '')).join('');
}

/** Member names and states of a version. */
export interface WireNames {
  /** Member of updates with the task id. */
  readonly taskId: string;
  readonly contextId: string;
  readonly artifactId: string;
  shortState(state: unknown): TaskStateName;
}

/** Converts a wire task. */
export function normalizeTask(raw: JsonObject, names: WireNames): NormalizedTask {
  const status = objectOf(raw.status);
  // REST of 0.3 names the parts of a message `content`.
  const statusParts = isJsonObject(status.message)
    ? (asList(status.message.parts) ?? asList(status.message.content))
    : undefined;
  return {
    id: asText(raw.id),
    contextId: asText(raw[names.contextId]),
    state: names.shortState(status.state),
    timestamp: asText(status.timestamp),
    statusParts,
    artifacts: asList(raw.artifacts)?.map((each) => normalizeArtifact(each, names.artifactId)),
    history: asList(raw.history),
    raw,
  };
}

/** Converts the result of a send, which may wrap the task. */
export function normalizeTaskResult(result: unknown, names: WireNames): NormalizedTask | undefined {
  if (!isJsonObject(result)) return undefined;
  if (isJsonObject(result.task)) return normalizeTask(result.task, names);
  return isJsonObject(result.status) ? normalizeTask(result, names) : undefined;
}

/** Converts a status update of the event `raw`. */
export function normalizeStatusUpdate(update: JsonObject, names: WireNames, raw: unknown): NormalizedEvent {
  const status = objectOf(update.status);
  return {
    kind: 'status',
    taskId: asText(update[names.taskId]),
    contextId: asText(update[names.contextId]),
    state: names.shortState(status.state),
    timestamp: asText(status.timestamp),
    final: update.final === true,
    raw,
  };
}

/** Converts an artifact update of the event `raw`. In 0.1, `flags` are members of the artifact. */
export function normalizeArtifactUpdate(
  update: JsonObject,
  names: WireNames,
  raw: unknown,
  flags: JsonObject = update,
): NormalizedEvent {
  return {
    kind: 'artifact',
    taskId: asText(update[names.taskId]),
    contextId: asText(update[names.contextId]),
    artifact: isJsonObject(update.artifact)
      ? normalizeArtifact(update.artifact, names.artifactId)
      : undefined,
    append: flags.append === true,
    lastChunk: flags.lastChunk === true,
    raw,
  };
}

/** Converts a wire artifact. */
function normalizeArtifact(raw: unknown, idName: string): NormalizedArtifact {
  const artifact = objectOf(raw);
  return { id: artifactId(artifact[idName], idName), parts: listOf(artifact.parts) };
}

/** In 0.1 the id is the index, which is 0 if missing. */
function artifactId(value: unknown, idName: string): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return idName === 'index' ? '0' : '';
}

/** Returns the task state of an event, or an empty string if it has none. */
export function eventState(event: NormalizedEvent | undefined): TaskStateName {
  if (event?.kind === 'task') return event.task.state;
  return event?.kind === 'status' ? event.state : '';
}

/** Returns the task id of an event, if it has one. */
export function eventTaskId(event: NormalizedEvent): string | undefined {
  if (event.kind === 'task') return event.task.id;
  return event.kind === 'status' || event.kind === 'artifact' ? event.taskId : undefined;
}

/** Removes members that are undefined. */
export function withoutUndefined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
