const hidden = '[redacted]';

/** Headers whose values are nobody's business. */
const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
]);

/** Members of JSON whose values are nobody's business. */
const secretMembers =
  /("(?:access_?token|refresh_?token|id_?token|client_?secret|device_?code|password|credentials|token|api_?key)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi;

/** Knows what must not be shown, and takes it out of whatever is about to be. */
export class Secrets {
  readonly #texts = new Set<string>();
  readonly #headers = new Set(secretHeaders);

  /** Never shows this text. */
  hide(text: string | undefined): void {
    // What is shorter is found in everything.
    if (text === undefined || text.length < 4) return;
    this.#texts.add(text);
    this.#texts.add(encodeURIComponent(text));
    this.#texts.add(JSON.stringify(text).slice(1, -1));
  }

  /** Never shows the value of this header. */
  hideHeader(name: string): void {
    this.#headers.add(name.toLowerCase());
  }

  /** The text without what must not be shown. */
  redact(text: string): string {
    let clean = text.replaceAll(secretMembers, `$1"${hidden}"`);
    for (const secret of this.#texts) clean = clean.replaceAll(secret, hidden);
    return clean;
  }

  /** The value of a header, as far as it may be shown. */
  header(name: string, value: string): string {
    return this.#headers.has(name.toLowerCase()) ? hidden : this.redact(value);
  }
}
