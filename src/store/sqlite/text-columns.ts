import { LruSet } from '../../primitives/lru-map.ts';
import { isUtf8 } from 'node:buffer';
import { A2AError } from '../../protocol/errors.ts';
import type { SqlRow } from './database.ts';

/** A stored row is damaged: its text is not UTF-8 or not the JSON that was written. */
export class DamagedRowError extends A2AError {
  /** @param place - table and key, for the operator. */
  constructor(place: string, cause?: unknown) {
    super('INTERNAL_ERROR', 'The stored task is damaged', {
      cause: new Error(`Damaged row in the task store: ${place}`, { cause }),
      hint: 'Stop the process and run dragoman store check FILE --repair.',
    });
  }
}

/**
 * Returns the SQL expression of text columns as one blob, named `texts`, for {@link readTexts}. `libsql` aborts the process
 * when it reads text that is not UTF-8, so text is never read directly. A single blob is as fast as text.
 */
export function textColumns(...columns: readonly string[]): string {
  return `cast(${columns.map((column) => `coalesce(${column}, x'01')`).join(` || x'00' || `)} as blob) as texts`;
}

/**
 * Returns the values of {@link textColumns}; null for missing ones. Text columns contain neither NUL nor a single U+0001,
 * see `encodeColumn`.
 *
 * @throws {@link DamagedRowError}
 */
export function readTexts(row: SqlRow, place: () => string): (string | null)[] {
  const blob = row['texts'] as unknown as Uint8Array | ArrayBuffer;
  const bytes =
    blob instanceof ArrayBuffer ? Buffer.from(blob) : Buffer.from(blob.buffer, blob.byteOffset, blob.length);
  if (!isUtf8(bytes)) throw new DamagedRowError(place());
  const texts: (string | null)[] = bytes.toString('utf8').split('\0');
  for (let index = 0; index < texts.length; index++) if (texts[index] === '\u0001') texts[index] = null;
  return texts;
}

/** Like {@link readTexts}, but returns an empty list for a damaged row. */
export function tryReadTexts(row: SqlRow): (string | null)[] {
  try {
    return readTexts(row, () => '');
  } catch {
    return [];
  }
}

/** Parses stored JSON. @throws {@link DamagedRowError} */
export function parseStored(text: string, place: () => string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new DamagedRowError(place(), cause);
  }
}

/** Returns a function that reports each damaged row once. */
export function reportOnce(
  report: ((error: DamagedRowError) => void) | undefined,
): (error: DamagedRowError) => void {
  const reported = new LruSet<string>({ maxEntries: 1_000 });
  return (error) => {
    const place = (error.cause as Error).message;
    if (reported.has(place)) return;
    reported.add(place);
    report?.(error);
  };
}
