import { escapeRegExp } from '../../primitives/text.ts';

/** Values that differ in every run: ids, timestamps, long numbers. */
const variableText =
  /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d\b|\b[\da-f]{16,}\b|\b\d{10,}\b/gi;

/** Maximum length of a text that is compared exactly. */
const maxExact = 4_000;

/** Expectation about a text in a scenario: the exact text, a part of it or a regular expression. */
export type ExpectedText = string | { readonly contains: string } | { readonly matches: string };

/** Returns an expectation that a repeated text meets: the exact text, with variable values as wildcards. */
export function expectedText(text: string, ids: Iterable<string> = []): ExpectedText {
  const idPatterns = [...ids].filter((id) => id.length >= 4).map(escapeRegExp);
  const pattern = new RegExp([...idPatterns, variableText.source].join('|'), 'gi');
  if (text.length > maxExact)
    return { contains: escapeVariables(textBeforeMatch(text.slice(0, 500), pattern)) };
  if (text.search(pattern) < 0) return escapeVariables(text);
  const pieces = text.split(pattern).map(escapeRegExp);
  return { matches: escapeVariables(`^${pieces.join(String.raw`[\s\S]+?`)}$`) };
}

/** Keeps a text of an agent or client from being taken for a variable of the scenario. */
export function escapeVariables(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Does the same in all texts of a JSON value. */
export function escapeDataVariables(data: unknown): unknown {
  return JSON.parse(escapeVariables(JSON.stringify(data)));
}

function textBeforeMatch(text: string, pattern: RegExp): string {
  const at = text.search(pattern);
  return at > 0 ? text.slice(0, at) : text;
}
