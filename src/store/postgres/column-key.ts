import { createHash } from 'node:crypto';
import { encodeColumn } from '../durable/column-encoding.ts';

/** Entries of an index of PostgreSQL may have 2,704 bytes; an index has up to two keys, and a character up to four bytes. */
const maxKeyLength = 300;

/** Returns the value of a `_key` column: the text, or a hash of a text that is too long for an index. */
export function columnKey(text: string): string {
  const encoded = encodeColumn(text);
  if (encoded.length <= maxKeyLength) return encoded;
  return `\u0001#${createHash('sha256').update(encoded).digest('base64url')}`;
}
