import { fieldPath, type WireObject } from '../dialects/field-readers.ts';
import { isJsonObject } from '../primitives/json.ts';
import { cardSchema, type CardField, type CardSchema } from './card-schema.ts';

/** Options of {@link applyPresenceRules}. */
export interface PresenceRules {
  /** Adds missing REQUIRED fields with their default. */
  readonly addsRequired: boolean;
  /** Retains members that 1.0 does not define. */
  readonly retainsUnknown: boolean;
}

/** Returns a wire card without signatures in the form of the presence rules of 1.0 (§8.4.1). */
export function applyPresenceRules(card: WireObject, rules: PresenceRules): WireObject {
  const { signatures: _excluded, ...content } = card;
  return normalizeMessage(content, cardSchema, rules);
}

function normalizeMessage(wire: WireObject, schema: CardSchema, rules: PresenceRules): WireObject {
  const members: [string, unknown][] = [];
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(wire)) {
    if (value === undefined) continue;
    const field = Object.hasOwn(schema, name) ? schema[name] : undefined;
    if (field === undefined) {
      if (rules.retainsUnknown) members.push([name, value]);
      continue;
    }
    // In ProtoJSON null is the same as absent.
    if (value === null) continue;
    if (field.presence === 'implicit' && isDefault(value, field)) continue;
    seen.add(name);
    members.push([name, normalizeValue(value, field, rules)]);
  }
  if (rules.addsRequired) {
    for (const [name, field] of Object.entries(schema)) {
      if (field.presence === 'required' && !seen.has(name)) members.push([name, defaultOf(field, rules)]);
    }
  }
  // Assignment would lose a member named __proto__ and leave it unsigned.
  return Object.fromEntries(members);
}

/** Values of unexpected types are unchanged: the signature covers them as they are. */
function normalizeValue(value: unknown, { kind, of }: CardField, rules: PresenceRules): unknown {
  if (of === undefined) return value;
  const inner = (each: unknown): unknown => (isJsonObject(each) ? normalizeMessage(each, of, rules) : each);
  if (kind === 'message') return inner(value);
  if (kind === 'list') return Array.isArray(value) ? value.map(inner) : value;
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner(each)]));
}

/** Messages have no default: an empty message is present. */
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
  return kind === 'message' && of ? normalizeMessage({}, of, rules) : {};
}

/** Removes empty texts, lists and objects and null, recursively. @returns undefined if nothing is left */
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

/** Returns the paths of all empty texts, lists and objects and of null. */
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

/** Returns the paths of the members of `whole` that are missing in `part`, which has the same lists. */
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
