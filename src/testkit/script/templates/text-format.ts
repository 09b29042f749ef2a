/** A value as text: nothing for what is not there, JSON for what has parts. */
export function valueToText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value);
}

/** At most so many characters, with a sign that there were more. */
export function truncateText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(length - 1, 0))}…`;
}

/** A value as people read it in a sentence; long ones are cut short. */
export function quoteValue(value: unknown): string {
  if (value === undefined) return 'missing';
  return truncateText(JSON.stringify(value), 100);
}
