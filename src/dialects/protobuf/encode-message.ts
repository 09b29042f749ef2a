import { fromBase64 } from './base64.ts';
import { MalformedMessageError } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { prefixSize } from './length-prefix.ts';
import type { FieldType, MessageType } from './message-type.ts';
import { writeProtoStruct, writeProtoTimestamp, writeProtoValue } from './well-known-types.ts';

/** Encoding is synchronous, so that all messages can use one buffer. */
const writer = new ByteWriter();

/** Names of the members around the one that is being written, for errors. */
const path: string[] = [];

/**
 * Encodes the ProtoJSON of a message as protocol buffers. Members without a field are left out.
 *
 * @throws {@link MalformedMessageError} if a member has another type than its field.
 */
export function encodeMessage(type: MessageType, json: unknown): Uint8Array {
  write(type, json, 0);
  return writer.finish();
}

/** Encodes the ProtoJSON of a message as a frame of gRPC. */
export function encodeFrame(type: MessageType, json: unknown): Uint8Array {
  write(type, json, prefixSize);
  return writer.finishFrame();
}

/** Like {@link encodeFrame}, as text in which each character is a byte. For servers only. */
export function encodeFrameText(type: MessageType, json: unknown): string {
  write(type, json, prefixSize);
  return writer.finishFrameText();
}

/** Writes a message after bytes that are left out. */
function write(type: MessageType, json: unknown, skipped: number): void {
  path.length = 0;
  path.push(type.name);
  try {
    writer.skip(skipped);
    writeMessage(type, json);
  } catch (error) {
    writer.discard();
    throw error;
  }
}

function writeMessage(type: MessageType, json: unknown): void {
  if (typeof json !== 'object' || json === null) throw mismatch('an object');
  const members = json as { readonly [name: string]: unknown };
  for (const field of type.fields) {
    const value = members[field.name];
    // A `null` is a missing field, except for a value of any type.
    if (value === undefined || (value === null && field.type !== 'Value')) continue;
    path.push(field.name);
    if (field.cardinality === 'one') writeField(field, field.number, value, field.hasPresence);
    else if (field.cardinality === 'many') writeRepeated(field, value);
    else writeMap(field, value);
    path.pop();
  }
}

function writeRepeated(field: FieldType, value: unknown): void {
  if (!Array.isArray(value)) throw mismatch('an array');
  for (const each of value) writeField(field, field.number, each, true);
}

/** A map is a repeated message of key 1 and value 2. */
function writeMap(field: FieldType, value: unknown): void {
  if (typeof value !== 'object') throw mismatch('an object');
  for (const [key, member] of Object.entries(value ?? {})) {
    writer.varint(field.number * 8 + 2);
    const start = writer.begin();
    writer.varint(0x0a);
    writer.text(key);
    writeField(field, 2, member, true);
    writer.end(start);
  }
}

/**
 * Writes a field.
 *
 * @param hasPresence - true if a default value is written, too.
 */
function writeField({ type }: FieldType, number: number, value: unknown, hasPresence: boolean): void {
  const tag = number * 8;
  if (typeof type === 'object' && type.kind === 'message') {
    writer.varint(tag + 2);
    const start = writer.begin();
    writeMessage(type, value);
    writer.end(start);
    return;
  }
  switch (type) {
    case 'string':
      if (typeof value !== 'string') throw mismatch('a text');
      if (value === '' && !hasPresence) return;
      writer.varint(tag + 2);
      writer.text(value);
      return;
    case 'bytes':
      if (typeof value !== 'string') throw mismatch('base64');
      if (value === '' && !hasPresence) return;
      writer.varint(tag + 2);
      writer.bytes(fromBase64(value));
      return;
    case 'bool':
      if (typeof value !== 'boolean') throw mismatch('true or false');
      if (!value && !hasPresence) return;
      writer.varint(tag);
      writer.varint(value ? 1 : 0);
      return;
    case 'int32':
      if (typeof value !== 'number' || (value | 0) !== value) throw mismatch('an integer of 32 bits');
      if (value === 0 && !hasPresence) return;
      writer.varint(tag);
      writer.varint(value);
      return;
    case 'int64': {
      const integer = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
      if (!Number.isSafeInteger(integer)) throw mismatch('an integer below 2^53');
      if (integer === 0 && !hasPresence) return;
      writer.varint(tag);
      writer.varint(integer as number);
      return;
    }
    case 'Timestamp':
    case 'Struct':
    case 'Value': {
      writer.varint(tag + 2);
      const start = writer.begin();
      writeWellKnown(type, value);
      writer.end(start);
      return;
    }
    default: {
      const known = typeof value === 'number' ? value : type.numbers.get(String(value));
      if (known === undefined) throw mismatch('a known value');
      if (known === 0 && !hasPresence) return;
      writer.varint(tag);
      writer.varint(known);
    }
  }
}

function writeWellKnown(type: 'Timestamp' | 'Struct' | 'Value', value: unknown): void {
  if (type === 'Value') writeProtoValue(writer, value, 1);
  else if (type === 'Timestamp') {
    if (typeof value !== 'string') throw mismatch('a timestamp');
    writeProtoTimestamp(writer, value);
  } else {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch('an object');
    writeProtoStruct(writer, value, 1);
  }
}

function mismatch(expected: string): MalformedMessageError {
  return new MalformedMessageError(`${path.join('.')} is not ${expected}`);
}
