import { truncate } from '../../primitives/text.ts';

/** Maximum length of a formatted value, in characters. */
const maxLength = 1_000;

/** Formats a value as one line of JSON; regular expressions keep their notation. */
export function formatValue(value: unknown): string {
  return truncate(stringify(value) ?? 'undefined', maxLength, { showLength: true });
}

function stringify(value: unknown): string | undefined {
  if (value instanceof RegExp) return String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes ${Buffer.from(value).toString('base64')}`;
  if (Array.isArray(value)) return `[${value.map((each) => stringify(each) ?? 'null').join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // Asymmetric matchers of vitest and jest have a description.
  if ('toAsymmetricMatcher' in value && typeof value.toAsymmetricMatcher === 'function')
    return String(value.toAsymmetricMatcher());
  const members = Object.entries(value).flatMap(([name, each]) => {
    const text = stringify(each);
    return text === undefined ? [] : `${/^[\w$]+$/.test(name) ? name : JSON.stringify(name)}: ${text}`;
  });
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
