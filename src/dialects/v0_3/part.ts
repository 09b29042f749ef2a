import { isJsonObject } from '../../primitives/json.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { DataPart, Metadata, Part } from '../../protocol/part.ts';
import { readCompat, boxedDataFlag, withCompat, withoutCompat } from '../compat-metadata.ts';
import {
  readBase64,
  readMetadata,
  readObject,
  readString,
  type WireObject,
  readName,
} from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readPartsWith } from '../parts.ts';

/**
 * Reads a part in the JSON format of 0.3, tagged by `kind`, or in the protocol buffer format, identified by its
 * member.
 */
function readPart(value: unknown, at: string, mode: DecodeMode): Part {
  const wire = readObject(value, at);
  const part = readContent(wire, at, mode);
  if (wire.metadata === undefined || wire.metadata === null) return part;
  const metadata = readMetadata(wire.metadata, `${at}.metadata`);
  if (metadata !== undefined) restore(part, metadata);
  return part;
}

function readContent(wire: WireObject, at: string, mode: DecodeMode): Part {
  switch (wire.kind ?? contentName(wire)) {
    case 'text': {
      const text = readString(wire.text, `${at}.text`);
      if (text === undefined) throw invalidField(`${at}.text`, 'must be a string');
      return { text };
    }
    case 'file':
      return readFile(readObject(wire.file, `${at}.file`), at, mode);
    case 'data':
      return readData(wire, at, mode);
    default:
      throw invalidField(at, 'must be a part of kind text, file or data');
  }
}

function contentName(wire: WireObject): string | undefined {
  if (typeof wire.text === 'string') return 'text';
  if (wire.file !== undefined && wire.file !== null) return 'file';
  return wire.data === undefined ? undefined : 'data';
}

function readFile(file: WireObject, at: string, mode: DecodeMode): Part {
  // `data` is used in an example of the specification, the longer names in the protocol buffers.
  const bytes = file.bytes ?? file.fileWithBytes ?? file.file_with_bytes ?? file.data ?? undefined;
  const uri = file.uri ?? file.fileWithUri ?? file.file_with_uri ?? undefined;
  if (bytes === undefined && uri === undefined) throw invalidField(`${at}.file`, 'must have bytes or a uri');
  if (bytes !== undefined && uri !== undefined) {
    if (!mode.lenient) throw invalidField(`${at}.file`, 'must have only one of bytes and uri');
    mode.losses?.push({ path: `${at}.file.uri`, kind: 'dropped', note: 'bytes take precedence' });
  }
  const part: Part =
    bytes === undefined
      ? { url: readString(uri, `${at}.file.uri`) ?? '' }
      : { raw: readBase64(bytes, `${at}.file.bytes`) };
  const filename = readName(file.name, `${at}.file.name`, mode);
  if (filename !== undefined) part.filename = filename;
  const mediaType = readName(file.mimeType ?? file.mime_type, `${at}.file.mimeType`, mode);
  if (mediaType !== undefined) part.mediaType = mediaType;
  return part;
}

function readData(wire: WireObject, at: string, mode: DecodeMode): DataPart {
  const { kind, data } = wire;
  if (data === undefined || (data === null && !mode.lenient)) {
    throw invalidField(`${at}.data`, 'must be an object');
  }
  // Only the protocol buffers omit the tag, and they nest `data` twice.
  if (kind === undefined && isJsonObject(data) && isJsonObject(data.data) && Object.keys(data).length === 1) {
    return { data: data.data };
  }
  return { data };
}

/** Sets the metadata of a part and restores the values stored by {@link partMetadata} and {@link boxDataPart}. */
function restore(part: Part, metadata: Metadata): void {
  let left: Metadata | undefined = metadata;
  const carried = readCompat(metadata);
  if (carried) {
    if (typeof carried.filename === 'string') part.filename ??= carried.filename;
    if (typeof carried.mediaType === 'string') part.mediaType ??= carried.mediaType;
    left = withoutCompat(metadata, ['filename', 'mediaType']);
  }
  if (left?.[boxedDataFlag] === true && 'data' in part && isJsonObject(part.data) && 'value' in part.data) {
    part.data = part.data.value;
    const { [boxedDataFlag]: _flag, ...rest } = left;
    left = Object.keys(rest).length > 0 ? rest : undefined;
  }
  if (left !== undefined) part.metadata = left;
}

/** Reads a list of parts; strict mode rejects an empty list. */
export function readParts(value: unknown, at: string, mode: DecodeMode): Part[] {
  return readPartsWith(readPart, value, at, mode);
}

/** Returns the metadata of a text or data part with its name and media type, which 0.3 has only for files. */
export function partMetadata(part: Part): Metadata | undefined {
  if (part.filename === undefined && part.mediaType === undefined) return part.metadata;
  return withCompat(part.metadata, { mediaType: part.mediaType, filename: part.filename });
}

/** Returns data and metadata of a data part. 0.3 allows only objects as data, so other values are boxed. */
export function boxDataPart(part: DataPart): { data: unknown; metadata: Metadata | undefined } {
  const metadata = partMetadata(part);
  if (isJsonObject(part.data)) return { data: part.data, metadata };
  return { data: { value: part.data ?? null }, metadata: { ...metadata, [boxedDataFlag]: true } };
}

/** Writes a 0.3 JSON-RPC part. */
export function writePart(part: Part): unknown {
  if ('text' in part) return { kind: 'text', text: part.text, metadata: partMetadata(part) };
  if ('raw' in part) {
    return {
      kind: 'file',
      file: { bytes: part.raw, mimeType: part.mediaType, name: part.filename },
      metadata: part.metadata,
    };
  }
  if ('url' in part) {
    return {
      kind: 'file',
      file: { uri: part.url, mimeType: part.mediaType, name: part.filename },
      metadata: part.metadata,
    };
  }
  const { data, metadata } = boxDataPart(part);
  return { kind: 'data', data, metadata };
}
