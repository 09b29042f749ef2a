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
const peerJsonLimits: JsonLimits = { depth: 500, members: 1_000_000 };

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
