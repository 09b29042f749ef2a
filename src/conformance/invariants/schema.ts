import { isJsonObject, type JsonObject } from '../drivers/normalized-views.ts';

/** Something wrong in the schema of a thing, and which rule it breaks. */
export interface SchemaError {
  /** The name of the rule, such as `part`. */
  readonly tag: string;
  /** Such as `task.history[0].parts[1]: must have one of …`. */
  readonly message: string;
}

/** Looks at a value, and adds what is wrong with it. */
export type Schema = (value: unknown, at: string, errors: SchemaError[]) => void;

/** One member of an object. */
export interface SchemaMember {
  readonly schema: Schema;
  /** The rule that a missing one breaks; undefined where it may be missing. */
  readonly required?: string;
}

/** A text; `''` is one unless it must not be. */
export function textSchema(tag: string, { mayBeEmpty = true } = {}): Schema {
  return (value, at, errors) => {
    if (typeof value !== 'string')
      errors.push({ tag, message: `${at} must be a text, not ${shortValue(value)}` });
    else if (value === '' && !mayBeEmpty) errors.push({ tag, message: `${at} must not be empty` });
  };
}

/** True or false. */
export function booleanSchema(tag: string): Schema {
  return (value, at, errors) => {
    if (typeof value !== 'boolean')
      errors.push({ tag, message: `${at} must be true or false, not ${shortValue(value)}` });
  };
}

/** Whatever JSON there is. */
export const anySchema: Schema = () => {};

/** Any JSON object. */
export function anyObjectSchema(tag: string): Schema {
  return (value, at, errors) => {
    if (!isJsonObject(value))
      errors.push({ tag, message: `${at} must be an object, not ${shortValue(value)}` });
  };
}

/** One of some words. */
export function enumSchema(tag: string, words: readonly string[]): Schema {
  return (value, at, errors) => {
    if (typeof value !== 'string' || !words.includes(value))
      errors.push({ tag, message: `${at} is ${shortValue(value)}; it may be ${words.join(', ')}` });
  };
}

/** A list. */
export function listSchema(tag: string, each: Schema, { min = 0, minTag = tag } = {}): Schema {
  return (value, at, errors) => {
    if (!Array.isArray(value)) {
      errors.push({ tag, message: `${at} must be a list, not ${shortValue(value)}` });
      return;
    }
    if (value.length < min) errors.push({ tag: minTag, message: `${at} must have at least ${min} element` });
    for (const [index, item] of value.entries()) each(item, `${at}[${index}]`, errors);
  };
}

/**
 * An object with members. Names that differ from a known one only in their spelling break `spelling`; a member that is
 * null counts as missing.
 */
export function objectSchema(
  tag: string,
  members: Readonly<Record<string, SchemaMember>>,
  spelling?: string,
): Schema {
  const bySnake = new Map(Object.keys(members).map((name) => [snake(name), name]));
  return (value, at, errors) => {
    if (!isJsonObject(value)) {
      errors.push({ tag, message: `${at} must be an object, not ${shortValue(value)}` });
      return;
    }
    for (const [name, { schema, required }] of Object.entries(members)) {
      const member = value[name];
      if (member !== undefined && member !== null) schema(member, `${at}.${name}`, errors);
      else if (required !== undefined && !isMisspelt(value, name))
        errors.push({ tag: required, message: `${at}.${name} is missing` });
    }
    if (spelling === undefined) return;
    for (const name of Object.keys(value)) {
      const meant = Object.hasOwn(members, name) ? undefined : bySnake.get(snake(name));
      if (meant !== undefined)
        errors.push({ tag: spelling, message: `${at}.${name} must be written ${meant}` });
    }
  };
}

/** A list of things that each have an id of their own; those without one are another rule's. */
export function uniqueListSchema(tag: string, each: Schema, name: string): Schema {
  const plain = listSchema(tag, each);
  return (value, at, errors) => {
    plain(value, at, errors);
    if (!Array.isArray(value)) return;
    const ids = value
      .map((item) => (isJsonObject(item) ? item[name] : undefined))
      .filter((id) => id !== undefined);
    if (new Set(ids).size !== ids.length) errors.push({ tag, message: `${at} has two of the same ${name}` });
  };
}

function isMisspelt(value: JsonObject, name: string): boolean {
  return value[snake(name)] !== undefined && snake(name) !== name;
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).toLowerCase();
}

/** A value in a few characters. */
export function shortValue(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}
