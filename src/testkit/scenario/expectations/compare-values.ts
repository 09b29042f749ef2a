import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';

/** A difference between an expected and an actual value. */
export interface ExpectationMismatch {
  /** Path in the scenario file, such as `expected_gateway_output[0].task_state`. */
  readonly path: string;
  /** Short description of the difference. */
  readonly problem: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
}

const regexSuffix = '_matches_regex';
const containsSuffix = '_contains';

/**
 * Compares an actual value with an expected one. Objects and lists may have additional entries. A key may end in
 * `_matches_regex` or `_contains`, and a value may be `{_regex: …}`.
 */
export function compareValues(expected: unknown, actual: unknown, path: string): ExpectationMismatch[] {
  if (isJsonObject(expected)) {
    if (typeof expected._regex === 'string' && Object.keys(expected).length === 1)
      return regexMismatch(expected._regex, actual, path);
    if (!isJsonObject(actual)) return [{ path, problem: 'is not an object', expected, actual }];
    return Object.entries(expected).flatMap(([key, value]) => keyMismatches(key, value, actual, path));
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [{ path, problem: 'is not a list', expected, actual }];
    return expected.flatMap((each, index) =>
      index < actual.length
        ? compareValues(each, actual[index], `${path}[${index}]`)
        : [{ path: `${path}[${index}]`, problem: 'is missing', expected: each }],
    );
  }
  return equalityMismatch(expected, actual, path);
}

/** Checks that two values are equal, ignoring the kind of line ends. */
export function equalityMismatch(expected: unknown, actual: unknown, path: string): ExpectationMismatch[] {
  return isEqual(expected, actual) ? [] : [{ path, problem: 'is different', expected, actual }];
}

function keyMismatches(
  key: string,
  expected: unknown,
  actual: JsonObject,
  parentPath: string,
): ExpectationMismatch[] {
  const path = `${parentPath}.${key}`;
  if (Object.hasOwn(actual, key)) return compareValues(expected, actual[key], path);
  if (key.endsWith(regexSuffix) && key !== regexSuffix && typeof expected === 'string')
    return fullMatchMismatch(expected, actual[key.slice(0, -regexSuffix.length)], path);
  if (key.endsWith(containsSuffix) && key !== containsSuffix)
    return containmentMismatches(expected, actual[key.slice(0, -containsSuffix.length)], path);
  return expected === null ? [] : [{ path, problem: 'is missing', expected }];
}

/** Checks that a regular expression matches the whole text. */
function fullMatchMismatch(expression: string, actual: unknown, path: string): ExpectationMismatch[] {
  const matches =
    typeof actual === 'string' && new RegExp(`^(?:${expression})$`, 's').test(normalizeLineEnds(actual));
  return matches ? [] : [{ path, problem: 'does not match', expected: expression, actual }];
}

/** Checks that a regular expression matches a part of the text. */
export function regexMismatch(
  expression: string,
  actual: unknown,
  path: string,
  flags = '',
): ExpectationMismatch[] {
  const matches = typeof actual === 'string' && new RegExp(expression, flags).test(normalizeLineEnds(actual));
  return matches ? [] : [{ path, problem: 'does not match', expected: expression, actual }];
}

/** Checks that a text or a list contains all expected values. */
export function containmentMismatches(
  expected: unknown,
  actual: unknown,
  path: string,
): ExpectationMismatch[] {
  const expectedValues: readonly unknown[] = Array.isArray(expected) ? expected : [expected];
  const isIn = (each: unknown): boolean => {
    if (typeof actual === 'string')
      return normalizeLineEnds(actual).includes(normalizeLineEnds(String(each)));
    if (Array.isArray(actual)) return actual.some((one) => compareValues(each, one, '').length === 0);
    return isJsonObject(actual) && isJsonObject(each) && compareValues(each, actual, '').length === 0;
  };
  return expectedValues
    .filter((each) => !isIn(each))
    .map((each) => ({ path, problem: 'does not contain the value', expected: each, actual }));
}

function isEqual(expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'string' && typeof actual === 'string')
    return normalizeLineEnds(expected) === normalizeLineEnds(actual);
  return expected === actual || (expected === null && actual === undefined);
}

function normalizeLineEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
