import { isJsonObject } from '../../primitives/json.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { DataPart, Metadata, Part } from '../../protocol/part.ts';
import {
  type CompatRecord,
  compatKey,
  readCompat,
  boxedDataFlag,
  withCompat,
  withoutCompat,
} from '../compat-metadata.ts';
import {
  isSet,
  readBase64,
  readMetadata,
  readObject,
  readString,
  type WireObject,
  readName,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readPartsWith } from '../parts.ts';

const labels = ['filename', 'mediaType'] as const;

/** Reads a 0.1 part. Without `type` the content field determines the type. */
function readPart(value: unknown, at: string, mode: DecodeMode): Part {
  const wire = readObject(value, at);
  switch (typeOf(wire)) {
    case 'text':
      return withLabels({ text: readRequired(wire.text, `${at}.text`, mode) }, wire, at);
    case 'file':
      return readFile(wire, at, mode);
    case 'data':
      return readData(wire, at, mode);
  }
  if (!mode.lenient) throw invalidField(`${at}.type`, 'must be text, file or data');
  mode.losses?.push({ path: at, kind: 'guessed', note: 'part of unknown type read as data' });
  return { data: wire };
}

function typeOf(wire: WireObject): string | undefined {
  if (wire.type === 'text' || wire.type === 'file' || wire.type === 'data') return wire.type;
  if (isSet(wire.text)) return 'text';
  if (isSet(wire.file)) return 'file';
  return isSet(wire.data) ? 'data' : undefined;
}

function readRequired(value: unknown, at: string, mode: DecodeMode): string {
  const text = readString(value, at);
  if (text === undefined && !mode.lenient) throw invalidField(at, 'must be a string');
  return text ?? '';
}

/** Adds metadata to a part and restores the labels stored in it. */
function withLabels<P extends Part>(part: P, wire: WireObject, at: string): P {
  const metadata = readMetadata(wire.metadata, `${at}.metadata`);
  if (metadata === undefined) return part;
  const carried = readCompat(metadata);
  if (carried) {
    for (const label of labels) if (typeof carried[label] === 'string') part[label] = carried[label];
  }
  const ownMetadata = carried ? withoutCompat(metadata, labels) : metadata;
  if (ownMetadata !== undefined) part.metadata = ownMetadata;
  return part;
}

function readFile(wire: WireObject, at: string, mode: DecodeMode): Part {
  const file = readObject(wire.file, `${at}.file`);
  const bytes = file.bytes ?? file.fileWithBytes;
  const uri = file.uri ?? file.fileWithUri;
  const name = readName(file.name, `${at}.file.name`, mode);
  const mimeType = readName(file.mimeType, `${at}.file.mimeType`, mode);
  if (isSet(bytes) && isSet(uri)) {
    if (!mode.lenient) throw invalidField(`${at}.file`, 'must have only one of bytes and uri');
    mode.losses?.push({ path: `${at}.file.uri`, kind: 'dropped', note: 'bytes take precedence' });
  }
  if (!isSet(bytes) && !isSet(uri)) {
    const metadata = readMetadata(wire.metadata, `${at}.metadata`);
    return { data: {}, metadata: withCompat(metadata, { fileRef: { name, mimeType } }) };
  }
  const part: Part = isSet(bytes)
    ? { raw: readBase64(bytes, `${at}.file.bytes`) }
    : { url: readRequired(uri, `${at}.file.uri`, mode) };
  if (name !== undefined) part.filename = name;
  if (mimeType !== undefined) part.mediaType = mimeType;
  return withLabels(part, wire, at);
}

function readData(wire: WireObject, at: string, mode: DecodeMode): DataPart {
  if (!isSet(wire.data) && !mode.lenient) throw invalidField(`${at}.data`, 'must be an object');
  const part = withLabels<DataPart>({ data: wire.data ?? null }, wire, at);
  if (part.metadata?.[boxedDataFlag] !== true) return part;
  const { [boxedDataFlag]: _flag, ...metadata } = part.metadata;
  if (Object.keys(metadata).length > 0) part.metadata = metadata;
  else delete part.metadata;
  const box = part.data;
  if (typeof box === 'object' && box !== null && 'value' in box) part.data = box.value;
  return part;
}

/** Reads a list of parts; strict mode rejects an empty list. */
export function readParts(value: unknown, at: string, mode: DecodeMode): Part[] {
  return readPartsWith(readPart, value, at, mode);
}

function writePart(part: Part, at: string, losses: LossList): unknown {
  if ('text' in part) {
    return { type: 'text', text: part.text, metadata: carryLabels(part, at, losses) };
  }
  if ('raw' in part) {
    return {
      type: 'file',
      file: { name: part.filename, mimeType: part.mediaType, bytes: part.raw },
      metadata: part.metadata,
    };
  }
  if ('url' in part) {
    return {
      type: 'file',
      file: { name: part.filename, mimeType: part.mediaType, uri: part.url },
      metadata: part.metadata,
    };
  }
  return writeData(part, at, losses);
}

function writeData(part: DataPart, at: string, losses: LossList): unknown {
  const { data } = part;
  const metadata = carryLabels(part, at, losses);
  if (!isJsonObject(data)) {
    // 0.1 allows only objects as data; other values are boxed.
    return { type: 'data', data: { value: data }, metadata: { ...metadata, [boxedDataFlag]: true } };
  }
  const ref = readCompat(metadata)?.fileRef;
  if (typeof ref !== 'object' || ref === null || Object.keys(data).length > 0) {
    return { type: 'data', data, metadata };
  }
  const { name, mimeType } = ref as WireObject;
  return { type: 'file', file: { name, mimeType }, metadata: withoutCompat(metadata, ['fileRef']) };
}

/** Returns the metadata of a text or data part with the labels that 0.1 has only for files. */
function carryLabels(part: Part, at: string, losses: LossList): Metadata | undefined {
  if (part.filename === undefined && part.mediaType === undefined) return part.metadata;
  const carried: CompatRecord = { ...readCompat(part.metadata) };
  for (const label of labels) {
    if (part[label] === undefined) continue;
    carried[label] = part[label];
    losses?.push({
      path: `${at}.${label}`,
      kind: 'dropped',
      note: `0.1 has no ${label} for text and data; stored in the metadata`,
    });
  }
  return { ...part.metadata, [compatKey]: carried };
}

/** Writes a list of parts. */
export function writeParts(parts: readonly Part[], at: string, losses: LossList): unknown[] {
  const wire: unknown[] = [];
  for (let i = 0; i < parts.length; i++) {
    wire.push(writePart(parts[i] as Part, losses ? `${at}[${i}]` : at, losses));
  }
  return wire;
}
