import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { DocumentPath } from '../../../documents/schema-issues.ts';
import type { DataMatchSpec } from '../schema/condition-schema.ts';
import type { Condition, ConditionInput } from './compile-conditions.ts';
import { resolveDataPath, parseDataPath } from '../templates/data-path.ts';
import { quoteValue } from '../templates/text-format.ts';
import { TextMatcher } from './text-matcher.ts';

/** Something that a JSON value must be. */
interface Demand {
  readonly expected: string;
  holds(value: unknown): boolean;
}

/** A condition about JSON values, one of which must be as it says. */
export function createDataMatcher(
  name: string,
  form: DataMatchSpec,
  valuesIn: (seen: ConditionInput) => unknown[],
  path: DocumentPath,
  complain: (path: DocumentPath, message: string) => void,
): Condition {
  const way = form.path === undefined ? [] : parseDataPath(form.path);
  if (!way) complain([...path, 'path'], 'expected a way such as order.items[0].sku');
  const demands = demandsOf(form, path, complain);
  const found = (seen: ConditionInput): unknown[] =>
    valuesIn(seen).map((value) => resolveDataPath(value, way ?? []));
  return {
    name: form.path === undefined ? name : `${name} ${form.path}`,
    expected: demands.map(({ expected }) => expected).join(' and '),
    holds: (seen) => {
      const values = found(seen);
      // Without any value, something can still be expected not to be there.
      return (values.length > 0 ? values : [undefined]).some((value) =>
        demands.every((each) => each.holds(value)),
      );
    },
    actual: (seen) => found(seen).slice(0, 3).map(quoteValue).join(' and ') || 'missing',
  };
}

function demandsOf(
  form: DataMatchSpec,
  path: DocumentPath,
  complain: (path: DocumentPath, message: string) => void,
): Demand[] {
  const { equals, exists, text, schema } = form;
  const demands: Demand[] = [];
  if (equals !== undefined)
    demands.push({ expected: quoteValue(equals), holds: (value) => isDeepStrictEqual(value, equals) });
  if (text !== undefined) {
    const matcher = new TextMatcher(text, [...path, 'text'], complain);
    const holds = (value: unknown): boolean => typeof value === 'string' && matcher.holds(value);
    demands.push({ expected: matcher.expected, holds });
  }
  if (schema !== undefined) {
    const holds = schemaCheck(schema, (message) => complain([...path, 'schema'], message));
    demands.push({ expected: `to fit ${quoteValue(schema)}`, holds });
  }
  const isExpected = exists ?? true;
  if (exists !== undefined || demands.length === 0)
    demands.push({
      expected: isExpected ? 'to be there' : 'to be missing',
      holds: (value) => (value !== undefined) === isExpected,
    });
  return demands;
}

function schemaCheck(
  schema: { readonly [keyword: string]: unknown },
  complain: (message: string) => void,
): (value: unknown) => boolean {
  try {
    const checked = z.fromJSONSchema(typed(schema) as z.core.JSONSchema.JSONSchema);
    return (value) => value !== undefined && checked.safeParse(value).success;
  } catch (thrown) {
    complain((thrown as Error).message);
    return () => false;
  }
}

/** Says the type that keywords speak of, where it was left out: people mean it, and the checker needs it. */
function typed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(typed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const whole = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'enum' || key === 'const' || key === 'default'
        ? value
        : key === 'properties'
          ? Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, typed(each)]))
          : typed(value),
    ]),
  );
  if ('type' in whole) return whole;
  if ('properties' in whole || 'required' in whole) return { type: 'object', ...whole };
  return 'items' in whole ? { type: 'array', ...whole } : whole;
}
