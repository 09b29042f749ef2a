import { isJsonObject, type JsonObject } from '../../primitives/json.ts';

/** Result of a validation: the value, possibly transformed, or the issues. */
type SchemaResult<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One reason why a value is invalid. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema of zod, Valibot, ArkType or any other library that implements Standard Schema (standardschema.dev). */
export interface StandardSchema<Value = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Value> | Promise<SchemaResult<Value>>;
    readonly types?: { readonly input: unknown; readonly output: Value } | undefined;
  };
}

/** Converts the path of an issue to the form of field names, such as `.items[0].name`. */
export function formatIssuePath({ path = [] }: SchemaIssue): string {
  return path
    .map((segment) => (typeof segment === 'object' ? segment.key : segment))
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('');
}

/** Returns the JSON Schema, if the library of the schema can convert it. */
export function toJsonSchema(schema: StandardSchema, direction: 'input' | 'output'): JsonObject | undefined {
  const { jsonSchema } = schema['~standard'] as { jsonSchema?: { [name: string]: unknown } };
  const convert = jsonSchema?.[direction];
  if (typeof convert !== 'function') return undefined;
  try {
    const converted: unknown = convert.call(jsonSchema, { target: 'draft-2020-12' });
    return isJsonObject(converted) ? converted : undefined;
  } catch {
    // Some types, such as dates, have no JSON Schema. The agent validates its input anyway.
    return undefined;
  }
}
