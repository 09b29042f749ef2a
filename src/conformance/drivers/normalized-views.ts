/** A state by its short name, or whatever the agent wrote. */
export type State = string;

/** An artifact as far as all versions agree. */
export interface ArtifactView {
  /** Of 0.1, its index. */
  readonly id: string;
  readonly name: string | undefined;
  readonly parts: readonly unknown[];
  readonly raw: object;
}

/** A task as far as all versions agree. */
export interface TaskView {
  readonly id: string | undefined;
  readonly contextId: string | undefined;
  readonly state: State;
  readonly timestamp: string | undefined;
  /** The parts of the message in the status. */
  readonly said: readonly unknown[] | undefined;
  readonly artifacts: readonly ArtifactView[] | undefined;
  readonly history: readonly unknown[] | undefined;
  readonly raw: object;
}

/** An event as far as all versions agree. */
export type EventView =
  | { readonly kind: 'task'; readonly task: TaskView; readonly raw: unknown }
  | { readonly kind: 'message'; readonly parts: readonly unknown[]; readonly raw: unknown }
  | {
      readonly kind: 'status';
      readonly taskId: string | undefined;
      readonly contextId: string | undefined;
      readonly state: State;
      readonly timestamp: string | undefined;
      /** Undefined where the version has no such mark. */
      readonly final: boolean | undefined;
      readonly raw: unknown;
    }
  | {
      readonly kind: 'artifact';
      readonly taskId: string | undefined;
      readonly contextId: string | undefined;
      readonly artifact: ArtifactView | undefined;
      readonly append: boolean;
      readonly lastChunk: boolean;
      readonly raw: unknown;
    }
  | { readonly kind: 'unknown'; readonly why: string; readonly raw: unknown };

/** Any JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** True for a JSON object, which a list is not. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text, or undefined. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A list, or undefined. */
export function listIn(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** The text of the parts of any version, joined. */
export function textOfParts(parts: readonly unknown[]): string {
  return parts.map((part) => (isObject(part) ? (textIn(part.text) ?? '') : '')).join('');
}

/** Reads a task, given the names that a version has for things. */
export function taskView(
  raw: Json,
  names: { context: string; artifactId: string },
  shortState: (state: unknown) => State,
): TaskView {
  const status = isObject(raw.status) ? raw.status : {};
  // REST of 0.3 has another name for the parts of a message.
  const said = isObject(status.message)
    ? (listIn(status.message.parts) ?? listIn(status.message.content))
    : undefined;
  return {
    id: textIn(raw.id),
    contextId: textIn(raw[names.context]),
    state: shortState(status.state),
    timestamp: textIn(status.timestamp),
    said,
    artifacts: listIn(raw.artifacts)?.map((each) => artifactView(each, names.artifactId)),
    history: listIn(raw.history),
    raw,
  };
}

/** Reads an artifact. */
export function artifactView(raw: unknown, idName: string): ArtifactView {
  const artifact = isObject(raw) ? raw : {};
  return {
    id: idIn(artifact[idName], idName),
    name: textIn(artifact.name),
    parts: listIn(artifact.parts) ?? [],
    raw: artifact,
  };
}

/** The id of an artifact; its index in 0.1, where a missing one is the first. */
function idIn(value: unknown, idName: string): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return idName === 'index' ? '0' : '';
}

/** The state that an event tells; empty when it tells none. */
export function stateOf(event: EventView | undefined): State {
  if (event?.kind === 'task') return event.task.state;
  return event?.kind === 'status' ? event.state : '';
}

/** Without what is undefined. */
export function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
