/**
 * Reading single fields of a peer's JSON. `null` counts as absent, and every complaint names the path.
 *
 * @module
 */
import { type A2AError, invalidField } from '../protocol/errors.ts';
import type { Metadata } from '../protocol/part.ts';
import type { DecodeMode } from './translation-loss.ts';

/** A JSON object that nobody has looked at yet. */
export type WireObject = { [key: string]: unknown };

/** The path of a member, such as `message.parts`. */
export function fieldPath(at: string, key: string): string {
  return at === '' ? key : `${at}.${key}`;
}

function wrong(at: string, must: string): A2AError {
  return invalidField(at === '' ? 'params' : at, must);
}

/** An object, or a complaint. */
export function readObject(value: unknown, at: string): WireObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(at, 'must be an object');
  return value as WireObject;
}

/** A list, or a complaint. */
export function readArray(value: unknown, at: string): unknown[] {
  if (!Array.isArray(value)) throw wrong(at, 'must be a list');
  return value;
}

/** A string that is not empty. */
export function readNonEmptyString(value: unknown, at: string): string {
  if (typeof value !== 'string' || value === '') throw wrong(at, 'must be a string that is not empty');
  return value;
}

/** A string, or undefined when absent. */
export function readString(value: unknown, at: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw wrong(at, 'must be a string');
  return value;
}

/** A string with something in it; absent and empty are both undefined, as protocol buffers have it. */
export function readOptionalText(value: unknown, at: string): string | undefined {
  const text = readString(value, at);
  return text === '' ? undefined : text;
}

/** A whole number of at least `least`, or undefined when absent. */
export function readInteger(value: unknown, at: string, least = 0): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(at, 'must be a whole number');
  if (value < least) throw wrong(at, `must be at least ${least}`);
  return value;
}

/** A boolean, or undefined when absent. */
export function readBoolean(value: unknown, at: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw wrong(at, 'must be true or false');
  return value;
}

/** An object of free content, or undefined when absent. */
export function readMetadata(value: unknown, at: string): Metadata | undefined {
  if (value === undefined || value === null) return undefined;
  return readObject(value, at);
}

/** A list of strings, or undefined when absent or empty. */
export function readStrings(value: unknown, at: string): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const list = readArray(value, at);
  for (let i = 0; i < list.length; i++) {
    if (typeof list[i] !== 'string') throw wrong(`${at}[${i}]`, 'must be a string');
  }
  return list.length === 0 ? undefined : (list as string[]);
}

const plainBase64 = /^[A-Za-z0-9+/]*={0,2}$/;
const anyBase64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Base64 of either alphabet, padded or not, as the standard alphabet with padding. */
export function readBase64(value: unknown, at: string): string {
  if (typeof value !== 'string') throw wrong(at, 'must be a base64 string');
  if (value.length % 4 === 0 && plainBase64.test(value)) return value;
  if (!anyBase64.test(value)) throw wrong(at, 'must be base64');
  const bare = value.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
  if (bare.length % 4 === 1) throw wrong(at, 'must be base64');
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
}

const usualTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * A moment in time, as RFC 3339 in UTC with milliseconds. A text without a zone is read as UTC.
 *
 * @returns undefined when absent, or when it cannot be understood and the reading is lenient.
 */
export function readTimestamp(value: unknown, at: string, reading: DecodeMode): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && usualTimestamp.test(value)) return value;
  const text = typeof value === 'string' && value.includes('T') && !hasZone.test(value) ? `${value}Z` : value;
  const date = typeof text === 'string' || typeof text === 'number' ? new Date(text) : undefined;
  if (date && !Number.isNaN(date.getTime())) {
    reading.losses?.push({
      path: at,
      kind: 'guessed',
      note: `read ${JSON.stringify(value)} as a time in UTC`,
    });
    return date.toISOString();
  }
  if (!reading.lenient) throw wrong(at, 'must be a time such as 2026-06-01T10:00:00.000Z');
  reading.losses?.push({ path: at, kind: 'dropped', note: `${JSON.stringify(value)} is not a time` });
  return undefined;
}
