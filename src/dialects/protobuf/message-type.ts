/** Types with a format of their own: the well-known types of protocol buffers that A2A uses. */
const wellKnown = ['Struct', 'Value', 'Timestamp'] as const;
const scalars = ['string', 'bytes', 'bool', 'int32', 'int64'] as const;

/** A type without fields of its own. */
type SimpleType = (typeof scalars)[number] | (typeof wellKnown)[number];

/** An enumeration: names and numbers of its values. */
export interface EnumType {
  readonly kind: 'enum';
  /** Its name; within a message, with the name of the message and a dot. */
  readonly name: string;
  readonly numbers: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<number, string>;
}

/** A field of a message. */
export interface FieldType {
  readonly number: number;
  /** Its name in ProtoJSON. */
  readonly name: string;
  /** Its name in the protocol buffers. */
  readonly protoName: string;
  readonly type: SimpleType | EnumType | MessageType;
  readonly cardinality: 'one' | 'many' | 'map';
  /** True if a default value differs from a missing one. */
  readonly hasPresence: boolean;
  /** Name of its oneof, if it belongs to one. */
  readonly oneof: string | undefined;
  /** The other fields of its oneof. */
  readonly alternatives: readonly string[];
  /** True for ids of tasks, contexts, messages and artifacts. */
  readonly isId: boolean;
  /** The bit of this field among the fields of its message. */
  readonly bit: number;
  /** The bits of this field and its alternatives: if none of them was read before, there is no former value. */
  readonly relatedBits: number;
}

/** A message: its fields by name in ProtoJSON and by tag. */
export interface MessageType {
  readonly kind: 'message';
  readonly name: string;
  readonly fields: FieldType[];
  /** The fields by the tags that precede them: number and wire type. */
  readonly byTag: (FieldType | undefined)[];
}

/**
 * The fields of messages, as `name: 'NUMBER TYPE'`. After the type, `[]` means repeated, `{}` a map with keys of text, and
 * `?` that a default value differs from a missing one. Fields of a oneof have its name after `|`. A name after `as` is the
 * one in the protocol buffers, where it is not the name in ProtoJSON with underscores.
 */
export type MessageTable = { readonly [message: string]: { readonly [field: string]: string } };

/** The values of enumerations. The first one is 0. */
export type EnumTable = { readonly [name: string]: readonly string[] };

const fieldFormat = /^(\d+) ([\w.]+)(\[\]|\{\}|\?)?(?: \| (\w+))?(?: as (\w+))?$/;

/** Builds the types of a table. */
export function buildMessageTypes<T extends MessageTable>(
  table: T,
  enums: EnumTable,
): { readonly [K in keyof T]: MessageType } {
  const types = new Map<string, SimpleType | EnumType | MessageType>();
  for (const name of [...scalars, ...wellKnown]) types.set(name, name);
  for (const [name, values] of Object.entries(enums)) types.set(name, buildEnum(name, values));
  const messages = {} as { [K in keyof T]: MessageType };
  for (const name of Object.keys(table) as (keyof T & string)[])
    messages[name] = { kind: 'message', name, fields: [], byTag: [] };
  for (const [name, message] of Object.entries(messages)) types.set(name, message);
  for (const [name, fields] of Object.entries(table)) {
    const message = messages[name];
    const oneofs = Object.entries(fields).map(([field, text]) => [field, parseField(text).oneof] as const);
    if (oneofs.length > 31) throw new Error(`${name} has too many fields`);
    for (const [index, [field, text]] of Object.entries(fields).entries()) {
      const { number, typeName, mark, oneof, protoName = toSnakeCase(field) } = parseField(text);
      const type = types.get(typeName);
      if (type === undefined) throw new Error(`Unknown type ${typeName} of ${name}.${field}`);
      const isRelated = (other: number): boolean =>
        other === index || (oneof !== undefined && oneofs[other]?.[1] === oneof);
      const built: FieldType = {
        number,
        name: field,
        protoName,
        type,
        cardinality: mark === '[]' ? 'many' : mark === '{}' ? 'map' : 'one',
        hasPresence: mark === '?' || oneof !== undefined || isMessageLike(type),
        oneof,
        alternatives:
          oneof === undefined
            ? []
            : oneofs.filter(([other, its]) => its === oneof && other !== field).map(([other]) => other),
        isId: /^id$|Id$/.test(field),
        bit: 1 << index,
        relatedBits: oneofs.reduce((bits, _, other) => (isRelated(other) ? bits | (1 << other) : bits), 0),
      };
      message?.fields.push(built);
      if (message) message.byTag[number * 8 + wireTypeOf(built)] = built;
    }
  }
  return messages;
}

/** Messages, maps, texts and bytes have wire type 2; numbers have wire type 0. */
function wireTypeOf({ cardinality, type }: FieldType): number {
  return cardinality === 'map' ? 2 : wireTypeOfType(type);
}

/** Returns the wire type of a value. */
export function wireTypeOfType(type: FieldType['type']): number {
  if (type === 'bool' || type === 'int32' || type === 'int64') return 0;
  return typeof type === 'object' && type.kind === 'enum' ? 0 : 2;
}

function parseField(text: string): {
  number: number;
  typeName: string;
  mark: string | undefined;
  oneof: string | undefined;
  protoName: string | undefined;
} {
  const [, number, typeName = '', mark, oneof, protoName] = fieldFormat.exec(text) ?? [];
  if (number === undefined) throw new Error(`Malformed field ${text}`);
  return { number: Number(number), typeName, mark, oneof, protoName };
}

function isMessageLike(type: FieldType['type']): boolean {
  return typeof type === 'object' ? type.kind === 'message' : (wellKnown as readonly string[]).includes(type);
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function buildEnum(name: string, values: readonly string[]): EnumType {
  return {
    kind: 'enum',
    name,
    numbers: new Map(values.map((value, number) => [value, number])),
    names: new Map(values.map((value, number) => [number, value])),
  };
}
