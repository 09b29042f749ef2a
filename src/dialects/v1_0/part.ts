import { invalidField } from '../../protocol/errors.ts';
import type { Part } from '../../protocol/part.ts';
import { isSet, readBase64, readObject, readString, type WireObject, readName } from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readPartsWith } from '../parts.ts';

/**
 * Reads a 1.0 part: exactly one of `text`, `raw`, `url` and `data`, where `data: null` is content and `null` of the others
 * means absent.
 */
function readPart(value: unknown, at: string, mode: DecodeMode): Part {
  const wire = readObject(value, at);
  const part = readContent(wire, at, mode);
  const type = wire.mediaType ?? wire.media_type;
  const filename = isSet(wire.filename) ? readName(wire.filename, `${at}.filename`, mode) : undefined;
  if (filename !== undefined) part.filename = filename;
  const mediaType = isSet(type) ? readName(type, `${at}.mediaType`, mode) : undefined;
  if (mediaType !== undefined) part.mediaType = mediaType;
  if (isSet(wire.metadata)) part.metadata = readObject(wire.metadata, `${at}.metadata`);
  return part;
}

function readContent(wire: WireObject, at: string, mode: DecodeMode): Part {
  const hasText = wire.text !== undefined && wire.text !== null;
  const hasRaw = wire.raw !== undefined && wire.raw !== null;
  const hasUrl = wire.url !== undefined && wire.url !== null;
  // null besides other content is an unset member of the oneof; alone it is the JSON value null.
  const hasData = wire.data !== undefined && (wire.data !== null || !(hasText || hasRaw || hasUrl));
  const contents = Number(hasText) + Number(hasRaw) + Number(hasUrl) + Number(hasData);
  if (contents === 0) throw invalidField(at, 'must have one of text, raw, url and data');
  if (contents > 1) {
    if (!mode.lenient) throw invalidField(at, 'must have only one of text, raw, url and data');
    mode.losses?.push({ path: at, kind: 'dropped', note: 'a part with several contents; the first is used' });
  }
  if (hasText) return { text: readString(wire.text, `${at}.text`) ?? '' };
  if (hasRaw) return { raw: readBase64(wire.raw, `${at}.raw`) };
  if (hasUrl) return { url: readString(wire.url, `${at}.url`) ?? '' };
  return { data: wire.data };
}

/** Reads a list of parts; strict mode rejects an empty list. */
export function readParts(value: unknown, at: string, mode: DecodeMode): Part[] {
  return readPartsWith(readPart, value, at, mode);
}

/** Writes parts. Parts of the model have the 1.0 format. */
export function writeParts(parts: readonly Part[]): unknown {
  return parts;
}
