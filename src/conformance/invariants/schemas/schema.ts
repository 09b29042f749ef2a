import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';

/** A schema violation and the rule that it violates. */
export interface SchemaError {
  /** Last part of the rule id, such as `part`. */
  readonly tag: string;
  /** Such as `task.history[0].parts[1] must have exactly one of …`. */
  readonly message: string;
}

/** Validates a value and appends the errors. `at` is the path of the value. */
export type Schema = (value: unknown, at: string, errors: SchemaError[]) => void;

/** One member of an object. */
export interface SchemaMember {
  readonly schema: Schema;
  /** Tag of the error if the member is missing; undefined for an optional member. */
  readonly required?: string;
}

/** Declares a required member. */
export function requiredMember(tag: string, schema: Schema): SchemaMember {
  return { schema, required: tag };
}

function typeSchema(tag: string, expected: string, isValid: (value: unknown) => boolean): Schema {
  return (value, at, errors) => {
    if (!isValid(value)) errors.push({ tag, message: `${at} must be ${expected}, not ${shortValue(value)}` });
  };
}

/** A string; `''` is valid by default. */
export function textSchema(tag: string, { mayBeEmpty = true } = {}): Schema {
  const string = typeSchema(tag, 'a string', (value) => typeof value === 'string');
  return (value, at, errors) => {
    string(value, at, errors);
    if (value === '' && !mayBeEmpty) errors.push({ tag, message: `${at} must not be empty` });
  };
}

/** A string that is not empty. */
export function idSchema(tag: string): Schema {
  return textSchema(tag, { mayBeEmpty: false });
}

/** `true` or `false`. */
export function booleanSchema(tag: string): Schema {
  return typeSchema(tag, 'true or false', (value) => typeof value === 'boolean');
}

/** An integer from 0. */
export function countSchema(tag: string): Schema {
  return typeSchema(tag, 'an integer from 0', (value) => Number.isInteger(value) && (value as number) >= 0);
}

/** Any JSON value. */
export const anySchema: Schema = () => {};

/** Any JSON object. */
export function anyObjectSchema(tag: string): Schema {
  return typeSchema(tag, 'an object', isJsonObject);
}

/** One of the listed strings. */
export function enumSchema(tag: string, values: readonly string[]): Schema {
  return typeSchema(
    tag,
    `one of ${values.join(', ')}`,
    (value) => typeof value === 'string' && values.includes(value),
  );
}

/** An array with at least `min` elements. */
export function listSchema(tag: string, each: Schema, { min = 0, minTag = tag } = {}): Schema {
  const array = typeSchema(tag, 'an array', Array.isArray);
  return (value, at, errors) => {
    array(value, at, errors);
    if (!Array.isArray(value)) return;
    if (value.length < min) errors.push({ tag: minTag, message: `${at} must have at least ${min} element` });
    for (const [index, item] of value.entries()) each(item, `${at}[${index}]`, errors);
  };
}

/**
 * An object with the listed members; a plain schema is an optional member and `null` counts as missing. Names that
 * differ from a listed one only in their case style are reported with the tag `spelling`.
 */
export function objectSchema(
  tag: string,
  members: Readonly<Record<string, SchemaMember | Schema>>,
  spelling?: string,
): Schema {
  const object = anyObjectSchema(tag);
  const bySnakeCase = new Map(Object.keys(members).map((name) => [toSnakeCase(name), name]));
  return (value, at, errors) => {
    object(value, at, errors);
    if (!isJsonObject(value)) return;
    for (const [name, member] of Object.entries(members)) {
      const { schema, required }: SchemaMember = typeof member === 'function' ? { schema: member } : member;
      if (isPresent(value, name)) schema(value[name], `${at}.${name}`, errors);
      else if (required !== undefined && !isMisspelled(value, name))
        errors.push({ tag: required, message: `${at}.${name} is missing` });
    }
    if (spelling === undefined) return;
    for (const name of Object.keys(value)) {
      const expected = Object.hasOwn(members, name) ? undefined : bySnakeCase.get(toSnakeCase(name));
      if (expected !== undefined)
        errors.push({ tag: spelling, message: `${at}.${name} must be named ${expected}` });
    }
  };
}

/** An array whose elements have different values in the member `name`; elements without it are ignored. */
export function uniqueListSchema(tag: string, each: Schema, name: string): Schema {
  const list = listSchema(tag, each);
  return (value, at, errors) => {
    list(value, at, errors);
    if (!Array.isArray(value)) return;
    const ids = value
      .map((item) => (isJsonObject(item) ? item[name] : undefined))
      .filter((id) => id !== undefined);
    if (new Set(ids).size !== ids.length)
      errors.push({ tag, message: `${at} has two elements with the same ${name}` });
  };
}

/** Exactly one of the listed members, validated with its schema; other members are ignored. */
export function oneOfSchema(
  tag: string,
  members: Readonly<Record<string, Schema>>,
  isIn: (value: JsonObject, name: string) => boolean = isPresent,
): Schema {
  const names = Object.keys(members);
  return (value, at, errors) => {
    const present = isJsonObject(value) ? names.filter((name) => isIn(value, name)) : [];
    if (present.length !== 1)
      errors.push({
        tag,
        message: `${at} must have exactly one of ${names.join(', ')}, not ${present.join(' and ') || shortValue(value)}`,
      });
    for (const name of present) members[name]?.((value as JsonObject)[name], `${at}.${name}`, errors);
  };
}

/** Returns true if the member is neither missing nor `null`. */
export function isPresent(value: JsonObject, name: string): boolean {
  return value[name] !== undefined && value[name] !== null;
}

function isMisspelled(value: JsonObject, name: string): boolean {
  return value[toSnakeCase(name)] !== undefined && toSnakeCase(name) !== name;
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).toLowerCase();
}

/** Returns a value as JSON of at most 60 characters. */
export function shortValue(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}
