/** Formats of the well-known types `Struct`, `Value` and `Timestamp` and their ProtoJSON. */
import { type ByteReader, MalformedMessageError } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { setOwn } from './set-own.ts';

/** Nested values in a message, as in other implementations of protocol buffers. */
export const maxNesting = 100;

export class TooDeeplyNestedError extends MalformedMessageError {
  constructor() {
    super(`values are nested more than ${maxNesting} levels deep`);
  }
}

export function writeProtoStruct(writer: ByteWriter, value: object, depth: number): void {
  if (depth > maxNesting) throw new TooDeeplyNestedError();
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    writer.varint(0x0a);
    const entry = writer.begin();
    writer.varint(0x0a);
    writer.text(key);
    writer.varint(0x12);
    const start = writer.begin();
    writeProtoValue(writer, member, depth + 1);
    writer.end(start);
    writer.end(entry);
  }
}

export function writeProtoValue(writer: ByteWriter, value: unknown, depth: number): void {
  switch (typeof value) {
    case 'number':
      writer.varint(0x11);
      writer.double(value);
      return;
    case 'string':
      writer.varint(0x1a);
      writer.text(value);
      return;
    case 'boolean':
      writer.varint(0x20);
      writer.varint(value ? 1 : 0);
      return;
    default:
  }
  if (Array.isArray(value)) {
    writer.varint(0x32);
    const start = writer.begin();
    writeList(writer, value, depth + 1);
    writer.end(start);
  } else if (typeof value === 'object' && value !== null) {
    writer.varint(0x2a);
    const start = writer.begin();
    writeProtoStruct(writer, value, depth + 1);
    writer.end(start);
  } else {
    writer.varint(0x08);
    writer.varint(0);
  }
}

function writeList(writer: ByteWriter, values: readonly unknown[], depth: number): void {
  if (depth > maxNesting) throw new TooDeeplyNestedError();
  for (const value of values) {
    writer.varint(0x0a);
    const start = writer.begin();
    writeProtoValue(writer, value, depth);
    writer.end(start);
  }
}

/** Reads an object that is preceded by its length. */
export function readProtoStruct(reader: ByteReader, depth: number, into: object = {}): object {
  if (depth > maxNesting) throw new TooDeeplyNestedError();
  const outer = reader.enter();
  reader.countMember();
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    if (tag === 0x0a) readMember(reader, depth, into);
    else reader.skip(tag % 8);
  }
  reader.leave(outer);
  return into;
}

function readMember(reader: ByteReader, depth: number, into: object): void {
  const outer = reader.enter();
  reader.countMember();
  let key = '';
  let value: unknown = null;
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    if (tag === 0x0a) key = reader.text();
    else if (tag === 0x12) value = readProtoValue(reader, depth + 1);
    else reader.skip(tag % 8);
  }
  reader.leave(outer);
  setOwn(into, key, value);
}

/** Reads a value that is preceded by its length. */
export function readProtoValue(reader: ByteReader, depth: number): unknown {
  const outer = reader.enter();
  let value: unknown = null;
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    switch (tag) {
      case 0x08:
        reader.varint();
        value = null;
        break;
      case 0x11:
        value = reader.double();
        if (!Number.isFinite(value)) throw new MalformedMessageError('a number is not finite');
        break;
      case 0x1a:
        value = reader.text();
        break;
      case 0x20:
        value = reader.varint() !== 0;
        break;
      case 0x2a:
        value = readProtoStruct(reader, depth + 1);
        break;
      case 0x32:
        value = readList(reader, depth + 1);
        break;
      default:
        reader.skip(tag % 8);
    }
  }
  reader.leave(outer);
  return value;
}

function readList(reader: ByteReader, depth: number): unknown[] {
  if (depth > maxNesting) throw new TooDeeplyNestedError();
  const outer = reader.enter();
  reader.countMember();
  const values: unknown[] = [];
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    if (tag === 0x0a) values.push(readProtoValue(reader, depth));
    else reader.skip(tag % 8);
  }
  reader.leave(outer);
  return values;
}

const timestampFormat = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/i;

/** Writes an RFC 3339 timestamp with up to nanoseconds. */
export function writeProtoTimestamp(writer: ByteWriter, text: string): void {
  const [, seconds, fraction = '', zone] = timestampFormat.exec(text) ?? [];
  const milliseconds = seconds === undefined ? Number.NaN : Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(milliseconds)) throw new MalformedMessageError(`${text} is not a timestamp`);
  const nanos = Number(fraction.padEnd(9, '0'));
  if (milliseconds !== 0) {
    writer.varint(0x08);
    writer.varint(milliseconds / 1_000);
  }
  if (nanos === 0) return;
  writer.varint(0x10);
  writer.varint(nanos);
}

const minSeconds = Date.parse('0001-01-01T00:00:00Z') / 1_000;
const maxSeconds = Date.parse('9999-12-31T23:59:59Z') / 1_000;

/** Reads a timestamp, preceded by its length, as ProtoJSON: with 0, 3, 6 or 9 digits after the second. */
export function readProtoTimestamp(reader: ByteReader): string {
  const outer = reader.enter();
  let seconds = 0;
  let nanos = 0;
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    if (tag === 0x08) seconds = reader.int64();
    else if (tag === 0x10) nanos = reader.int32();
    else reader.skip(tag % 8);
  }
  reader.leave(outer);
  if (!(seconds >= minSeconds && seconds <= maxSeconds && nanos >= 0 && nanos < 1e9))
    throw new MalformedMessageError('a timestamp is out of range');
  const date = new Date(seconds * 1_000).toISOString().slice(0, -5);
  if (nanos === 0) return `${date}Z`;
  const digits = String(nanos).padStart(9, '0');
  const length = digits.endsWith('000000') ? 3 : digits.endsWith('000') ? 6 : 9;
  return `${date}.${digits.slice(0, length)}Z`;
}
