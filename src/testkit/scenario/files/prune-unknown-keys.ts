import * as z from 'zod';
import { isDragomanKey } from './scenario-schema.ts';

/**
 * Leaves out of a value what a schema does not know, and the words that are ours: what is left is what the runner of
 * the Solace Agent Mesh looks at, which says nothing about the rest either.
 */
export function pruneUnknownKeys(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return pruneUnknownKeys(schema.unwrap() as z.ZodType, value);
  if (schema instanceof z.ZodUnion) {
    const option = optionFor(schema.options as readonly z.ZodType[], value);
    return option ? pruneUnknownKeys(option, value) : value;
  }
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((each) => pruneUnknownKeys(schema.element as z.ZodType, each));
  if (!(schema instanceof z.ZodObject) || !isRecord(value)) return value;
  const shape: { readonly [key: string]: z.ZodType } = schema.shape;
  const kept: { [key: string]: unknown } = {};
  for (const [key, each] of Object.entries(value)) {
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    // A key without a value is as good as none, there and here.
    if (known && !isDragomanKey(known) && each !== null) kept[key] = pruneUnknownKeys(known, each);
  }
  return kept;
}

/** Which of several forms is meant: lists are told by being one, mappings by their `type`. */
function optionFor(options: readonly z.ZodType[], value: unknown): z.ZodType | undefined {
  return options.find((option) => {
    if (option instanceof z.ZodArray) return Array.isArray(value);
    if (!(option instanceof z.ZodObject) || !isRecord(value)) return false;
    const tag = (option.shape as { readonly type?: z.ZodType }).type;
    return tag === undefined || tag.safeParse(value.type).success;
  });
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
