/** What moves the cursor, colours, or turns the direction of writing. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes text of a stranger safe for a terminal: a control character becomes U+FFFD. */
export function sanitizeForTerminal(text: string, form: 'lines' | 'line'): string {
  const lines = text.replaceAll(/\r\n?/g, '\n').replaceAll(unsafe, '\uFFFD');
  return form === 'line' ? lines.replaceAll(/\s*[\n\t]\s*/g, ' ').trim() : lines;
}

/** JSON that does nothing to a terminal: JSON itself leaves some control characters as they are. */
export function terminalSafeJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, undefined, indent) ?? 'null').replaceAll(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
