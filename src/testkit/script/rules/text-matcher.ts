import type { DocumentPath } from '../../../documents/schema-issues.ts';
import type { TextMatchSpec } from '../schema/condition-schema.ts';
import { quoteValue } from '../templates/text-format.ts';

/** Compares a text that may be missing. */
export class TextMatcher {
  /** Continues the phrase `expected …`. */
  readonly expected: string;
  readonly #spec: Exclude<TextMatchSpec, string>;
  readonly #regex: RegExp | undefined;

  constructor(
    spec: TextMatchSpec,
    path: DocumentPath,
    report: (path: DocumentPath, message: string) => void,
  ) {
    this.#spec = typeof spec === 'string' ? { exact: spec } : spec;
    const { regex, ignore_case: ignoreCase, ...others } = this.#spec;
    if (regex === undefined && Object.keys(others).length === 0)
      report(path, 'must have one of exact, contains, prefix and regex');
    if (regex !== undefined) {
      try {
        this.#regex = compileRegex(regex, ignoreCase ? 'i' : '');
      } catch (thrown) {
        report([...path, 'regex'], (thrown as Error).message);
      }
    }
    this.expected = describeExpectation(this.#spec);
  }

  get hasRegex(): boolean {
    return this.#regex !== undefined;
  }

  /** Returns the match of the regular expression. */
  find(text: string): RegExpExecArray | undefined {
    return this.#regex?.exec(text) ?? undefined;
  }

  matches(text: string | undefined): boolean {
    const { exact, contains, prefix, ignore_case: ignoreCase = false } = this.#spec;
    const { present } = this.#spec as { present?: boolean };
    if (text === undefined) return present === false;
    if (present === false) return false;
    const normalize = (each: string): string => (ignoreCase ? each.toLowerCase() : each);
    const normalized = normalize(text);
    if (exact !== undefined && normalized !== normalize(exact)) return false;
    if (contains !== undefined && !normalized.includes(normalize(contains))) return false;
    if (prefix !== undefined && !normalized.startsWith(normalize(prefix))) return false;
    return this.#regex === undefined || this.#regex.test(text);
  }
}

/** Compiles a pattern with the `u` flag, or without it if it is valid only then, such as `\-`. */
function compileRegex(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch (thrown) {
    // Without the u flag, a Unicode escape would be read as literal letters and never match.
    if (/\\(?:[pP]|u)\{/.test(pattern)) throw thrown;
    return new RegExp(pattern, flags);
  }
}

function describeExpectation(spec: Exclude<TextMatchSpec, string>): string {
  const { exact, contains, prefix, regex, present, ignore_case: ignoreCase } = spec;
  const expectations = [
    ...(exact === undefined ? [] : [quoteValue(exact)]),
    ...(contains === undefined ? [] : [`to contain ${quoteValue(contains)}`]),
    ...(prefix === undefined ? [] : [`to start with ${quoteValue(prefix)}`]),
    ...(regex === undefined ? [] : [`to match /${regex}/`]),
    ...(present === undefined ? [] : [present ? 'to be present' : 'to be missing']),
  ].join(' and ');
  return ignoreCase ? `${expectations} (ignoring case)` : expectations;
}
