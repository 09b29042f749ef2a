import { toBase64 } from './base64.ts';
import { ByteReader } from './byte-reader.ts';
import { type FieldType, type MessageType, wireTypeOfType } from './message-type.ts';
import { setOwn } from './set-own.ts';
import {
  maxNesting,
  readProtoStruct,
  readProtoTimestamp,
  readProtoValue,
  TooDeeplyNestedError,
} from './well-known-types.ts';

type Json = { [name: string]: unknown };

/**
 * Decodes protocol buffers as ProtoJSON. Unknown fields are left out; unknown values of enumerations are numbers.
 *
 * @param maxMembers - maximum number of objects, lists and members of objects.
 * @throws `MalformedMessageError` if the bytes are no message of this type, or have too many members.
 */
export function decodeMessage(type: MessageType, bytes: Uint8Array, maxMembers?: number): Json {
  return readMessage(type, new ByteReader(bytes, maxMembers), undefined, 1);
}

/** Reads a message that is preceded by its length. @param former - the same message if it occurs a second time */
function readNested(type: MessageType, reader: ByteReader, former: Json | undefined, depth: number): Json {
  const outer = reader.enter();
  const message = readMessage(type, reader, former, depth);
  reader.leave(outer);
  return message;
}

const allBits = -1;

function readMessage(type: MessageType, reader: ByteReader, former: Json | undefined, depth: number): Json {
  if (depth > maxNesting) throw new TooDeeplyNestedError();
  reader.countMember();
  const into = former ?? {};
  // Most fields occur once: looking for their former values takes longer than reading them.
  let seenBits = former ? allBits : 0;
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    const field = type.byTag[tag];
    if (field === undefined) {
      reader.skip(tag % 8);
      continue;
    }
    const { name, cardinality } = field;
    const isRelated = (seenBits & field.relatedBits) !== 0;
    seenBits |= field.bit;
    if (cardinality === 'one') {
      if (isRelated) for (const other of field.alternatives) delete into[other];
      into[name] = readField(field, reader, isRelated ? into[name] : undefined, depth);
    } else if (cardinality === 'map') {
      readEntry(field, reader, (into[name] ??= {}) as Json, depth);
    } else {
      const value = readField(field, reader, undefined, depth);
      // An empty list that grows reserves space for many values, and most lists have one.
      if (isRelated && into[name] !== undefined) (into[name] as unknown[]).push(value);
      else into[name] = [value];
    }
  }
  return into;
}

function readEntry(field: FieldType, reader: ByteReader, into: Json, depth: number): void {
  const outer = reader.enter();
  reader.countMember();
  let key = '';
  let value: unknown;
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    if (tag === 0x0a) key = reader.text();
    else if (tag === 16 + wireTypeOfType(field.type)) value = readField(field, reader, value, depth);
    else reader.skip(tag % 8);
  }
  reader.leave(outer);
  setOwn(into, key, value ?? (field.type === 'string' ? '' : {}));
}

/** Reads a value. Messages that occur twice are merged, as protocol buffers require. */
function readField(field: FieldType, reader: ByteReader, former: unknown, depth: number): unknown {
  const { type } = field;
  if (typeof type === 'object')
    return type.kind === 'message'
      ? readNested(type, reader, former as Json | undefined, depth + 1)
      : readEnum(type.names, reader.int32());
  switch (type) {
    case 'string':
      return field.isId ? reader.id() : reader.text();
    case 'bytes':
      return toBase64(reader.bytes());
    case 'bool':
      return reader.varint() !== 0;
    case 'int32':
      return reader.int32();
    case 'int64':
      return String(reader.int64());
    case 'Timestamp':
      return readProtoTimestamp(reader);
    case 'Struct':
      return readProtoStruct(reader, depth + 1, former ?? {});
    case 'Value':
      return readProtoValue(reader, depth + 1);
  }
}

function readEnum(names: ReadonlyMap<number, string>, value: number): string | number {
  return names.get(value) ?? value;
}
