/** What a column does not give back as it was: SQLite's text ends at a zero, and UTF-8 has no half characters. */
// oxlint-disable-next-line no-control-regex
const odd = /[\u0000\u0001]|\p{Surrogate}/u;

/** Writes any text so that a column gives it back; what is plain stays as it is. */
export function encodeColumn(text: string): string {
  return odd.test(text) ? `\u0001${JSON.stringify(text)}` : text;
}

/** Reads what {@link encodeColumn} wrote. */
export function decodeColumn(value: unknown): string {
  const text = String(value);
  return text.startsWith('\u0001') ? (JSON.parse(text.slice(1)) as string) : text;
}
