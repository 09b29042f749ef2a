import { isJsonObject } from '../../../primitives/json.ts';
import type { MessageSchema, SchemaField } from './message-schema.ts';
import { RawProtobufWriter } from './raw-protobuf.ts';

/** Number of an enumeration value that no version defines. */
const unknownEnumNumber = 99;
/** Number of the first field that no version defines. */
const unknownFieldNumber = 15_000;

/**
 * Encodes ProtoJSON. It never throws, because checks send invalid messages on purpose: unknown members become unknown
 * fields, unknown enumeration values become an unknown number, and bytes in place of a text are sent unchanged.
 */
export function encodeProtobuf(schema: MessageSchema, type: string, json: unknown): Uint8Array {
  return writeMessage(schema, type, json).finish();
}

function writeMessage(schema: MessageSchema, type: string, json: unknown): RawProtobufWriter {
  const writer = new RawProtobufWriter();
  const fields = schema.messages.get(type) ?? [];
  let unknown = unknownFieldNumber;
  for (const [name, value] of Object.entries(isJsonObject(json) ? json : {})) {
    const field = fields.find((each) => each.name === name);
    if (value === undefined) continue;
    if (!field) writer.bytes(unknown++, Buffer.from(JSON.stringify(value)));
    else if (value !== null || field.type === 'Value') writeField(schema, writer, field, value);
  }
  return writer;
}

function writeField(
  schema: MessageSchema,
  writer: RawProtobufWriter,
  { number, type, kind }: SchemaField,
  value: unknown,
): void {
  if (kind === 'list')
    for (const each of Array.isArray(value) ? (value as unknown[]) : [])
      writeValue(schema, writer, number, type, each);
  else if (kind === 'map')
    for (const [key, each] of Object.entries(value as object)) {
      const entry = new RawProtobufWriter();
      entry.bytes(1, Buffer.from(key));
      writeValue(schema, entry, 2, type, each);
      writer.bytes(number, entry);
    }
  else writeValue(schema, writer, number, type, value);
}

function writeValue(
  schema: MessageSchema,
  writer: RawProtobufWriter,
  number: number,
  type: string,
  value: unknown,
): void {
  const names = schema.enums.get(type);
  if (names) {
    const known = [...names].find(([, name]) => name === value)?.[0];
    writer.varint(number, BigInt(typeof value === 'number' ? value : (known ?? unknownEnumNumber)));
  } else if (type === 'bool') writer.varint(number, value === true ? 1n : 0n);
  else if (type === 'int32') writer.varint(number, BigInt(Math.trunc(Number(value)) || 0));
  else writer.bytes(number, encodeBytes(schema, type, value));
}

function encodeBytes(schema: MessageSchema, type: string, value: unknown): Uint8Array | RawProtobufWriter {
  if (value instanceof Uint8Array) return value;
  switch (type) {
    case 'string':
      return Buffer.from(String(value));
    case 'bytes':
      return Buffer.from(String(value), 'base64');
    case 'Timestamp':
      return encodeTimestamp(String(value));
    case 'Struct':
      return encodeStruct(value);
    case 'Value':
      return encodeDynamicValue(value);
    default:
      return writeMessage(schema, type, value);
  }
}

function encodeTimestamp(text: string): RawProtobufWriter {
  const writer = new RawProtobufWriter();
  const seconds = Math.floor(Date.parse(text) / 1_000);
  const [, digits = ''] = /\.(\d{1,9})/.exec(text) ?? [];
  writer.varint(1, BigInt(Number.isNaN(seconds) ? -1 : seconds));
  // A text that is no timestamp becomes one that is out of range.
  writer.varint(2, Number.isNaN(seconds) ? -1n : BigInt(digits.padEnd(9, '0')));
  return writer;
}

function encodeStruct(value: unknown): RawProtobufWriter {
  const writer = new RawProtobufWriter();
  for (const [key, each] of Object.entries(isJsonObject(value) ? value : {})) {
    const entry = new RawProtobufWriter();
    entry.bytes(1, Buffer.from(key));
    entry.bytes(2, encodeDynamicValue(each));
    writer.bytes(1, entry);
  }
  return writer;
}

function encodeDynamicValue(value: unknown): RawProtobufWriter {
  const writer = new RawProtobufWriter();
  if (value === null || value === undefined) writer.varint(1, 0n);
  else if (typeof value === 'number') writer.double(2, value);
  else if (typeof value === 'string') writer.bytes(3, Buffer.from(value));
  else if (typeof value === 'boolean') writer.varint(4, value ? 1n : 0n);
  else if (Array.isArray(value)) {
    const list = new RawProtobufWriter();
    for (const each of value as unknown[]) list.bytes(1, encodeDynamicValue(each));
    writer.bytes(6, list);
  } else writer.bytes(5, encodeStruct(value));
  return writer;
}
