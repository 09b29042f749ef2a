import { fromBase64 } from './base64.ts';
import { MalformedMessageError } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { prefixSize, writePrefix } from './length-prefix.ts';
import type { FieldType, MessageType } from './message-type.ts';
import { writeProtoStruct, writeProtoTimestamp, writeProtoValue } from './well-known-types.ts';

/** Encoding is synchronous, so that all messages can use one buffer. */
const writer = new ByteWriter();

/**
 * Encodes the ProtoJSON of a message as protocol buffers. Members without a field are left out.
 *
 * @throws {@link MalformedMessageError} if a member has another type than its field.
 */
export function encodeMessage(type: MessageType, json: unknown): Uint8Array {
  try {
    writeMessage(type, json, type.name);
    return writer.finish();
  } catch (error) {
    writer.discard();
    throw error;
  }
}

/** Encodes the ProtoJSON of a message as a frame of gRPC. */
export function encodeFrame(type: MessageType, json: unknown): Uint8Array {
  try {
    writer.skip(prefixSize);
    writeMessage(type, json, type.name);
    const bytes = writer.finish();
    writePrefix(bytes);
    return bytes;
  } catch (error) {
    writer.discard();
    throw error;
  }
}

function writeMessage(type: MessageType, json: unknown, path: string): void {
  if (typeof json !== 'object' || json === null) throw mismatch(path, 'an object');
  const members = json as { readonly [name: string]: unknown };
  for (const field of type.fields) {
    const value = members[field.name];
    // A `null` is a missing field, except for a value of any type.
    if (value === undefined || (value === null && field.type !== 'Value')) continue;
    if (field.cardinality === 'one') writeField(field, value, path);
    else if (field.cardinality === 'many') writeRepeated(field, value, path);
    else writeMap(field, value, path);
  }
}

function writeRepeated(field: FieldType, value: unknown, path: string): void {
  if (!Array.isArray(value)) throw mismatch(`${path}.${field.name}`, 'an array');
  const single: FieldType = { ...field, hasPresence: true };
  for (const each of value) writeField(single, each, path);
}

/** A map is a repeated message of key 1 and value 2. */
function writeMap(field: FieldType, value: unknown, path: string): void {
  if (typeof value !== 'object') throw mismatch(`${path}.${field.name}`, 'an object');
  const entry: FieldType = { ...field, number: 2, hasPresence: true };
  for (const [key, member] of Object.entries(value ?? {})) {
    writer.varint(field.number * 8 + 2);
    writer.delimited(() => {
      writer.varint(0x0a);
      writer.text(key);
      writeField(entry, member, path);
    });
  }
}

function writeField(field: FieldType, value: unknown, path: string): void {
  const { type, number, hasPresence } = field;
  if (typeof type === 'object' && type.kind === 'message') {
    writer.varint(number * 8 + 2);
    writer.delimited(() => writeMessage(type, value, `${path}.${field.name}`));
    return;
  }
  const tag = number * 8;
  const at = (): string => `${path}.${field.name}`;
  switch (type) {
    case 'string':
      if (typeof value !== 'string') throw mismatch(at(), 'a text');
      if (value === '' && !hasPresence) return;
      writer.varint(tag + 2);
      writer.text(value);
      return;
    case 'bytes':
      if (typeof value !== 'string') throw mismatch(at(), 'base64');
      if (value === '' && !hasPresence) return;
      writer.varint(tag + 2);
      writer.bytes(fromBase64(value));
      return;
    case 'bool':
      if (typeof value !== 'boolean') throw mismatch(at(), 'true or false');
      if (!value && !hasPresence) return;
      writer.varint(tag);
      writer.varint(value ? 1 : 0);
      return;
    case 'int32':
      if (typeof value !== 'number' || (value | 0) !== value) throw mismatch(at(), 'an integer of 32 bits');
      if (value === 0 && !hasPresence) return;
      writer.varint(tag);
      writer.varint(value);
      return;
    case 'Timestamp':
      if (typeof value !== 'string') throw mismatch(at(), 'a timestamp');
      writer.varint(tag + 2);
      writer.delimited(() => writeProtoTimestamp(writer, value));
      return;
    case 'Struct':
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw mismatch(at(), 'an object');
      writer.varint(tag + 2);
      writer.delimited(() => writeProtoStruct(writer, value, 1));
      return;
    case 'Value':
      writer.varint(tag + 2);
      writer.delimited(() => writeProtoValue(writer, value, 1));
      return;
    default: {
      const known = typeof value === 'number' ? value : type.numbers.get(String(value));
      if (known === undefined) throw mismatch(at(), 'a known value');
      if (known === 0 && !hasPresence) return;
      writer.varint(tag);
      writer.varint(known);
    }
  }
}

function mismatch(path: string, expected: string): MalformedMessageError {
  return new MalformedMessageError(`${path} is not ${expected}`);
}
