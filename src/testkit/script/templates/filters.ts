import type { TemplateScope } from './template-scope.ts';
import { truncate } from '../../../primitives/text.ts';
import { valueToText } from './text-format.ts';

/** Converts the value of a template expression. */
export type TemplateFilter = (value: unknown, scope: TemplateScope) => unknown;

/** A filter after `|` in a template. */
interface FilterDefinition {
  readonly argumentCount: number;
  create(argument: string): TemplateFilter;
}

const onText = (change: (text: string) => string): FilterDefinition => ({
  argumentCount: 0,
  create: () => (value) => change(valueToText(value)),
});

const withNumber = (apply: (value: unknown, number: number) => unknown): FilterDefinition => ({
  argumentCount: 1,
  create: (argument) => (value) => apply(value, Number(argument)),
});

const filters: ReadonlyMap<string, FilterDefinition> = new Map(
  Object.entries({
    upper: onText((text) => text.toUpperCase()),
    lower: onText((text) => text.toLowerCase()),
    trim: onText((text) => text.trim()),
    base64: onText((text) => Buffer.from(text, 'utf8').toString('base64')),
    url: onText((text) => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\u{fffd}'))),
    json: { argumentCount: 0, create: () => (value) => JSON.stringify(value ?? null) },
    length: {
      argumentCount: 0,
      create: () => (value) => (Array.isArray(value) ? value.length : valueToText(value).length),
    },
    default: {
      argumentCount: 1,
      create: (argument) => (value) =>
        value === undefined || value === null || value === '' ? argument : value,
    },
    add: withNumber((value, number) => {
      const sum = Number(valueToText(value)) + number;
      return Number.isFinite(sum) ? sum : number;
    }),
    first: withNumber((value, number) => truncate(valueToText(value), number)),
  } satisfies Record<string, FilterDefinition>),
);

const numericFilters = new Set(['add', 'first']);

/** Finds a filter by name. @returns an error message if name or arguments are invalid */
export function findFilter(name: string, args: readonly string[]): TemplateFilter | string {
  const filter = filters.get(name);
  if (!filter)
    return `unknown filter ${name || '(empty)'}; available filters: ${[...filters.keys()].join(', ')}`;
  if (args.length !== filter.argumentCount)
    return `the filter ${name} takes ${filter.argumentCount === 0 ? 'no argument' : 'one argument'}`;
  const [argument = ''] = args;
  if (numericFilters.has(name) && !/^-?\d{1,9}(\.\d{1,9})?$/.test(argument))
    return `the filter ${name} takes a number`;
  return filter.create(argument);
}
