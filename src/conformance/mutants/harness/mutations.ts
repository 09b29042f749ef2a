import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import {
  mutant,
  type MutantAgent,
  type MutantSetup,
  type WireMutation,
  type WireRequest,
  type WireResponse,
} from './mutant-agent.ts';

/** Kind of a JSON object on the wire, recognized by its members. */
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

/** Changes a JSON object in place. */
export type Mutation = (object: JsonObject, request: WireRequest) => void;

function detectKinds(value: JsonObject, key: string): WireKind[] {
  const kinds: WireKind[] = [];
  if (isJsonObject(value.status) && typeof value.id === 'string') kinds.push('task');
  if (key === 'status' && 'state' in value) kinds.push('status');
  if (Array.isArray(value.parts) && 'role' in value) kinds.push('message');
  if (Array.isArray(value.parts) && ('artifactId' in value || 'index' in value)) kinds.push('artifact');
  if (key === 'parts') kinds.push('part');
  if (key === 'statusUpdate' || value.kind === 'status-update') kinds.push('statusUpdate');
  if (key === 'artifactUpdate' || value.kind === 'artifact-update') kinds.push('artifactUpdate');
  if (Array.isArray(value.tasks)) kinds.push('page');
  if (key === 'error') kinds.push('error');
  return kinds;
}

/** Visits all objects in a JSON value, outer objects first. */
function walk(value: unknown, visit: (object: JsonObject, kind: WireKind) => void, key = ''): void {
  if (Array.isArray(value)) for (const each of value) walk(each, visit, key);
  if (!isJsonObject(value)) return;
  for (const kind of detectKinds(value, key)) visit(value, kind);
  for (const [name, each] of Object.entries(value)) walk(each, visit, name);
}

/** Mutates every object of a kind in responses and streams, except in cards. */
export function mutateEvery(kind: WireKind, mutate: Mutation): WireMutation {
  const mutateAll = (json: unknown, request: WireRequest): void =>
    walk(json, (object, found) => {
      if (found === kind) mutate(object, request);
    });
  return {
    response(response, request) {
      if (!isCardRequest(request)) mutateAll(response.json, request);
    },
    frame(data, _index, request) {
      mutateAll(data, request);
      return [data as object];
    },
  };
}

/** Creates a mutant for each member that objects of a kind must have: by rule, the kind and the members. */
export function missingMemberMutants(
  requiredMembers: Readonly<Record<string, readonly [WireKind, ...string[]]>>,
  setup: MutantSetup = {},
): MutantAgent[] {
  return Object.entries(requiredMembers).flatMap(([rule, [kind, ...members]]) =>
    members.map((member) =>
      mutant(`${rule}:no-${member}`, `Objects of the kind ${kind} have no ${member}.`, {
        ...setup,
        wire: () => mutateEvery(kind, dropMember(member)),
      }),
    ),
  );
}

/** Mutates the results of some operations, without the JSON-RPC envelope. `mutate` may return a replacement. */
export function mutateResult(
  operations: RegExp,
  mutate: (result: JsonObject, request: WireRequest) => unknown,
): WireMutation {
  return {
    response(response, request) {
      if (!operations.test(request.operation) || !isJsonObject(response.json) || response.status >= 400)
        return;
      const isRpc = 'jsonrpc' in response.json;
      const result = isRpc ? response.json.result : response.json;
      if (!isJsonObject(result)) return;
      const mutated = mutate(result, request);
      if (mutated === undefined) return;
      response.json = isRpc ? { ...response.json, result: mutated } : mutated;
    },
  };
}

/** Mutates the card. `mutate` may return a replacement. */
export function mutateCard(mutate: (card: JsonObject) => unknown): WireMutation {
  return {
    response(response, request) {
      if (!isCardRequest(request) || !isJsonObject(response.json)) return;
      const mutated = mutate(response.json);
      if (mutated !== undefined) response.json = mutated;
    },
  };
}

/** Mutates stream events. `mutate` returns the events to send instead; undefined keeps the event. */
export function mutateStream(
  mutate: (
    event: JsonObject,
    index: number,
    request: WireRequest,
  ) => readonly (object | string)[] | undefined,
): WireMutation {
  return {
    frame(data, index, request) {
      return isJsonObject(data) ? mutate(data, index, request) : undefined;
    },
  };
}

/** Returns the payload of a frame, without the JSON-RPC envelope. */
export function framePayload(frame: JsonObject): JsonObject {
  return isJsonObject(frame.result) ? frame.result : frame;
}

/** Returns the frame with another payload. */
export function withFramePayload(frame: JsonObject, payload: unknown): JsonObject {
  return 'jsonrpc' in frame ? { ...frame, result: payload } : (payload as JsonObject);
}

/** Mutates error responses. */
export function mutateError(
  mutate: (error: JsonObject, response: WireResponse, request: WireRequest) => void,
): WireMutation {
  return {
    response(response, request) {
      if (!isJsonObject(response.json)) return;
      // REST of 0.3 sends the error without a wrapper.
      const error = response.json.error ?? (response.status >= 400 ? response.json : undefined);
      if (isJsonObject(error)) mutate(error, response, request);
    },
  };
}

/** Returns true for requests of the public card. */
export function isCardRequest({ path }: Pick<WireRequest, 'path'>): boolean {
  return path.includes('/.well-known/');
}

/** Removes a member. */
export const dropMember =
  (name: string): Mutation =>
  (object) => {
    delete object[name];
  };

/** Replaces the value of a member, if present. */
export const setMember =
  (name: string, value: unknown): Mutation =>
  (object) => {
    if (name in object) object[name] = value;
  };

/** Renames a member, if present. */
export const renameMember =
  (from: string, to: string): Mutation =>
  (object) => {
    if (!(from in object)) return;
    object[to] = object[from];
    delete object[from];
  };

/** Adds members. */
export const addMembers =
  (members: JsonObject): Mutation =>
  (object) => {
    Object.assign(object, members);
  };

/** Mutates only text parts. */
export const onTextParts =
  (mutate: Mutation): Mutation =>
  (part, request) => {
    if ('text' in part) mutate(part, request);
  };
