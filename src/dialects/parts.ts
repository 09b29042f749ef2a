import { invalidField } from '../protocol/errors.ts';
import type { Part } from '../protocol/part.ts';
import { readArray } from './field-readers.ts';
import type { DecodeMode } from './translation-loss.ts';

/** Reads a list of parts; strict mode rejects an empty list. */
export function readPartsWith(
  readPart: (value: unknown, at: string, mode: DecodeMode) => Part,
  value: unknown,
  at: string,
  mode: DecodeMode,
): Part[] {
  if (mode.lenient && (value === undefined || value === null)) {
    mode.losses?.push({ path: at, kind: 'defaulted', note: 'missing parts' });
    return [];
  }
  const list = readArray(value, at);
  if (list.length === 0 && !mode.lenient) throw invalidField(at, 'must have at least one part');
  // map() allocates the exact size; push() reserves space for many parts, and most lists have one.
  return list.map((part, i) => readPart(part, `${at}[${i}]`, mode));
}
