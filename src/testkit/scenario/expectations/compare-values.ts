/** Something that is not as it was expected. */
export interface ExpectationMismatch {
  /** Where, in the words of the scenario file, such as `expected_gateway_output[0].task_state`. */
  readonly path: string;
  /** What is wrong, in a few words. */
  readonly problem: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
}

type Mapping = { readonly [key: string]: unknown };

const expressionSuffix = '_matches_regex';
const containsSuffix = '_contains';

/**
 * Compares what is there with what is expected of it: of a mapping the named keys, of a list the named places. A key
 * may end in `_matches_regex` or `_contains`, and a value may be `{_regex: …}`.
 */
export function compareValues(expected: unknown, actual: unknown, path: string): ExpectationMismatch[] {
  if (isMapping(expected)) {
    if (typeof expected._regex === 'string' && Object.keys(expected).length === 1)
      return regexMismatch(expected._regex, actual, path);
    if (!isMapping(actual)) return [{ path, problem: 'is no mapping', expected, actual }];
    return Object.entries(expected).flatMap(([key, value]) => keyDifferences(key, value, actual, path));
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [{ path, problem: 'is no list', expected, actual }];
    return expected.flatMap((each, index) =>
      index < actual.length
        ? compareValues(each, actual[index], `${path}[${index}]`)
        : [{ path: `${path}[${index}]`, problem: 'is missing', expected: each }],
    );
  }
  return equalityMismatch(expected, actual, path);
}

/** Checks that two values are the same; line ends of all kinds are. */
export function equalityMismatch(expected: unknown, actual: unknown, path: string): ExpectationMismatch[] {
  return isSame(expected, actual) ? [] : [{ path, problem: 'is not the same', expected, actual }];
}

function keyDifferences(
  key: string,
  expected: unknown,
  actual: Mapping,
  around: string,
): ExpectationMismatch[] {
  const path = `${around}.${key}`;
  if (Object.hasOwn(actual, key)) return compareValues(expected, actual[key], path);
  if (key.endsWith(expressionSuffix) && key !== expressionSuffix && typeof expected === 'string')
    return fullMatchDifference(expected, actual[key.slice(0, -expressionSuffix.length)], path);
  if (key.endsWith(containsSuffix) && key !== containsSuffix)
    return containmentMismatches(expected, actual[key.slice(0, -containsSuffix.length)], path);
  return expected === null ? [] : [{ path, problem: 'is missing', expected }];
}

/** Checks that a text matches as a whole. */
function fullMatchDifference(expression: string, actual: unknown, path: string): ExpectationMismatch[] {
  const matches =
    typeof actual === 'string' && new RegExp(`^(?:${expression})$`, 's').test(normalized(actual));
  return matches ? [] : [{ path, problem: 'does not match', expected: expression, actual }];
}

/** Checks that a text matches somewhere. */
export function regexMismatch(
  expression: string,
  actual: unknown,
  path: string,
  flags = '',
): ExpectationMismatch[] {
  const matches = typeof actual === 'string' && new RegExp(expression, flags).test(normalized(actual));
  return matches ? [] : [{ path, problem: 'does not match', expected: expression, actual }];
}

/** Checks that a text, or a list, contains everything that is named. */
export function containmentMismatches(
  expected: unknown,
  actual: unknown,
  path: string,
): ExpectationMismatch[] {
  const named: readonly unknown[] = Array.isArray(expected) ? expected : [expected];
  const isIn = (each: unknown): boolean => {
    if (typeof actual === 'string') return normalized(actual).includes(normalized(String(each)));
    if (Array.isArray(actual)) return actual.some((one) => compareValues(each, one, '').length === 0);
    return isMapping(actual) && isMapping(each) && compareValues(each, actual, '').length === 0;
  };
  return named
    .filter((each) => !isIn(each))
    .map((each) => ({ path, problem: 'does not contain it', expected: each, actual }));
}

function isSame(expected: unknown, actual: unknown): boolean {
  if (typeof expected === 'string' && typeof actual === 'string')
    return normalized(expected) === normalized(actual);
  return expected === actual || (expected === null && actual === undefined);
}

/** A text with one kind of line end. */
function normalized(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
