import type { WireMutation, WireRequest } from './mutant-agent.ts';

/** Any JSON object that may be changed. */
export type MutableJson = Record<string, unknown>;

/** What a thing on the wire is, by its looks. */
export type WireKind =
  | 'task'
  | 'status'
  | 'message'
  | 'part'
  | 'artifact'
  | 'statusUpdate'
  | 'artifactUpdate'
  | 'page'
  | 'error';

/** Changes a thing in place. */
export type Mutation = (thing: MutableJson, request: WireRequest) => void;

/** True for a JSON object, which a list is not. */
export function isMutableJson(value: unknown): value is MutableJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function thingsOf(value: MutableJson, key: string): WireKind[] {
  const things: WireKind[] = [];
  if (isMutableJson(value.status) && typeof value.id === 'string') things.push('task');
  if (key === 'status' && 'state' in value) things.push('status');
  if (Array.isArray(value.parts) && 'role' in value) things.push('message');
  if (Array.isArray(value.parts) && ('artifactId' in value || 'index' in value)) things.push('artifact');
  if (key === 'parts') things.push('part');
  if (key === 'statusUpdate' || value.kind === 'status-update') things.push('statusUpdate');
  if (key === 'artifactUpdate' || value.kind === 'artifact-update') things.push('artifactUpdate');
  if (Array.isArray(value.tasks)) things.push('page');
  if (key === 'error') things.push('error');
  return things;
}

/** Goes through everything in a JSON value, the outer things first. */
function walk(value: unknown, visit: (thing: MutableJson, kind: WireKind) => void, key = ''): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit, key);
  if (!isMutableJson(value)) return;
  for (const kind of thingsOf(value, key)) visit(value, kind);
  for (const [name, each] of Object.entries(value)) walk(each, visit, name);
}

/** A wire that bends every thing of a kind, in answers and in streams, cards left alone. */
export function mutateEvery(kind: WireKind, bend: Mutation): WireMutation {
  const bent = (json: unknown, request: WireRequest): void =>
    walk(json, (thing, found) => {
      if (found === kind) bend(thing, request);
    });
  return {
    response(answer, request) {
      if (!request.path.includes('/.well-known/')) bent(answer.json, request);
    },
    frame(data, _index, request) {
      bent(data, request);
      return [data as object];
    },
  };
}

/** A wire that bends the results of some operations. The envelope of JSON-RPC is off; it may give another result. */
export function mutateResult(
  operations: RegExp,
  bend: (result: MutableJson, request: WireRequest) => unknown,
): WireMutation {
  return {
    response(answer, request) {
      if (!operations.test(request.operation) || !isMutableJson(answer.json) || answer.status >= 400) return;
      const isRpc = 'jsonrpc' in answer.json;
      const result = isRpc ? answer.json.result : answer.json;
      if (!isMutableJson(result)) return;
      const bent = bend(result, request);
      if (bent === undefined) return;
      if (isRpc) answer.json = { ...answer.json, result: bent };
      else answer.json = bent;
    },
  };
}

/** A wire that bends the card. */
export function mutateCard(bend: (card: MutableJson) => unknown): WireMutation {
  return {
    response(answer, request) {
      if (!request.path.includes('/.well-known/') || !isMutableJson(answer.json)) return;
      const bent = bend(answer.json);
      if (bent !== undefined) answer.json = bent;
    },
  };
}

/** A wire that bends streams as wholes: it is given all events and gives those to send. */
export function mutateStream(
  bend: (event: MutableJson, index: number, request: WireRequest) => readonly (object | string)[] | undefined,
): WireMutation {
  return {
    frame(data, index, request) {
      return isMutableJson(data) ? bend(data, index, request) : undefined;
    },
  };
}

/** The payload of a frame, with or without the envelope of JSON-RPC. */
export function framePayload(frame: MutableJson): MutableJson {
  return isMutableJson(frame.result) ? frame.result : frame;
}

/** A frame with another payload. */
export function withFramePayload(frame: MutableJson, payload: unknown): MutableJson {
  return 'jsonrpc' in frame ? { ...frame, result: payload } : (payload as MutableJson);
}

/** A wire that answers errors of some code otherwise. */
export function mutateError(
  bend: (
    error: MutableJson,
    answer: { status: number; json: unknown; text: string; headers: Record<string, string> },
    request: WireRequest,
  ) => void,
): WireMutation {
  return {
    response(answer, request) {
      if (!isMutableJson(answer.json)) return;
      // REST of 0.3 sends the error by itself.
      const error = answer.json.error ?? (answer.status >= 400 ? answer.json : undefined);
      if (isMutableJson(error)) bend(error, answer, request);
    },
  };
}

/** Leaves a member out. */
export const dropMember =
  (name: string): Mutation =>
  (thing) => {
    delete thing[name];
  };

/** Gives a member that is there another value. */
export const setMember =
  (name: string, value: unknown): Mutation =>
  (thing) => {
    if (name in thing) thing[name] = value;
  };

/** Bends the parts that are text. */
export const onTextParts =
  (bend: (part: MutableJson) => void): Mutation =>
  (part) => {
    if ('text' in part) bend(part);
  };
