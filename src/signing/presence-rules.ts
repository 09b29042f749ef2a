import { fieldPath, type WireObject } from '../dialects/field-readers.ts';
import { cardSchema, type CardField, type CardSchema } from './card-schema.ts';

/** How to bring a card into the form that is signed. */
export interface PresenceRules {
  /** Puts REQUIRED fields that are missing there with their default. */
  readonly fills: boolean;
  /** Keeps members that 1.0 does not know, as they are. */
  readonly keepsUnknown: boolean;
}

/** Tells a JSON object from the other values. */
export function isJsonObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Brings a wire card, without its signatures, into the form that the presence rules of 1.0 give it (§8.4.1). */
export function applyPresenceRules(card: WireObject, rules: PresenceRules): WireObject {
  const { signatures: _excluded, ...content } = card;
  return message(content, cardSchema, rules);
}

function message(wire: WireObject, shape: CardSchema, rules: PresenceRules): WireObject {
  const kept: [string, unknown][] = [];
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(wire)) {
    if (value === undefined) continue;
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field === undefined) {
      if (rules.keepsUnknown) kept.push([name, value]);
      continue;
    }
    // ProtoJSON: null is the same as not there.
    if (value === null) continue;
    if (field.presence === 'implicit' && isDefault(value, field)) continue;
    seen.add(name);
    kept.push([name, within(value, field, rules)]);
  }
  if (rules.fills) {
    for (const [name, field] of Object.entries(shape)) {
      if (field.presence === 'required' && !seen.has(name)) kept.push([name, defaultOf(field, rules)]);
    }
  }
  // Not by assignment, which would lose a member called __proto__ and leave it unsigned.
  return Object.fromEntries(kept);
}

/** What is of another type than 1.0 says stays as it is: the signature decides about it, not the rules. */
function within(value: unknown, { kind, of }: CardField, rules: PresenceRules): unknown {
  if (of === undefined) return value;
  const inner = (each: unknown): unknown => (isJsonObject(each) ? message(each, of, rules) : each);
  if (kind === 'message') return inner(value);
  if (kind === 'list') return Array.isArray(value) ? value.map(inner) : value;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]));
}

/** Messages have no default: a message that is set is there, however empty. */
function isDefault(value: unknown, { kind }: CardField): boolean {
  switch (kind) {
    case 'text':
      return value === '';
    case 'flag':
      return value === false;
    case 'texts':
    case 'list':
      return Array.isArray(value) && value.length === 0;
    case 'textMap':
    case 'map':
      return isJsonObject(value) && Object.keys(value).length === 0;
    case 'free':
    case 'message':
      return false;
  }
}

function defaultOf({ kind, of }: CardField, rules: PresenceRules): unknown {
  if (kind === 'text') return '';
  if (kind === 'flag') return false;
  if (kind === 'texts' || kind === 'list') return [];
  return kind === 'message' && of ? message({}, of, rules) : {};
}

/** Takes every empty text, list and object away, and every null, from the inside out; what is left, or undefined. */
export function removeEmptyValues(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined;
  if (Array.isArray(value)) {
    const left = value.map(removeEmptyValues).filter((each) => each !== undefined);
    return left.length > 0 ? left : undefined;
  }
  if (!isJsonObject(value)) return value;
  const left = Object.entries(value)
    .map(([name, each]) => [name, removeEmptyValues(each)] as const)
    .filter(([, each]) => each !== undefined);
  return left.length > 0 ? Object.fromEntries(left) : undefined;
}

/** The paths of all empty texts, lists and objects, and of every null. */
export function findEmptyPaths(value: unknown, at = ''): string[] {
  if (value === '' || value === null) return [at];
  if (Array.isArray(value)) {
    return value.length === 0 ? [at] : value.flatMap((each, i) => findEmptyPaths(each, `${at}[${i}]`));
  }
  if (!isJsonObject(value)) return [];
  const entries = Object.entries(value);
  if (entries.length === 0) return [at];
  return entries.flatMap(([name, each]) => findEmptyPaths(each, fieldPath(at, name)));
}

/** The paths of all members of `whole` that `part`, which has the same lists, does not have. */
export function findMissingPaths(whole: unknown, part: unknown, at = ''): string[] {
  if (Array.isArray(whole) && Array.isArray(part)) {
    return whole.flatMap((each, i) => findMissingPaths(each, part[i], `${at}[${i}]`));
  }
  if (!isJsonObject(whole) || !isJsonObject(part)) return [];
  return Object.entries(whole).flatMap(([name, each]) =>
    Object.hasOwn(part, name)
      ? findMissingPaths(each, part[name], fieldPath(at, name))
      : [fieldPath(at, name)],
  );
}
