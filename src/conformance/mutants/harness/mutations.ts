import type { WireFault, WireRequest } from './mutant-agent.ts';

/** Any JSON object that may be changed. */
export type Loose = Record<string, unknown>;

/** What a thing on the wire is, by its looks. */
export type Thing =
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
export type Bend = (thing: Loose, request: WireRequest) => void;

/** True for a JSON object, which a list is not. */
export function isLoose(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function thingsOf(value: Loose, key: string): Thing[] {
  const things: Thing[] = [];
  if (isLoose(value.status) && typeof value.id === 'string') things.push('task');
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
function walk(value: unknown, visit: (thing: Loose, kind: Thing) => void, key = ''): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit, key);
  if (!isLoose(value)) return;
  for (const kind of thingsOf(value, key)) visit(value, kind);
  for (const [name, each] of Object.entries(value)) walk(each, visit, name);
}

/** A wire that bends every thing of a kind, in answers and in streams, cards left alone. */
export function bendEvery(kind: Thing, bend: Bend): WireFault {
  const bent = (json: unknown, request: WireRequest): void =>
    walk(json, (thing, found) => {
      if (found === kind) bend(thing, request);
    });
  return {
    answer(answer, request) {
      if (!request.path.includes('/.well-known/')) bent(answer.json, request);
    },
    frame(data, _index, request) {
      bent(data, request);
      return [data as object];
    },
  };
}

/** A wire that bends the results of some operations. The envelope of JSON-RPC is off; it may give another result. */
export function bendResult(
  operations: RegExp,
  bend: (result: Loose, request: WireRequest) => unknown,
): WireFault {
  return {
    answer(answer, request) {
      if (!operations.test(request.operation) || !isLoose(answer.json) || answer.status >= 400) return;
      const isRpc = 'jsonrpc' in answer.json;
      const result = isRpc ? answer.json.result : answer.json;
      if (!isLoose(result)) return;
      const bent = bend(result, request);
      if (bent === undefined) return;
      if (isRpc) answer.json = { ...answer.json, result: bent };
      else answer.json = bent;
    },
  };
}

/** A wire that bends the card. */
export function bendCard(bend: (card: Loose) => unknown): WireFault {
  return {
    answer(answer, request) {
      if (!request.path.includes('/.well-known/') || !isLoose(answer.json)) return;
      const bent = bend(answer.json);
      if (bent !== undefined) answer.json = bent;
    },
  };
}

/** A wire that bends streams as wholes: it is given all events and gives those to send. */
export function bendStream(
  bend: (event: Loose, index: number, request: WireRequest) => readonly (object | string)[] | undefined,
): WireFault {
  return {
    frame(data, index, request) {
      return isLoose(data) ? bend(data, index, request) : undefined;
    },
  };
}

/** The payload of a frame, with or without the envelope of JSON-RPC. */
export function payloadOf(frame: Loose): Loose {
  return isLoose(frame.result) ? frame.result : frame;
}

/** A frame with another payload. */
export function withPayload(frame: Loose, payload: unknown): Loose {
  return 'jsonrpc' in frame ? { ...frame, result: payload } : (payload as Loose);
}

/** A wire that answers errors of some code otherwise. */
export function bendError(
  bend: (
    error: Loose,
    answer: { status: number; json: unknown; text: string; headers: Record<string, string> },
    request: WireRequest,
  ) => void,
): WireFault {
  return {
    answer(answer, request) {
      if (!isLoose(answer.json)) return;
      // REST of 0.3 sends the error by itself.
      const error = answer.json.error ?? (answer.status >= 400 ? answer.json : undefined);
      if (isLoose(error)) bend(error, answer, request);
    },
  };
}

/** Leaves a member out. */
export const drop =
  (name: string): Bend =>
  (thing) => {
    delete thing[name];
  };

/** Gives a member that is there another value. */
export const set =
  (name: string, value: unknown): Bend =>
  (thing) => {
    if (name in thing) thing[name] = value;
  };

/** Bends the parts that are text. */
export const onText =
  (bend: (part: Loose) => void): Bend =>
  (part) => {
    if ('text' in part) bend(part);
  };
