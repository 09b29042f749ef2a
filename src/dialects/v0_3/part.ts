import { invalidField } from '../../protocol/errors.ts';
import type { DataPart, Metadata, Part } from '../../protocol/part.ts';
import { readCompat, boxedDataFlag, withCompat, withoutCompat } from '../compat-metadata.ts';
import {
  readBase64,
  readMetadata,
  readObject,
  readString,
  readOptionalText,
  type WireObject,
} from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { readPartsWith } from '../parts.ts';

/**
 * Reads a part in either form of 0.3: tagged by `kind` as JSON-RPC has it, or named by its member as the protocol
 * buffers have it.
 */
function readPart(value: unknown, at: string, reading: DecodeMode): Part {
  const wire = readObject(value, at);
  const part = readContent(wire, at, reading);
  if (wire.metadata === undefined || wire.metadata === null) return part;
  const metadata = readMetadata(wire.metadata, `${at}.metadata`);
  if (metadata !== undefined) restore(part, metadata);
  return part;
}

function readContent(wire: WireObject, at: string, reading: DecodeMode): Part {
  switch (wire.kind ?? contentName(wire)) {
    case 'text': {
      const text = readString(wire.text, `${at}.text`);
      if (text === undefined) throw invalidField(`${at}.text`, 'must be a string');
      return { text };
    }
    case 'file':
      return readFile(readObject(wire.file, `${at}.file`), at, reading);
    case 'data':
      return readData(wire, at, reading);
    default:
      throw invalidField(at, 'must be a part of kind text, file or data');
  }
}

function contentName(wire: WireObject): string | undefined {
  if (typeof wire.text === 'string') return 'text';
  if (wire.file !== undefined && wire.file !== null) return 'file';
  return wire.data === undefined ? undefined : 'data';
}

function readFile(file: WireObject, at: string, reading: DecodeMode): Part {
  // `data` stands in one printed example, the longer names in the protocol buffers.
  const bytes = file.bytes ?? file.fileWithBytes ?? file.file_with_bytes ?? file.data ?? undefined;
  const uri = file.uri ?? file.fileWithUri ?? file.file_with_uri ?? undefined;
  if (bytes === undefined && uri === undefined) throw invalidField(`${at}.file`, 'must have bytes or a uri');
  if (bytes !== undefined && uri !== undefined) {
    if (!reading.lenient) throw invalidField(`${at}.file`, 'must have only one of bytes and uri');
    reading.losses?.push({
      path: `${at}.file.uri`,
      kind: 'dropped',
      note: 'a file with both keeps its bytes',
    });
  }
  const part: Part =
    bytes === undefined
      ? { url: readString(uri, `${at}.file.uri`) ?? '' }
      : { raw: readBase64(bytes, `${at}.file.bytes`) };
  const filename = readOptionalText(file.name, `${at}.file.name`);
  if (filename !== undefined) part.filename = filename;
  const mediaType = readOptionalText(file.mimeType ?? file.mime_type, `${at}.file.mimeType`);
  if (mediaType !== undefined) part.mediaType = mediaType;
  return part;
}

function readData(wire: WireObject, at: string, reading: DecodeMode): DataPart {
  const { kind, data } = wire;
  if (data === undefined || (data === null && !reading.lenient)) {
    throw invalidField(`${at}.data`, 'must be an object');
  }
  // Only the protocol buffers leave out the tag, and they say `data` twice.
  if (kind === undefined && isObject(data) && isObject(data.data) && Object.keys(data).length === 1) {
    return { data: data.data };
  }
  return { data };
}

function isObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Gives a part its metadata, and back what {@link partMetadata} and {@link boxDataPart} put there. */
function restore(part: Part, metadata: Metadata): void {
  let left: Metadata | undefined = metadata;
  const carried = readCompat(metadata);
  if (carried) {
    if (typeof carried.filename === 'string') part.filename ??= carried.filename;
    if (typeof carried.mediaType === 'string') part.mediaType ??= carried.mediaType;
    left = withoutCompat(metadata, ['filename', 'mediaType']);
  }
  if (left?.[boxedDataFlag] === true && 'data' in part && isObject(part.data) && 'value' in part.data) {
    part.data = part.data.value;
    const { [boxedDataFlag]: _flag, ...rest } = left;
    left = Object.keys(rest).length > 0 ? rest : undefined;
  }
  if (left !== undefined) part.metadata = left;
}

/** Reads a list of parts that must not be empty in a request. */
export function readParts(value: unknown, at: string, reading: DecodeMode): Part[] {
  return readPartsWith(readPart, value, at, reading);
}

/** The metadata of a part that is no file: it also carries the name and the media type, for which 0.3 has no place. */
export function partMetadata(part: Part): Metadata | undefined {
  if (part.filename === undefined && part.mediaType === undefined) return part.metadata;
  return withCompat(part.metadata, { mediaType: part.mediaType, filename: part.filename });
}

/** The data and metadata of a data part: 0.3 allows only objects as data, so any other value travels in a box. */
export function boxDataPart(part: DataPart): { data: unknown; metadata: Metadata | undefined } {
  const metadata = partMetadata(part);
  if (isObject(part.data)) return { data: part.data, metadata };
  return { data: { value: part.data ?? null }, metadata: { ...metadata, [boxedDataFlag]: true } };
}

/** Writes a part as 0.3 has it over JSON-RPC. */
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
