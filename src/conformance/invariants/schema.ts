import { isObject, type Json } from '../drivers/normalized-views.ts';

/** Something wrong in the shape of a thing, and which rule it breaks. */
export interface Flaw {
  /** The name of the rule, such as `part`. */
  readonly tag: string;
  /** Such as `task.history[0].parts[1]: must have one of …`. */
  readonly message: string;
}

/** Looks at a value, and adds what is wrong with it. */
export type Shape = (value: unknown, at: string, flaws: Flaw[]) => void;

/** One member of an object. */
export interface Member {
  readonly shape: Shape;
  /** The rule that a missing one breaks; undefined where it may be missing. */
  readonly required?: string;
}

/** A text; `''` is one unless it must not be. */
export function text(tag: string, { mayBeEmpty = true } = {}): Shape {
  return (value, at, flaws) => {
    if (typeof value !== 'string') flaws.push({ tag, message: `${at} must be a text, not ${told(value)}` });
    else if (value === '' && !mayBeEmpty) flaws.push({ tag, message: `${at} must not be empty` });
  };
}

/** True or false. */
export function flag(tag: string): Shape {
  return (value, at, flaws) => {
    if (typeof value !== 'boolean')
      flaws.push({ tag, message: `${at} must be true or false, not ${told(value)}` });
  };
}

/** Whatever JSON there is. */
export const anything: Shape = () => {};

/** Any JSON object. */
export function bag(tag: string): Shape {
  return (value, at, flaws) => {
    if (!isObject(value)) flaws.push({ tag, message: `${at} must be an object, not ${told(value)}` });
  };
}

/** One of some words. */
export function oneOf(tag: string, words: readonly string[]): Shape {
  return (value, at, flaws) => {
    if (typeof value !== 'string' || !words.includes(value))
      flaws.push({ tag, message: `${at} is ${told(value)}; it may be ${words.join(', ')}` });
  };
}

/** A list. */
export function list(tag: string, each: Shape, { min = 0, minTag = tag } = {}): Shape {
  return (value, at, flaws) => {
    if (!Array.isArray(value)) {
      flaws.push({ tag, message: `${at} must be a list, not ${told(value)}` });
      return;
    }
    if (value.length < min) flaws.push({ tag: minTag, message: `${at} must have at least ${min} element` });
    for (const [index, item] of value.entries()) each(item, `${at}[${index}]`, flaws);
  };
}

/**
 * An object with members. Names that differ from a known one only in their spelling break `spelling`; a member that is
 * null counts as missing.
 */
export function object(tag: string, members: Readonly<Record<string, Member>>, spelling?: string): Shape {
  const bySnake = new Map(Object.keys(members).map((name) => [snake(name), name]));
  return (value, at, flaws) => {
    if (!isObject(value)) {
      flaws.push({ tag, message: `${at} must be an object, not ${told(value)}` });
      return;
    }
    for (const [name, { shape, required }] of Object.entries(members)) {
      const member = value[name];
      if (member !== undefined && member !== null) shape(member, `${at}.${name}`, flaws);
      else if (required !== undefined && !isMisspelt(value, name))
        flaws.push({ tag: required, message: `${at}.${name} is missing` });
    }
    if (spelling === undefined) return;
    for (const name of Object.keys(value)) {
      const meant = Object.hasOwn(members, name) ? undefined : bySnake.get(snake(name));
      if (meant !== undefined)
        flaws.push({ tag: spelling, message: `${at}.${name} must be written ${meant}` });
    }
  };
}

/** A list of things that each have an id of their own; those without one are another rule's. */
export function listById(tag: string, each: Shape, name: string): Shape {
  const plain = list(tag, each);
  return (value, at, flaws) => {
    plain(value, at, flaws);
    if (!Array.isArray(value)) return;
    const ids = value
      .map((item) => (isObject(item) ? item[name] : undefined))
      .filter((id) => id !== undefined);
    if (new Set(ids).size !== ids.length) flaws.push({ tag, message: `${at} has two of the same ${name}` });
  };
}

function isMisspelt(value: Json, name: string): boolean {
  return value[snake(name)] !== undefined && snake(name) !== name;
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).toLowerCase();
}

/** A value in a few characters. */
export function told(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}
