/** A state by its short name, or whatever the agent wrote. */
export type TaskStateName = string;

/** An artifact as far as all versions agree. */
export interface NormalizedArtifact {
  /** Of 0.1, its index. */
  readonly id: string;
  readonly name: string | undefined;
  readonly parts: readonly unknown[];
  readonly raw: object;
}

/** A task as far as all versions agree. */
export interface NormalizedTask {
  readonly id: string | undefined;
  readonly contextId: string | undefined;
  readonly state: TaskStateName;
  readonly timestamp: string | undefined;
  /** The parts of the message in the status. */
  readonly statusParts: readonly unknown[] | undefined;
  readonly artifacts: readonly NormalizedArtifact[] | undefined;
  readonly history: readonly unknown[] | undefined;
  readonly raw: object;
}

/** An event as far as all versions agree. */
export type NormalizedEvent =
  | { readonly kind: 'task'; readonly task: NormalizedTask; readonly raw: unknown }
  | { readonly kind: 'message'; readonly parts: readonly unknown[]; readonly raw: unknown }
  | {
      readonly kind: 'status';
      readonly taskId: string | undefined;
      readonly contextId: string | undefined;
      readonly state: TaskStateName;
      readonly timestamp: string | undefined;
      /** Undefined where the version has no such mark. */
      readonly final: boolean | undefined;
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
  | { readonly kind: 'unknown'; readonly why: string; readonly raw: unknown };

/** Any JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for a JSON object, which a list is not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text, or undefined. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A list, or undefined. */
export function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** The text of the parts of any version, joined. */
export function partsToText(parts: readonly unknown[]): string {
  return parts.map((part) => (isJsonObject(part) ? (asText(part.text) ?? '') : '')).join('');
}

/** Reads a task, given the names that a version has for things. */
export function normalizeTask(
  raw: JsonObject,
  names: { context: string; artifactId: string },
  shortState: (state: unknown) => TaskStateName,
): NormalizedTask {
  const status = isJsonObject(raw.status) ? raw.status : {};
  // REST of 0.3 has another name for the parts of a message.
  const said = isJsonObject(status.message)
    ? (asList(status.message.parts) ?? asList(status.message.content))
    : undefined;
  return {
    id: asText(raw.id),
    contextId: asText(raw[names.context]),
    state: shortState(status.state),
    timestamp: asText(status.timestamp),
    statusParts: said,
    artifacts: asList(raw.artifacts)?.map((each) => normalizeArtifact(each, names.artifactId)),
    history: asList(raw.history),
    raw,
  };
}

/** Reads an artifact. */
export function normalizeArtifact(raw: unknown, idName: string): NormalizedArtifact {
  const artifact = isJsonObject(raw) ? raw : {};
  return {
    id: idIn(artifact[idName], idName),
    name: asText(artifact.name),
    parts: asList(artifact.parts) ?? [],
    raw: artifact,
  };
}

/** The id of an artifact; its index in 0.1, where a missing one is the first. */
function idIn(value: unknown, idName: string): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return idName === 'index' ? '0' : '';
}

/** The state that an event tells; empty when it tells none. */
export function eventState(event: NormalizedEvent | undefined): TaskStateName {
  if (event?.kind === 'task') return event.task.state;
  return event?.kind === 'status' ? event.state : '';
}

/** Without what is undefined. */
export function withoutUndefined(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
