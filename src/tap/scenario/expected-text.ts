/** Values that differ in every run: ids, timestamps, long numbers. */
const variableText =
  /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d\b|\b[\da-f]{16,}\b|\b\d{10,}\b/gi;

/** Maximum length of a text that is compared exactly. */
const maxExact = 4_000;

/** Expectation about a text in a scenario. */
export type ExpectedText =
  | { readonly type: 'text'; readonly text_exact: string }
  | { readonly type: 'text'; readonly text_contains: string }
  | { readonly type: 'text'; readonly text_matches_regex: string };

/** Returns an expectation that a repeated text meets: the exact text, with variable values as wildcards. */
export function expectedText(text: string, ids: Iterable<string> = []): ExpectedText {
  const idPatterns = [...ids].filter((id) => id.length >= 4).map(escapeRegExp);
  const pattern = new RegExp([...idPatterns, variableText.source].join('|'), 'gi');
  if (text.length > maxExact)
    return { type: 'text', text_contains: textBeforeMatch(text.slice(0, 500), pattern) };
  if (text.search(pattern) < 0) return { type: 'text', text_exact: text };
  const pieces = text.split(pattern).map(escapeRegExp);
  return { type: 'text', text_matches_regex: `^${pieces.join(String.raw`[\s\S]+?`)}$` };
}

function textBeforeMatch(text: string, pattern: RegExp): string {
  const at = text.search(pattern);
  return at > 0 ? text.slice(0, at) : text;
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
