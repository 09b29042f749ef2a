import { describe, expect, it } from 'vitest';
import { decodeProtobuf } from './decode-message.ts';
import { encodeProtobuf } from './encode-message.ts';
import { parseMessageSchema } from './message-schema.ts';

const schema = parseMessageSchema(
  `Root: name 1 string, count 2 int32, on 3 bool, color 4 Color, raw 5 bytes, list 6 string[], child 7 Root, data 8 Value, at 9 Timestamp, map 10 Root{}, bag 11 Struct
List: items 1 string[]!, total 2 int32!, token 3 string!`,
  { Color: { 1: 'RED', 2: 'BLUE' } },
);
const decode = (...bytes: readonly number[]) => decodeProtobuf(schema, 'Root', Uint8Array.from(bytes));
const problemOf = (...bytes: readonly number[]) => decode(...bytes).problems[0];

describe('encodeProtobuf', () => {
  it('writes the bytes that the encoding of protobuf defines', () => {
    const json = { name: 'hü', count: -1, on: true, color: 'BLUE', child: { count: 150 } };
    expect(Buffer.from(encodeProtobuf(schema, 'Root', json)).toString('hex')).toBe(
      '0a0368c3bc10ffffffffffffffffff01180120023a03109601',
    );
  });

  it('writes unknown members as unknown fields, and unknown enumeration values as an unknown number', () => {
    const { json, problems } = decodeProtobuf(
      schema,
      'Root',
      encodeProtobuf(schema, 'Root', { color: 'GREEN', fromTheFuture: { a: 1 } }),
    );
    expect(json).toEqual({ color: 99 });
    expect(problems.map(({ kind }) => kind)).toEqual(['enum', 'unknown-field']);
  });
});

describe('decodeProtobuf', () => {
  it('returns what was encoded', () => {
    const json = {
      name: '',
      count: 2_147_483_647,
      on: false,
      color: 'RED',
      raw: 'AAH/',
      list: ['', 'ü'],
      child: { child: {} },
      data: { a: [1, -2.5, null, 'x', true, [], {}], ['__proto__']: 1 },
      at: '2026-01-31T12:00:00.123Z',
      map: { a: { count: 1 }, b: {} },
      bag: { x: { y: 0 } },
    };
    expect(decodeProtobuf(schema, 'Root', encodeProtobuf(schema, 'Root', json))).toEqual({
      json,
      problems: [],
    });
  });

  it('adds the members that JSON requires', () => {
    expect(decodeProtobuf(schema, 'List', new Uint8Array()).json).toEqual({ items: [], total: 0, token: '' });
  });

  it('writes timestamps with nanoseconds, and describes those that are out of range', () => {
    expect(decode(0x4a, 4, 0x08, 1, 0x10, 7).json).toEqual({ at: '1970-01-01T00:00:01.000000007Z' });
    const encoded = encodeProtobuf(schema, 'Root', { at: 'yesterday' });
    expect(decodeProtobuf(schema, 'Root', encoded).json).toEqual({ at: '-1 seconds and -1 nanoseconds' });
  });

  it.each([
    ['a varint without an end', [0x10, 0xff], 'malformed'],
    ['a length after the end', [0x0a, 9, 0x61], 'malformed'],
    ['a group', [0x0b], 'malformed'],
    ['the field number 0', [0x02, 0], 'malformed'],
    ['a string with the wire type of a number', [0x08, 1], 'malformed'],
    ['a Value without a kind', [0x42, 0], 'malformed'],
    ['a string that is not UTF-8', [0x0a, 2, 0xc3, 0x28], 'utf8'],
    ['an unknown enumeration value', [0x20, 9], 'enum'],
    ['an unknown field', [0xf8, 0x01, 1], 'unknown-field'],
    ['a single field that occurs twice', [0x10, 1, 0x10, 2], 'repeated'],
  ] as const)('reports %s', (_name, bytes, kind) => {
    expect(problemOf(...bytes)?.kind).toBe(kind);
  });

  it('stops at deeply nested messages', () => {
    let bytes = new Uint8Array();
    for (let level = 0; level < 1_000; level++) bytes = new Uint8Array(wrap(bytes));
    const { problems } = decodeProtobuf(schema, 'Root', bytes);
    expect(problems[0]?.message).toMatch(/more than 200 levels/);
  });

  it('reads a replacement character that the agent sent as valid', () => {
    expect(decode(0x0a, 3, 0xef, 0xbf, 0xbd)).toEqual({ json: { name: '\ufffd' }, problems: [] });
  });
});

/** Puts a message into the field `child` of another one. */
function wrap(message: Uint8Array): Uint8Array {
  return encodeProtobuf(schema, 'Root', { child: message });
}
