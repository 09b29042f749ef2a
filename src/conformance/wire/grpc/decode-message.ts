import type { JsonObject } from '../../../primitives/json.ts';
import type { MessageSchema, SchemaField } from './message-schema.ts';
import { type RawField, readRawFields } from './raw-protobuf.ts';

/** A fact about the bytes of a message that ProtoJSON cannot show. */
export interface WireProblem {
  /**
   * `malformed`: the bytes are not a message, or a field has the wrong wire type. `utf8`: a string is not UTF-8. `enum`:
   * an unknown number. `unknown-field`: a field that the type does not have. `repeated`: a single field occurs twice.
   * `deep`: the content is nested too deeply to be decoded.
   */
  readonly kind: 'malformed' | 'utf8' | 'enum' | 'unknown-field' | 'repeated' | 'deep';
  /** Such as `task.status.state has the unknown number 99`. */
  readonly message: string;
}

/** A message in the form of ProtoJSON. */
export interface DecodedMessage {
  readonly json: JsonObject;
  readonly problems: readonly WireProblem[];
}

/** Implementations of protobuf have similar limits. */
const maxDepth = 200;

/** Decodes a message. It never throws: what cannot be decoded is a problem. */
export function decodeProtobuf(schema: MessageSchema, type: string, bytes: Uint8Array): DecodedMessage {
  const decoder = new MessageDecoder(schema);
  const json = decoder.message(type, bytes, '', 0);
  return { json, problems: decoder.problems };
}

class MessageDecoder {
  readonly problems: WireProblem[] = [];
  readonly #schema: MessageSchema;

  constructor(schema: MessageSchema) {
    this.#schema = schema;
  }

  message(type: string, bytes: Uint8Array, at: string, depth: number): Record<string, unknown> {
    const json: Record<string, unknown> = {};
    const fields = this.#schema.messages.get(type) ?? [];
    for (const { name, type: fieldType, kind, isRequired } of fields)
      if (isRequired)
        json[name] =
          kind === 'list'
            ? []
            : kind === 'map'
              ? {}
              : fieldType === 'string'
                ? ''
                : fieldType === 'bool'
                  ? false
                  : 0;
    const seen = new Set<string>();
    for (const raw of this.#fields(bytes, at, depth)) {
      const field = fields.find(({ number }) => number === raw.number);
      const path = at === '' ? (field?.name ?? '') : `${at}.${field?.name ?? ''}`;
      if (!field) this.#add('unknown-field', `${at === '' ? type : at} has the unknown field ${raw.number}`);
      else if (field.kind === 'list') {
        const list = (json[field.name] ??= []) as unknown[];
        list.push(...this.#listItems(field, raw, `${path}[${list.length}]`, depth));
      } else if (field.kind === 'map') {
        const [key, value] = this.#mapEntry(field.type, raw, path, depth);
        Object.defineProperty((json[field.name] ??= {}), key, member(value));
      } else {
        if (seen.has(field.name)) this.#add('repeated', `${path} occurs twice`);
        seen.add(field.name);
        json[field.name] = this.#value(field.type, raw, path, depth);
      }
    }
    return json;
  }

  #fields(bytes: Uint8Array, at: string, depth: number): RawField[] {
    if (depth > maxDepth) {
      this.#add('deep', `${at.slice(0, 80)}… has more than ${maxDepth} levels`);
      return [];
    }
    const fields = readRawFields(bytes);
    if (typeof fields !== 'string') return fields;
    this.#add('malformed', `${at === '' ? 'The message' : at} has ${fields}`);
    return [];
  }

