/** Characters that a text column does not preserve: SQLite ends text at NUL, and UTF-8 has no lone surrogates. */
// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000\u0001]|\p{Surrogate}/u;

/** Encodes any string so that a text column preserves it. Ordinary strings stay unchanged. */
export function encodeColumn(text: string): string {
  return unsafe.test(text) ? `\u0001${JSON.stringify(text)}` : text;
}

/** Reverses {@link encodeColumn}. */
export function decodeColumn(value: unknown): string {
  const text = String(value);
  return text.startsWith('\u0001') ? (JSON.parse(text.slice(1)) as string) : text;
}
