/** ProtoJSON and protocol buffers agree for every message, as other libraries understand them. */
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type Registry,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import * as fc from 'fast-check';
import { A2AService as service0_3 } from 'sdk-0.3/server/grpc';
import { A2AService as service1_0 } from 'sdk-1.3/server/grpc';
import { describe, expect, it } from 'vitest';
import { decodeMessage } from './decode-message.ts';
import { buildFileDescriptor } from './descriptors/file-descriptor.ts';
import { wellKnownFileDescriptors } from './descriptors/well-known-files.ts';
import { encodeMessage } from './encode-message.ts';
import { grpcServices } from './grpc-service.ts';
import type { FieldType, MessageType } from './message-type.ts';
import { messages0_3 } from './messages-0_3.ts';
import { messages1_0 } from './messages-1_0.ts';
import { messages1_1 } from '../v1_1/protobuf-messages.ts';

const runs = { numRuns: 20 };
const maxDepth = 3;

/** Names that are special in JavaScript are names like others. */
const key = fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('toString', 'constructor', ''));
const text = fc.oneof(
  fc.string({ maxLength: 20, unit: 'grapheme' }),
  fc.string({ minLength: 45, maxLength: 140, unit: 'binary' }),
);
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
);
/** What a library can represent. */
interface Abilities {
  /** Earliest time, in milliseconds since 1970. */
  readonly since: number;
  /** True if `null` is a value. */
  readonly hasNull: boolean;
  /** Fields that it does not know, with the names of their messages. */
  readonly unknown: readonly string[];
}

const all: Abilities = { since: -62_135_596_800_000, hasNull: true, unknown: [] };

const jsonValue = ({ hasNull }: Abilities): fc.Arbitrary<unknown> =>
  fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      ...(hasNull ? [fc.constant(null)] : []),
      fc.boolean(),
      number,
      text,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;

/** Generates the ProtoJSON of a message from its table, without values that mean the same as a missing field. */
function jsonOf(type: MessageType, able: Abilities = all, depth = 0): fc.Arbitrary<object> {
  const fields = type.fields.filter(
    (field) =>
      (depth < maxDepth || typeof field.type !== 'object') &&
      !able.unknown.includes(`${type.name}.${field.name}`),
  );
  const oneofs = new Map<string, FieldType[]>();
  for (const field of fields)
    if (field.oneof !== undefined) oneofs.set(field.oneof, [...(oneofs.get(field.oneof) ?? []), field]);
  const single = fields.filter(({ oneof }) => oneof === undefined);
  const members = fc.record(
    Object.fromEntries(single.map((field) => [field.name, fieldOf(field, able, depth)])),
    {
      requiredKeys: [],
      noNullPrototype: true,
    },
  );
  const choices = [...oneofs.values()].map((alternatives) =>
    fc.option(
      fc.oneof(
        ...alternatives.map((field) => fieldOf(field, able, depth).map((value) => ({ [field.name]: value }))),
      ),
      { nil: {} },
    ),
  );
  return fc.tuple(members, ...choices).map((parts) => Object.assign({}, ...parts) as object);
}

function fieldOf(field: FieldType, able: Abilities, depth: number): fc.Arbitrary<unknown> {
  const one = valueOf(field, able, depth);
  if (field.cardinality === 'many') return fc.array(one, { minLength: 1, maxLength: 2 });
  if (field.cardinality === 'map')
    return fc.dictionary(key, one, { minKeys: 1, maxKeys: 2, noNullPrototype: true });
  const isDefault = (value: unknown): boolean =>
    value === '' || value === 0 || value === '0' || value === false;
  return field.hasPresence ? one : one.filter((value) => !isDefault(value) && !isUnspecified(value));
}

const isUnspecified = (value: unknown): boolean =>
  typeof value === 'string' && value.endsWith('_UNSPECIFIED');

function valueOf({ type }: FieldType, able: Abilities, depth: number): fc.Arbitrary<unknown> {
  if (typeof type === 'object')
    return type.kind === 'message' ? jsonOf(type, able, depth + 1) : fc.constantFrom(...type.numbers.keys());
  switch (type) {
    case 'string':
      return text;
    case 'bytes':
      return fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('base64'));
    case 'bool':
      return fc.boolean();
    case 'int32':
      return fc.integer();
    case 'int64':
      return fc.maxSafeInteger().map(String);
    case 'Timestamp':
      return fc
        .date({ min: new Date(able.since), max: new Date(253_402_300_799_999), noInvalidDate: true })
        .map((date) => date.toISOString().replace('.000Z', 'Z'));
    case 'Struct':
      return fc.dictionary(key, jsonValue(able), { maxKeys: 3, noNullPrototype: true });
    case 'Value':
      return jsonValue(able);
  }
}

