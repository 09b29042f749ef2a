/** What is another one each time: ids, times, long numbers. */
const changing =
  /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d\b|\b[\da-f]{16,}\b|\b\d{10,}\b/gi;

/** How long a text may be that is expected word for word. */
const maxExact = 4_000;

/** What is expected of a text. */
export type ExpectedText =
  | { readonly type: 'text'; readonly text_exact: string }
  | { readonly type: 'text'; readonly text_contains: string }
  | { readonly type: 'text'; readonly text_matches_regex: string };

/** Says what to expect of a text when the same is said again: all of it, but for what changes each time. */
export function expectedText(text: string, ids: Iterable<string> = []): ExpectedText {
  const names = [...ids].filter((id) => id.length >= 4).map(escaped);
  const pattern = new RegExp([...names, changing.source].join('|'), 'gi');
  if (text.length > maxExact)
    return { type: 'text', text_contains: beforeChange(text.slice(0, 500), pattern) };
  if (text.search(pattern) < 0) return { type: 'text', text_exact: text };
  const pieces = text.split(pattern).map(escaped);
  return { type: 'text', text_matches_regex: `^${pieces.join(String.raw`[\s\S]+?`)}$` };
}

function beforeChange(text: string, pattern: RegExp): string {
  const at = text.search(pattern);
  return at > 0 ? text.slice(0, at) : text;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
