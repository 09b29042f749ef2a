import { findExceededLimit, type JsonLimits } from './json-limits.ts';

/** A JSON object with arbitrary members. */
export interface JsonObject {
  [member: string]: unknown;
}

/** Returns true for objects that are neither `null` nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is a JSON object, else undefined. */
export function asJsonObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Limits of texts of peers: far above real messages, and below what ends in a stack overflow or blocks the process. */
const peerJsonLimits: JsonLimits = { depth: 2000, members: 1_000_000 };

/** A JSON text exceeds a limit. */
class JsonLimitError extends SyntaxError {
  override readonly name = 'JsonLimitError';
}

/**
 * Parses JSON of a peer.
 *
 * @throws SyntaxError if the text is malformed, also if it exceeds the limits
 */
export function parseBoundedJson(text: string): unknown {
  // A shorter text cannot exceed the limits.
  const exceeded = text.length <= peerJsonLimits.depth ? undefined : findExceededLimit(text, peerJsonLimits);
  if (exceeded !== undefined)
    throw new JsonLimitError(`The JSON exceeds the limit of ${peerJsonLimits[exceeded]} (${exceeded})`);
  return JSON.parse(text);
}

/** Parses JSON of a peer. @returns undefined if the text is malformed or exceeds the limits */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return parseBoundedJson(text);
  } catch {
    return undefined;
  }
}

/** Copies a JSON value. Objects of other classes than `Object` and `Array` are replaced by their JSON form. */
export function copyJson<T>(value: T): T {
  return typeof value === 'object' && value !== null ? (copyObject(value) as T) : value;
}

function copyObject(value: object): unknown {
  if (Array.isArray(value)) {
    const copy: unknown[] = value.slice();
    for (let at = 0; at < copy.length; at++) {
      const member = copy[at];
      if (typeof member === 'object' && member !== null) copy[at] = copyObject(member);
    }
    return copy;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return JSON.parse(JSON.stringify(value) ?? 'null') as unknown;
  }
  // The spread also preserves a member named `__proto__`, which an assignment alone would not.
  const copy: JsonObject = { ...value };
  for (const name of Object.keys(copy)) {
    const member = copy[name];
    if (typeof member === 'object' && member !== null) copy[name] = copyObject(member);
  }
  return copy;
}

/** Makes a JSON value and everything in it immutable. @returns the same value */
export function freezeJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) freezeJson(member);
  return value;
}
