import { isJsonObject, type JsonObject } from '../../../../../src/primitives/json.ts';

/**
 * Applies the difference between two values to a third one, so that members that the form does not know stay as the user
 * wrote them.
 */
export function mergeJson(written: unknown, before: unknown, after: unknown): unknown {
  if (isSame(before, after)) return written;
  if (isJsonObject(written) && isJsonObject(before) && isJsonObject(after))
    return mergeObjects(written, before, after);
  if (
    Array.isArray(written) &&
    Array.isArray(before) &&
    Array.isArray(after) &&
    isEqualLength(written, before, after)
  )
    return written.map((each: unknown, at) => mergeJson(each, before[at], after[at]));
  return after;
}

function mergeObjects(written: JsonObject, before: JsonObject, after: JsonObject): JsonObject {
  const merged = new Map(Object.entries(written));
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const next = own(after, name);
    if (isSame(own(before, name), next)) continue;
    if (next === undefined) merged.delete(name);
    else merged.set(name, mergeJson(own(written, name), own(before, name), next));
  }
  return Object.fromEntries(merged);
}

function own(value: JsonObject, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isEqualLength(...lists: readonly (readonly unknown[])[]): boolean {
  return lists.every(({ length }) => length === lists[0]?.length);
}
