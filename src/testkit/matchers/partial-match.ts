import { formatValue } from './format-value.ts';

/** Partial expectation of a value: fields of objects are optional, strings may be regular expressions. */
export type PartialValue<T> = T extends string
  ? string | RegExp
  : T extends readonly (infer Each)[]
    ? readonly PartialValue<Each>[]
    : T extends object
      ? { readonly [Name in keyof T]?: PartialValue<T[Name]> }
      : T;

/** A difference between an expected and an actual value. */
export interface ValueMismatch {
  /** Path such as `parts[0].text`; empty for the value itself. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** An asymmetric matcher of vitest or jest, such as `expect.any(String)`. */
interface AsymmetricMatcher {
  asymmetricMatch(actual: unknown): boolean;
}

/**
 * Compares a value with a partial expectation. Objects may have additional fields, lists must have the same length.
 * Regular expressions and asymmetric matchers of vitest and jest are supported.
 */
export function findMismatches(expected: unknown, actual: unknown, path = ''): ValueMismatch[] {
  const mismatch = [{ path, expected, actual }];
  if (expected instanceof RegExp)
    return typeof actual === 'string' &&
      new RegExp(expected.source, expected.flags.replace(/[gy]/g, '')).test(actual)
      ? []
      : mismatch;
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual) ? [] : mismatch;
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual) ? [] : mismatch;
  if (typeof actual !== 'object' || actual === null || Array.isArray(expected) !== Array.isArray(actual))
    return mismatch;
  if (Array.isArray(expected) && expected.length !== (actual as unknown[]).length) return mismatch;
  return Object.entries(expected).flatMap(([name, each]) => {
    const step = Array.isArray(expected) ? `[${name}]` : path === '' ? name : `.${name}`;
    const found = Object.hasOwn(actual, name) ? (actual as Record<string, unknown>)[name] : undefined;
    return findMismatches(each, found, `${path}${step}`);
  });
}

/** Formats mismatches as path, expected (-) and actual (+) value. */
export function formatMismatches(mismatches: readonly ValueMismatch[], indent = ''): string[] {
  return mismatches.flatMap(({ path, expected, actual }) => [
    ...(path === '' ? [] : [`${indent}${path}`]),
    `${indent}- ${formatValue(expected)}`,
    `${indent}+ ${formatValue(actual)}`,
  ]);
}

function isAsymmetric(value: unknown): value is AsymmetricMatcher {
  return typeof (value as Partial<AsymmetricMatcher> | null | undefined)?.asymmetricMatch === 'function';
}
