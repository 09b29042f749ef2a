import * as z from 'zod';
import { isJsonObject } from '../../../primitives/json.ts';
import { isDragomanKey } from './scenario-schema.ts';

/**
 * Removes keys that a schema does not define, and keys that only Dragoman defines. The test runner of Solace Agent Mesh
 * ignores them as well.
 */
export function pruneUnknownKeys(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return pruneUnknownKeys(schema.unwrap() as z.ZodType, value);
  if (schema instanceof z.ZodUnion) {
    const option = findOption(schema.options as readonly z.ZodType[], value);
    return option ? pruneUnknownKeys(option, value) : value;
  }
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((each) => pruneUnknownKeys(schema.element as z.ZodType, each));
  if (!(schema instanceof z.ZodObject) || !isJsonObject(value)) return value;
  const shape: { readonly [key: string]: z.ZodType } = schema.shape;
  const pruned: { [key: string]: unknown } = {};
  for (const [key, each] of Object.entries(value)) {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    // A key without a value counts as missing.
    if (known && !isDragomanKey(known) && each !== null) pruned[key] = pruneUnknownKeys(known, each);
  }
  return pruned;
}

/** Finds the option of a union that applies to a value: by array, or by the `type` of an object. */
function findOption(options: readonly z.ZodType[], value: unknown): z.ZodType | undefined {
  return options.find((option) => {
    if (option instanceof z.ZodArray) return Array.isArray(value);
    if (!(option instanceof z.ZodObject) || !isJsonObject(value)) return false;
    const tag = (option.shape as { readonly type?: z.ZodType }).type;
    return tag === undefined || tag.safeParse(value.type).success;
  });
}