  /** Numbers may be packed into one field. */
  #listItems({ type }: SchemaField, raw: RawField, at: string, depth: number): unknown[] {
    const isNumber = type === 'int32' || type === 'bool' || this.#schema.enums.has(type);
    if (!isNumber || raw.wireType !== 2) return [this.#value(type, raw, at, depth)];
    const items: unknown[] = [];
    let integer = 0n;
    let shift = 0n;
    for (const byte of raw.bytes) {
      integer |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if (byte >= 0x80) continue;
      items.push(this.#value(type, { ...raw, wireType: 0, integer }, at, depth));
      [integer, shift] = [0n, 0n];
    }
    return items;
  }

  #mapEntry(type: string, raw: RawField, at: string, depth: number): [key: string, value: unknown] {
    let [key, value]: [string, unknown] = ['', type === 'string' ? '' : {}];
    if (!this.#expectWireType(raw, 2, at)) return [key, value];
    for (const each of this.#fields(raw.bytes, at, depth + 1)) {
      if (each.number === 1) key = String(this.#value('string', each, `${at} (key)`, depth));
      if (each.number === 2) value = this.#value(type, each, `${at}.${key}`, depth + 1);
    }
    return [key, value];
  }

  #value(type: string, raw: RawField, at: string, depth: number): unknown {
    const names = this.#schema.enums.get(type);
    const wireType = type === 'double' ? 1 : names || type === 'int32' || type === 'bool' ? 0 : 2;
    if (!this.#expectWireType(raw, wireType, at)) return undefined;
    const number = Number(BigInt.asIntN(64, raw.integer));
    if (names) {
      const name = names.get(number);
      if (name === undefined && number !== 0) this.#add('enum', `${at} has the unknown number ${number}`);
      // Zero is the unspecified value of every enumeration, which means that it is missing.
      return number === 0 ? undefined : (name ?? number);
    }
    switch (type) {
      case 'bool':
        return raw.integer !== 0n;
      case 'int32':
        return number;
      case 'double':
        return new DataView(raw.bytes.buffer, raw.bytes.byteOffset).getFloat64(0, true);
      case 'bytes':
        return Buffer.from(raw.bytes).toString('base64');
      case 'string':
        return this.#text(raw.bytes, at);
      case 'Timestamp':
        return this.#timestamp(raw.bytes, at, depth + 1);
      case 'Struct':
        return this.#struct(raw.bytes, at, depth + 1);
      case 'Value':
        return this.#dynamicValue(raw.bytes, at, depth + 1);
      default:
        return this.message(type, raw.bytes, at, depth + 1);
    }
  }

  #text(bytes: Uint8Array, at: string): string {
    const text = Buffer.from(bytes).toString('utf8');
    // Invalid bytes are decoded to U+FFFD, which the agent may also have sent.
    if (text.includes('\ufffd') && !Buffer.from(text).equals(bytes))
      this.#add('utf8', `${at} is not valid UTF-8`);
    return text;
  }

  #timestamp(bytes: Uint8Array, at: string, depth: number): string {
    let [seconds, nanos] = [0, 0];
    for (const raw of this.#fields(bytes, at, depth)) {
      if (!this.#expectWireType(raw, 0, at)) continue;
      const value = Number(BigInt.asIntN(64, raw.integer));
      if (raw.number === 1) seconds = value;
      if (raw.number === 2) nanos = value;
    }
    const date = new Date(seconds * 1_000);
    const isValid = nanos >= 0 && nanos < 1_000_000_000 && !Number.isNaN(date.getTime());
    if (!isValid) return `${seconds} seconds and ${nanos} nanoseconds`;
    const digits = String(nanos).padStart(9, '0');
    return date
      .toISOString()
      .replace(/\d{3}Z$/, `${digits.endsWith('000000') ? digits.slice(0, 3) : digits}Z`);
  }

  #struct(bytes: Uint8Array, at: string, depth: number): JsonObject {
    const json = {};
    for (const raw of this.#fields(bytes, at, depth)) {
      if (raw.number !== 1) continue;
      const [key, value] = this.#mapEntry('Value', raw, at, depth);
      Object.defineProperty(json, key, member(value));
    }
    return json;
  }

  #dynamicValue(bytes: Uint8Array, at: string, depth: number): unknown {
    const raw = this.#fields(bytes, at, depth).at(-1);
    if (depth > maxDepth) return null;
    switch (raw?.number) {
      case 1:
        return null;
      case 2:
        return this.#value('double', raw, at, depth);
      case 3:
        return this.#value('string', raw, at, depth);
      case 4:
        return this.#value('bool', raw, at, depth);
      case 5:
        return this.#struct(raw.bytes, at, depth + 1);
      case 6:
        return this.#fields(raw.bytes, at, depth + 1).map((each, index) =>
          this.#dynamicValue(each.bytes, `${at}[${index}]`, depth + 1),
        );
      default:
        this.#add('malformed', `${at} is a Value without a kind`);
        return null;
    }
  }

  #expectWireType(raw: RawField, expected: number, at: string): boolean {
    if (raw.wireType === expected) return true;
    this.#add('malformed', `${at} has the wire type ${raw.wireType} instead of ${expected}`);
    return false;
  }

  #add(kind: WireProblem['kind'], message: string): void {
    if (this.problems.length < 20) this.problems.push({ kind, message });
  }
}

/** Keys such as `__proto__` come from the agent. */
const member = (value: unknown): PropertyDescriptor => ({
  value,
  enumerable: true,
  configurable: true,
  writable: true,
});
