/** How many characters of a value are shown. */
const maxShown = 1_000;

/** A value in one line: JSON, in which expressions look as they are written. */
export function formatValue(value: unknown): string {
  return shortened(written(value) ?? 'nothing');
}

function written(value: unknown): string | undefined {
  if (value instanceof RegExp) return String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes ${Buffer.from(value).toString('base64')}`;
  if (Array.isArray(value)) return `[${value.map((each) => written(each) ?? 'null').join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // Matchers of a test framework describe themselves.
  if ('toAsymmetricMatcher' in value && typeof value.toAsymmetricMatcher === 'function')
    return String(value.toAsymmetricMatcher());
  const members = Object.entries(value).flatMap(([name, each]) => {
    const text = written(each);
    return text === undefined ? [] : `${/^[\w$]+$/.test(name) ? name : JSON.stringify(name)}: ${text}`;
  });
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function shortened(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}… (${text.length} characters)` : text;
}
