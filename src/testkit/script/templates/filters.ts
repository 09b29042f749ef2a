import type { TemplateScope } from './template-scope.ts';
import { truncateText, valueToText } from './text-format.ts';

/** Makes another value of a value. */
export type TemplateFilter = (value: unknown, scope: TemplateScope) => unknown;

/** What stands behind `|` in a template, with how many words it takes. */
interface FilterKind {
  readonly words: number;
  make(word: string): TemplateFilter;
}

const onText = (change: (text: string) => string): FilterKind => ({
  words: 0,
  make: () => (value) => change(valueToText(value)),
});

const withNumber = (apply: (value: unknown, number: number) => unknown): FilterKind => ({
  words: 1,
  make: (word) => (value) => apply(value, Number(word)),
});

const kinds: ReadonlyMap<string, FilterKind> = new Map(
  Object.entries({
    upper: onText((text) => text.toUpperCase()),
    lower: onText((text) => text.toLowerCase()),
    trim: onText((text) => text.trim()),
    base64: onText((text) => Buffer.from(text, 'utf8').toString('base64')),
    url: onText((text) => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\u{fffd}'))),
    json: { words: 0, make: () => (value) => JSON.stringify(value ?? null) },
    length: {
      words: 0,
      make: () => (value) => (Array.isArray(value) ? value.length : valueToText(value).length),
    },
    default: {
      words: 1,
      make: (word) => (value) => (value === undefined || value === null || value === '' ? word : value),
    },
    add: withNumber((value, number) => {
      const sum = Number(valueToText(value)) + number;
      return Number.isFinite(sum) ? sum : number;
    }),
    first: withNumber((value, number) => truncateText(valueToText(value), number)),
  } satisfies Record<string, FilterKind>),
);

const numeric = new Set(['add', 'first']);

/** Finds a filter by its name. @returns what is wrong, when something is. */
export function findFilter(name: string, words: readonly string[]): TemplateFilter | string {
  const kind = kinds.get(name);
  if (!kind) return `there is no filter ${name || '(nothing)'}; there are ${[...kinds.keys()].join(', ')}`;
  if (words.length !== kind.words)
    return `the filter ${name} takes ${kind.words === 0 ? 'no word' : 'one word'}`;
  const [word = ''] = words;
  if (numeric.has(name) && !/^-?\d{1,9}(\.\d{1,9})?$/.test(word)) return `the filter ${name} takes a number`;
  return kind.make(word);
}
