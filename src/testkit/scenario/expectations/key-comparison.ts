import {
  compareValues,
  containmentMismatches,
  equalityMismatch,
  type ExpectationMismatch,
  regexMismatch,
} from './compare-values.ts';

/** Compares the keys of an expectation with actual values. Keys that the file does not contain are skipped. */
export class KeyComparison<Expected extends object> {
  readonly mismatches: ExpectationMismatch[] = [];
  readonly #expected: Expected;
  readonly #path: string;

  /** @param path - path of the expectation in the file. */
  constructor(expected: Expected, path: string) {
    this.#expected = expected;
    this.#path = path;
  }

  /** Checks that the values are equal. */
  equal(key: keyof Expected & string, actual: unknown): this {
    return this.compare(key, actual, equalityMismatch);
  }

  /** Checks that a text or a list contains all expected values. */
  contains(key: keyof Expected & string, actual: unknown): this {
    return this.compare(key, actual, containmentMismatches);
  }

  /** Checks that the actual value contains the expected entries. */
  includes(key: keyof Expected & string, actual: unknown): this {
    return this.compare(key, actual, compareValues);
  }

  /** Checks that a regular expression matches a part of the text. */
  matches(key: keyof Expected & string, actual: unknown, flags = ''): this {
    return this.compare(key, actual, (expression, text, path) =>
      regexMismatch(String(expression), text, path, flags),
    );
  }

  /** Compares a key with a function of its own. */
  compare<Key extends keyof Expected & string>(
    key: Key,
    actual: unknown,
    compare: (expected: NonNullable<Expected[Key]>, actual: unknown, path: string) => ExpectationMismatch[],
  ): this {
    const expected = this.#expected[key];
    if (expected !== undefined && expected !== null)
      this.mismatches.push(...compare(expected, actual, `${this.#path}.${key}`));
    return this;
  }

  /** Adds a mismatch of a key. */
  report(
    key: keyof Expected & string,
    problem: string,
    actual: unknown,
    expected: unknown = this.#expected[key],
  ): this {
    this.mismatches.push({ path: `${this.#path}.${key}`, problem, expected, actual });
    return this;
  }
}
