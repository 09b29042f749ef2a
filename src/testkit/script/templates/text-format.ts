import { truncate } from '../../../primitives/text.ts';

/** Converts a value to text: `''` for missing values, JSON for objects and arrays. */
export function valueToText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}

/** Formats a value for messages as JSON of at most 100 characters. */
export function quoteValue(value: unknown): string {
  if (value === undefined) return 'missing';
  return truncate(JSON.stringify(value), 100);
}
