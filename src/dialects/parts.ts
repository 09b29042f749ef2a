import { invalidField } from '../protocol/errors.ts';
import type { Part } from '../protocol/part.ts';
import { readArray } from './field-readers.ts';
import type { DecodeMode } from './translation-loss.ts';

/** Reads a list of parts, which must not be empty in a request. */
export function readPartsWith(
  readPart: (value: unknown, at: string, reading: DecodeMode) => Part,
  value: unknown,
  at: string,
  reading: DecodeMode,
): Part[] {
  if (reading.lenient && (value === undefined || value === null)) {
    reading.losses?.push({ path: at, kind: 'defaulted', note: 'no parts were sent' });
    return [];
  }
  const list = readArray(value, at);
  if (list.length === 0 && !reading.lenient) throw invalidField(at, 'must have at least one part');
  // Not by pushing: a list that grows by itself makes room for many, and most have one.
  return list.map((part, i) => readPart(part, `${at}[${i}]`, reading));
}
