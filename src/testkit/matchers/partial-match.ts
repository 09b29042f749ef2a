import { formatValue } from './format-value.ts';

/** What a value is expected to be: of an object only the members that matter, and of a text perhaps an expression. */
export type PartialValue<T> = T extends string
  ? string | RegExp
  : T extends readonly (infer Each)[]
    ? readonly PartialValue<Each>[]
    : T extends object
      ? { readonly [Name in keyof T]?: PartialValue<T[Name]> }
      : T;

/** One place where a value is not as expected. */
export interface ValueMismatch {
  /** Such as `parts[0].text`; empty for the value itself. */
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** A matcher of vitest or jest, such as `expect.any(String)`. */
interface Asymmetric {
  asymmetricMatch(actual: unknown): boolean;
}

/**
 * Compares a value with what is expected of it. Objects may have more members than expected, lists may not; texts may
 * be given as expressions, and matchers of vitest and jest may stand anywhere.
 */
export function findMismatches(expected: unknown, actual: unknown, path = ''): ValueMismatch[] {
  const different = [{ path, expected, actual }];
  if (expected instanceof RegExp)
    return typeof actual === 'string' &&
      new RegExp(expected.source, expected.flags.replace(/[gy]/g, '')).test(actual)
      ? []
      : different;
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual) ? [] : different;
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, actual) ? [] : different;
  if (typeof actual !== 'object' || actual === null || Array.isArray(expected) !== Array.isArray(actual))
    return different;
  if (Array.isArray(expected) && expected.length !== (actual as unknown[]).length) return different;
  return Object.entries(expected).flatMap(([name, each]) => {
    const step = Array.isArray(expected) ? `[${name}]` : path === '' ? name : `.${name}`;
    const found = Object.hasOwn(actual, name) ? (actual as Record<string, unknown>)[name] : undefined;
    return findMismatches(each, found, `${path}${step}`);
  });
}

/** Differences as people read them: where, what was expected, what there was. */
export function formatMismatches(found: readonly ValueMismatch[], indent = ''): string[] {
  return found.flatMap(({ path, expected, actual }) => [
    ...(path === '' ? [] : [`${indent}${path}`]),
    `${indent}- ${formatValue(expected)}`,
    `${indent}+ ${formatValue(actual)}`,
  ]);
}

function isAsymmetric(value: unknown): value is Asymmetric {
  return typeof (value as Partial<Asymmetric> | null | undefined)?.asymmetricMatch === 'function';
}