/** Reads the descriptions of the messages with another library. */
function registryOf(packageName: string, messages: readonly MessageType[]): Registry {
  const own = buildFileDescriptor({ name: 'a.proto', package: packageName, messages });
  const file = [...wellKnownFileDescriptors(), own].map(({ base64 }) =>
    fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, 'base64')),
  );
  return createFileRegistry(create(FileDescriptorSetSchema, { file }));
}

describe.each([
  ['1.0', 'lf.a2a.v1', messages1_0],
  ['1.1', 'lf.a2a.v1', messages1_1],
  ['0.3', 'a2a.v1', messages0_3],
] as const)('messages of %s', (_version, packageName, messages) => {
  const types = Object.values<MessageType>(messages).filter(({ name }) => name !== 'Empty');
  const registry = registryOf(packageName, types);

  it.each(types.map((type) => [type.name, type] as const))('%s is the same in both formats', (name, type) => {
    const schema = registry.getMessage(`${packageName}.${name}`) as DescMessage;
    fc.assert(
      fc.property(jsonOf(type), (json) => {
        const bytes = encodeMessage(type, json);
        expect(decodeMessage(type, bytes)).toEqual(json);
        const message = fromJson(schema, json as JsonValue);
        expect(toJson(schema, fromBinary(schema, bytes))).toEqual(toJson(schema, message));
        expect(decodeMessage(type, toBinary(schema, message))).toEqual(json);
      }),
      runs,
    );
  });

  it('keep unknown fields out, and unknown values of enumerations as numbers', () => {
    fc.assert(
      fc.property(jsonOf(messages.Task), fc.integer({ min: 100, max: 1_000 }), (json, value) => {
        const unknown = encodeMessage(messages.TaskStatus, { state: value });
        expect(decodeMessage(messages.TaskStatus, unknown)).toEqual({ state: value });
        const known = encodeMessage(messages.Task, json);
        // Field 1,000 with a text.
        const more = Uint8Array.from([...known, 0xc2, 0x3e, 2, 0x61, 0x62]);
        expect(decodeMessage(messages.Task, more)).toEqual(json);
      }),
      runs,
    );
  });
});

interface OfficialMethod {
  readonly path: string;
  readonly requestSerialize: (value: unknown) => Uint8Array;
  readonly requestDeserialize: (bytes: Uint8Array) => unknown;
  readonly responseSerialize: (value: unknown) => Uint8Array;
  readonly responseDeserialize: (bytes: Uint8Array) => unknown;
}

describe('the official codecs', () => {
  // Their fractions of a second before 1970 are negative. In those of 0.3, `null` in metadata becomes 0.
  const able1_0: Abilities = { ...all, since: 0 };
  const able0_3: Abilities = {
    since: 0,
    hasNull: false,
    unknown: ['Part.metadata', 'FilePart.name', 'AgentCard.iconUrl'],
  };
  const official = new Map(
    [...Object.values(service1_0), ...Object.values(service0_3)].map((method) => [
      method.path as string,
      method as unknown as OfficialMethod,
    ]),
  );
  const methods = grpcServices.flatMap((service) =>
    service.methods.map((method) => [service.path + method.name, method] as const),
  );

  it.each(methods)('read and write the messages of %s', (path, { request, response }) => {
    const method = official.get(path);
    if (!method) throw new Error(`The official SDK has no method ${path}`);
    const check = (
      type: MessageType,
      read: (bytes: Uint8Array) => unknown,
      write: (value: unknown) => Uint8Array,
    ): void =>
      fc.assert(
        fc.property(jsonOf(type, path.startsWith('/lf.') ? able1_0 : able0_3), (json) => {
          const again = write(read(Buffer.from(encodeMessage(type, json))));
          expect(decodeMessage(type, again)).toEqual(json);
        }),
        runs,
      );
    check(request, method.requestDeserialize, method.requestSerialize);
    check(response, method.responseDeserialize, method.responseSerialize);
  });
});
