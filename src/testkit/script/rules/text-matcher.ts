import type { DocumentPath } from '../../../documents/schema-issues.ts';
import type { TextMatchSpec } from '../schema/condition-schema.ts';
import { quoteValue } from '../templates/text-format.ts';

/** Compares a text that may be missing. */
export class TextMatcher {
  /** What is expected, in words that follow `expected`. */
  readonly expected: string;
  readonly #form: Exclude<TextMatchSpec, string>;
  readonly #regex: RegExp | undefined;

  constructor(
    form: TextMatchSpec,
    path: DocumentPath,
    complain: (path: DocumentPath, message: string) => void,
  ) {
    this.#form = typeof form === 'string' ? { exact: form } : form;
    const { regex, ignore_case: ignoresCase, ...others } = this.#form;
    if (regex === undefined && Object.keys(others).length === 0)
      complain(path, 'has to say what is expected: exact, contains, prefix or regex');
    if (regex !== undefined) {
      try {
        this.#regex = compiled(regex, ignoresCase ? 'i' : '');
      } catch (thrown) {
        complain([...path, 'regex'], (thrown as Error).message);
      }
    }
    this.expected = wordsOf(this.#form);
  }

  /** True when there is a regular expression, in whose groups templates are interested. */
  get hasRegex(): boolean {
    return this.#regex !== undefined;
  }

  /** What the regular expression finds. */
  find(text: string): RegExpExecArray | undefined {
    return this.#regex?.exec(text) ?? undefined;
  }

  holds(text: string | undefined): boolean {
    const { exact, contains, prefix, ignore_case: ignoresCase = false } = this.#form;
    const { present } = this.#form as { present?: boolean };
    if (text === undefined) return present === false;
    if (present === false) return false;
    const fold = (each: string): string => (ignoresCase ? each.toLowerCase() : each);
    const folded = fold(text);
    if (exact !== undefined && folded !== fold(exact)) return false;
    if (contains !== undefined && !folded.includes(fold(contains))) return false;
    if (prefix !== undefined && !folded.startsWith(fold(prefix))) return false;
    return this.#regex === undefined || this.#regex.test(text);
  }
}

/** Reads a pattern by Unicode; those that are right only by the older rules, as `\-` is, keep to these. */
function compiled(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch (thrown) {
    // With an escape of Unicode in it the older rules would take it for letters, and it would never match.
    if (/\\(?:[pP]|u)\{/.test(pattern)) throw thrown;
    return new RegExp(pattern, flags);
  }
}

function wordsOf(form: Exclude<TextMatchSpec, string>): string {
  const { exact, contains, prefix, regex, present, ignore_case: ignoresCase } = form;
  const words = [
    ...(exact === undefined ? [] : [quoteValue(exact)]),
    ...(contains === undefined ? [] : [`to contain ${quoteValue(contains)}`]),
    ...(prefix === undefined ? [] : [`to begin with ${quoteValue(prefix)}`]),
    ...(regex === undefined ? [] : [`to match /${regex}/`]),
    ...(present === undefined ? [] : [present ? 'to be there' : 'to be missing']),
  ].join(' and ');
  return ignoresCase ? `${words} in any case` : words;
}
