import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { DocumentPath } from '../../../documents/schema-issues.ts';
import type { DataMatchSpec } from '../schema/condition-schema.ts';
import type { Condition, ConditionInput } from './compile-conditions.ts';
import { resolveDataPath, parseDataPath } from '../templates/data-path.ts';
import { quoteValue } from '../templates/text-format.ts';
import { TextMatcher } from './text-matcher.ts';

/** One requirement of a JSON value. */
interface Requirement {
  readonly expected: string;
  matches(value: unknown): boolean;
}

/** Creates a condition that holds if at least one of several JSON values fulfills all requirements. */
export function createDataMatcher(
  name: string,
  spec: DataMatchSpec,
  getValues: (input: ConditionInput) => unknown[],
  path: DocumentPath,
  report: (path: DocumentPath, message: string) => void,
): Condition {
  const dataPath = spec.path === undefined ? [] : parseDataPath(spec.path);
  if (!dataPath) report([...path, 'path'], 'must be a path such as order.items[0].sku');
  const requirements = compileRequirements(spec, path, report);
  const findValues = (input: ConditionInput): unknown[] =>
    getValues(input).map((value) => resolveDataPath(value, dataPath ?? []));
  return {
    name: spec.path === undefined ? name : `${name} ${spec.path}`,
    expected: requirements.map(({ expected }) => expected).join(' and '),
    matches: (input) => {
      const values = findValues(input);
      // Without values, `exists: false` can still hold.
      return (values.length > 0 ? values : [undefined]).some((value) =>
        requirements.every((each) => each.matches(value)),
      );
    },
    actual: (input) => findValues(input).slice(0, 3).map(quoteValue).join(' and ') || 'missing',
  };
}

function compileRequirements(
  spec: DataMatchSpec,
  path: DocumentPath,
  report: (path: DocumentPath, message: string) => void,
): Requirement[] {
  const { equals, exists, text, schema } = spec;
  const requirements: Requirement[] = [];
  if (equals !== undefined)
    requirements.push({ expected: quoteValue(equals), matches: (value) => isDeepStrictEqual(value, equals) });
  if (text !== undefined) {
    const matcher = new TextMatcher(text, [...path, 'text'], report);
    const matches = (value: unknown): boolean => typeof value === 'string' && matcher.matches(value);
    requirements.push({ expected: matcher.expected, matches });
  }
  if (schema !== undefined) {
    const matches = compileSchema(schema, (message) => report([...path, 'schema'], message));
    requirements.push({ expected: `to match the schema ${quoteValue(schema)}`, matches });
  }
  const isExpected = exists ?? true;
  if (exists !== undefined || requirements.length === 0)
    requirements.push({
      expected: isExpected ? 'to exist' : 'to be missing',
      matches: (value) => (value !== undefined) === isExpected,
    });
  return requirements;
}

function compileSchema(
  schema: { readonly [keyword: string]: unknown },
  report: (message: string) => void,
): (value: unknown) => boolean {
  try {
    const zodSchema = z.fromJSONSchema(withImpliedType(schema) as z.core.JSONSchema.JSONSchema);
    return (value) => value !== undefined && zodSchema.safeParse(value).success;
  } catch (thrown) {
    report((thrown as Error).message);
    return () => false;
  }
}

/** Adds a missing `type` that other keywords imply, because zod needs it. */
function withImpliedType(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withImpliedType);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'enum' || key === 'const' || key === 'default'
        ? value
        : key === 'properties'
          ? Object.fromEntries(
              Object.entries(value as object).map(([name, each]) => [name, withImpliedType(each)]),
            )
          : withImpliedType(value),
    ]),
  );
  if ('type' in copy) return copy;
  if ('properties' in copy || 'required' in copy) return { type: 'object', ...copy };
  return 'items' in copy ? { type: 'array', ...copy } : copy;
}
