/** What stands where a secret was. */
export const redactedPlaceholder = '[removed]';

const secretHeader =
  /^(?:proxy-authorization|authorization|cookie|set-cookie)$|token|secret|api-?key|credential|password|session/i;

const names =
  'token|(?:access|refresh|id|bearer|notification|push)[_-]?token|api[_-]?key|x-api-key|password|passwd|secret|client[_-]?secret|credentials|device[_-]?code|client[_-]?assertion|authorization|cookie';
const secretField = new RegExp(`^(?:${names})$`, 'i');
const secretQuery = /^(?:key|sig|signature|auth|code)$/i;

// A text that was cut off may end within a value: the end counts as its quotation mark.
const member = new RegExp(
  String.raw`("(?:${names})"\s*:\s*)"[^"\\]*(?:\\[^][^"\\]*)*(?:\\?$|")|(\\"(?:${names})\\"\s*:\s*)\\"[^"\\]*(?:\\?$|\\")`,
  'gi',
);
const formField = new RegExp(String.raw`(^|[?&\s"])((?:${names})=)[^&\s"]+`, 'gi');
const scheme = /\b(Bearer|Basic)\s+[\w.~+/-]{8,}=*/g;
const webToken = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g;

/** How many names are remembered: peers may make up as many as they like. */
const maxNames = 1_000;

/** Knows what must not be shown, and takes it out of whatever is about to be. */
export class Redactor {
  readonly #texts = new Set<string>();
  readonly #headers = new Set<string>();
  readonly #queries = new Set<string>();
  /** The texts, the longest first: one may be within another. */
  #sorted: readonly string[] | undefined;
  /** Whoever knew of secrets before. */
  #before: Redactor | undefined;

  /** @param given - headers that hold what the person gave: their values are secrets wherever they turn up. */
  constructor(...given: readonly (Readonly<Record<string, string>> | undefined)[]) {
    for (const [name, value] of given.flatMap((each) => Object.entries(each ?? {}))) {
      this.addSecretHeader(name);
      for (const each of secretsIn(value)) if (each.length >= 6) this.addSecret(each);
    }
  }

  /** Somebody who knows all this and the values of some more headers, now and from now on. */
  withHeaders(headers: Readonly<Record<string, string>>): Redactor {
    const more = new Redactor(headers);
    more.#before = this;
    return more;
  }

  /** Never shows this text, as it is, as JSON or in an address. */
  addSecret(text: string | undefined): void {
    // What is shorter is found in everything.
    if (text === undefined || text.length < 4) return;
    this.#texts.add(text).add(encodeURIComponent(text)).add(JSON.stringify(text).slice(1, -1));
    this.#sorted = undefined;
  }

  /** Never shows the value of this header. */
  addSecretHeader(name: string): void {
    if (this.#headers.size < maxNames) this.#headers.add(name.toLowerCase());
  }

  /** Never shows the value of this parameter of an address. */
  addSecretQueryParameter(name: string): void {
    if (this.#queries.size < maxNames) this.#queries.add(name.toLowerCase());
  }

  /** True for a header whose value nobody should see. */
  isSecretHeader(name: string): boolean {
    return (
      this.#headers.has(name.toLowerCase()) || (this.#before?.isSecretHeader(name) ?? secretHeader.test(name))
    );
  }

  /** The value of a header, as far as it may be shown. */
  redactHeader(name: string, value: string): string {
    return this.isSecretHeader(name) ? redactedPlaceholder : this.redactText(value);
  }

  /** Headers without the values of those that hold secrets. */
  redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, this.redactHeader(name, value)]),
    );
  }

  /** A text without what must not be shown and without what looks like a credential. */
  redactText(text: string): string {
    let clean = this.#before ? this.#before.redactText(text) : withoutCredentials(text);
    this.#sorted ??= [...this.#texts].sort((a, b) => b.length - a.length);
    for (const each of this.#sorted) clean = clean.replaceAll(each, redactedPlaceholder);
    return clean;
  }

  /** An address without a password and without keys in its query. */
  redactUrl(url: string): string {
    // Most addresses have no place for a secret.
    if (!/[?@]/.test(url)) return this.redactText(url);
    let parsed: URL;
    try {
      parsed = new URL(url);
    } catch {
      return this.redactText(url);
    }
    if (parsed.password !== '') parsed.password = 'removed';
    for (const name of new Set(parsed.searchParams.keys()))
      if (this.#isSecretQuery(name)) parsed.searchParams.set(name, 'removed');
    return this.redactText(parsed.href === new URL(url).href ? url : parsed.href);
  }

  #isSecretQuery(name: string): boolean {
    if (this.#queries.has(name.toLowerCase())) return true;
    return this.#before
      ? this.#before.#isSecretQuery(name)
      : secretField.test(name) || secretQuery.test(name);
  }

  /** The same value with every text in it clean. */
  redactDeep<T>(value: T): T {
    if (typeof value === 'string') return this.redactText(value) as T;
    if (Array.isArray(value)) return value.map((each: unknown) => this.redactDeep(each)) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#field(key, each)])) as T;
  }

  #field(key: string, value: unknown): unknown {
    return typeof value === 'string' && secretField.test(key) ? redactedPlaceholder : this.redactDeep(value);
  }
}

/** A text without what looks like a credential. */
function withoutCredentials(text: string): string {
  return text
    .replaceAll(scheme, `$1 ${redactedPlaceholder}`)
    .replaceAll(webToken, redactedPlaceholder)
    .replaceAll(member, (_whole, plain: string | undefined, escaped: string | undefined) =>
      plain === undefined ? `${escaped}\\"${redactedPlaceholder}\\"` : `${plain}"${redactedPlaceholder}"`,
    )
    .replaceAll(formField, `$1$2${redactedPlaceholder}`);
}

/** A credential in the forms in which it may come back: alone, without its scheme, and what `Basic` holds. */
function secretsIn(value: string): string[] {
  const [, kind, rest] = /^(\w+)\s+(\S.*)$/.exec(value) ?? [];
  const secrets = [value, ...(rest === undefined ? [] : [rest])];
  if (kind?.toLowerCase() === 'basic' && rest !== undefined) {
    const decoded = fromBase64(rest);
    secrets.push(decoded, decoded.slice(decoded.indexOf(':') + 1));
  }
  return secrets;
}

function fromBase64(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (each) => each.charCodeAt(0)));
  } catch {
    return '';
  }
}
