/** Control characters and characters that change the writing direction. */
// oxlint-disable-next-line no-control-regex -- control characters are what it matches
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes untrusted text safe for a terminal: replaces control characters by U+FFFD. `line` also joins all lines. */
export function sanitizeForTerminal(text: string, layout: 'lines' | 'line'): string {
  const lines = text.replaceAll(/\r\n?/g, '\n').replaceAll(unsafe, '\uFFFD');
  return layout === 'line'
    ? lines.replaceAll(/\s+/g, (space) => (/[\n\t]/.test(space) ? ' ' : space)).trim()
    : lines;
}

/** Formats JSON that is safe for a terminal: also escapes the control characters that JSON allows. */
export function terminalSafeJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, undefined, indent) ?? 'null').replaceAll(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
