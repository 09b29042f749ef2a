/**
 * Readers of single fields of untrusted JSON. `null` counts as absent, and every error names the path.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from '../primitives/json.ts';
import { type A2AError, invalidField } from '../protocol/errors.ts';
import type { Metadata } from '../protocol/part.ts';
import { type DecodeMode, strictMode } from './translation-loss.ts';

/** An unvalidated JSON object of a peer. */
export type WireObject = JsonObject;

/** Returns the path of a member, such as `message.parts`. */
export function fieldPath(at: string, key: string): string {
  return at === '' ? key : `${at}.${key}`;
}

function invalid(at: string, must: string): A2AError {
  return invalidField(at === '' ? 'params' : at, must);
}

/** Returns true if a member is neither missing nor `null`. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Reads a required object. */
export function readObject(value: unknown, at: string): WireObject {
  if (!isJsonObject(value)) throw invalid(at, 'must be an object');
  return value;
}

/** Reads a required array. */
export function readArray(value: unknown, at: string): unknown[] {
  if (!Array.isArray(value)) throw invalid(at, 'must be an array');
  return value;
}

/** Reads a required non-empty string. */
export function readNonEmptyString(value: unknown, at: string): string {
  if (typeof value !== 'string' || value === '') throw invalid(at, 'must be a non-empty string');
  return value;
}

/** Reads an optional string. */
export function readString(value: unknown, at: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(at, 'must be a string');
  return value;
}

/** Reads an optional string; an empty one is undefined, as in protocol buffers. */
export function readOptionalText(value: unknown, at: string): string | undefined {
  const text = readString(value, at);
  return text === '' ? undefined : text;
}

/**
 * Maximum lengths in requests, in characters. Names are file names, media types, tenants and URIs of extensions; tokens
 * are page tokens, and tokens and credentials of webhooks. In responses {@link lenientFactor} applies.
 */
export const maxLengths = { id: 1_024, name: 1_024, url: 8_192, token: 16_384 } as const;

/** Agents of others may send longer ids than clients, but not of any length. */
const lenientFactor = 8;

/** Returns the text. @throws {@link A2AError} `INVALID_PARAMS` if it is longer than its kind allows */
export function checkLength<T extends string | undefined>(
  text: T,
  at: string,
  kind: keyof typeof maxLengths,
  { lenient }: Pick<DecodeMode, 'lenient'> = strictMode,
): T {
  const max = maxLengths[kind] * (lenient ? lenientFactor : 1);
  if (text !== undefined && text.length > max)
    throw invalid(at, `must have at most ${max} characters (has ${text.length})`);
  return text;
}

/** Reads a required id. */
export function readId(value: unknown, at: string, mode?: DecodeMode): string {
  return checkLength(readNonEmptyString(value, at), at, 'id', mode);
}

/** Reads an optional id; an empty one is undefined. */
export function readOptionalId(value: unknown, at: string, mode?: DecodeMode): string | undefined {
  return checkLength(readOptionalText(value, at), at, 'id', mode);
}

/** Reads an optional name; an empty one is undefined. */
export function readName(value: unknown, at: string, mode?: DecodeMode): string | undefined {
  return checkLength(readOptionalText(value, at), at, 'name', mode);
}

/** Reads an optional token; an empty one is undefined. */
export function readToken(value: unknown, at: string, mode?: DecodeMode): string | undefined {
  return checkLength(readOptionalText(value, at), at, 'token', mode);
}

/** Reads the required URL of a webhook. */
export function readWebhookUrl(value: unknown, at: string, mode?: DecodeMode): string {
  return checkLength(readNonEmptyString(value, at), at, 'url', mode);
}

/** Reads an optional array of names; an empty one is undefined. */
export function readNames(value: unknown, at: string, mode?: DecodeMode): string[] | undefined {
  const names = readStrings(value, at);
  if (names) for (let i = 0; i < names.length; i++) checkLength(names[i], `${at}[${i}]`, 'name', mode);
  return names;
}

/** Reads an optional integer of at least `min`. */
export function readInteger(value: unknown, at: string, min = 0): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalid(at, 'must be an integer');
  if (value < min) throw invalid(at, `must be at least ${min}`);
  return value;
}

/** Reads an optional boolean. */
export function readBoolean(value: unknown, at: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw invalid(at, 'must be a boolean');
  return value;
}

/** Reads an optional object with arbitrary members. */
export function readMetadata(value: unknown, at: string): Metadata | undefined {
  if (value === undefined || value === null) return undefined;
  return readObject(value, at);
}

/** Reads an optional array of strings; an empty one is undefined. */
export function readStrings(value: unknown, at: string): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const list = readArray(value, at);
  for (let i = 0; i < list.length; i++) {
    if (typeof list[i] !== 'string') throw invalid(`${at}[${i}]`, 'must be a string');
  }
  return list.length === 0 ? undefined : (list as string[]);
}

const standardBase64 = /^[A-Za-z0-9+/]*={0,2}$/;
const anyBase64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Reads base64 of either alphabet, with or without padding. @returns the standard alphabet with padding */
export function readBase64(value: unknown, at: string): string {
  if (typeof value !== 'string') throw invalid(at, 'must be a base64 string');
  if (value.length % 4 === 0 && standardBase64.test(value)) return value;
  if (!anyBase64.test(value)) throw invalid(at, 'must be base64');
  const bare = value
    .replace(/={1,2}$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  if (bare.length % 4 === 1) throw invalid(at, 'must be base64');
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
}

const canonicalTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** The form of whole seconds in protocol buffers. */
const wholeSeconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * Reads an optional timestamp as RFC 3339 in UTC with milliseconds. A text without a zone is read as UTC.
 *
 * @returns undefined if absent, or if malformed in lenient mode
 */
export function readTimestamp(value: unknown, at: string, mode: DecodeMode): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && canonicalTimestamp.test(value)) return value;
  if (typeof value === 'string' && wholeSeconds.test(value)) return `${value.slice(0, -1)}.000Z`;
  const text = typeof value === 'string' && value.includes('T') && !hasZone.test(value) ? `${value}Z` : value;
  const date = typeof text === 'string' || typeof text === 'number' ? new Date(text) : undefined;
  if (date && !Number.isNaN(date.getTime())) {
    mode.losses?.push({
      path: at,
      kind: 'guessed',
      note: `read ${JSON.stringify(value)} as a UTC timestamp`,
    });
    return date.toISOString();
  }
  if (!mode.lenient) throw invalid(at, 'must be a timestamp such as 2026-06-01T10:00:00.000Z');
  mode.losses?.push({ path: at, kind: 'dropped', note: `${JSON.stringify(value)} is not a timestamp` });
  return undefined;
}
