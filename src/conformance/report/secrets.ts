/** What stands where a secret was. */
export const removed = '[removed]';

const secretHeader =
  /^(?:proxy-authorization|authorization|cookie|set-cookie)$|token|secret|api-?key|credential|password|session/i;
const secretField =
  /^(?:token|access_?token|refresh_?token|id_?token|api_?key|password|passwd|secret|client_?secret|credentials)$/i;
const secretQuery = /^(?:key|sig|signature|auth)$/i;

/** Takes secrets out of what is shown to others. */
export class Secrets {
  readonly #texts: readonly string[];
  readonly #names: ReadonlySet<string>;

  /** @param given - headers that hold what the person gave: their values are secrets wherever they turn up. */
  constructor(...given: readonly (Readonly<Record<string, string>> | undefined)[]) {
    const headers = given.flatMap((each) => Object.entries(each ?? {}));
    this.#names = new Set(headers.map(([name]) => name.toLowerCase()));
    const texts = new Set(headers.flatMap(([, value]) => formsOf(value)));
    this.#texts = [...texts].toSorted((a, b) => b.length - a.length);
  }

  /** True for a header whose value nobody should see. */
  isSecret(name: string): boolean {
    return this.#names.has(name.toLowerCase()) || secretHeader.test(name);
  }

  /** Headers without the values of those that hold secrets. */
  headers(headers: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        this.isSecret(name) ? removed : this.text(value),
      ]),
    );
  }

  /** A text without what the person gave and without what looks like a credential. */
  text(text: string): string {
    let clean = text;
    for (const each of this.#texts) clean = clean.replaceAll(each, removed);
    return clean
      .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/-]{8,}=*/g, `$1 ${removed}`)
      .replaceAll(/"(\w+)"(\s*:\s*)"((?:[^"\\]|\\.)*)"/g, (whole, name: string, colon: string) =>
        secretField.test(name) ? `"${name}"${colon}"${removed}"` : whole,
      );
  }

  /** An address without a password and without keys in its query. */
  url(url: string): string {
    let parsed: URL;
    try {
      parsed = new URL(url);
    } catch {
      return this.text(url);
    }
    if (parsed.password !== '') parsed.password = 'removed';
    for (const name of parsed.searchParams.keys())
      if (secretField.test(name) || secretQuery.test(name)) parsed.searchParams.set(name, 'removed');
    return this.text(parsed.href === new URL(url).href ? url : parsed.href);
  }

  /** The same value with every text in it clean. */
  everywhere<T>(value: T): T {
    if (typeof value === 'string') return this.text(value) as T;
    if (Array.isArray(value)) return value.map((each: unknown) => this.everywhere(each)) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#field(key, each)])) as T;
  }

  #field(key: string, value: unknown): unknown {
    return typeof value === 'string' && secretField.test(key) ? removed : this.everywhere(value);
  }
}

/** A secret in the forms in which it may come back: alone, as JSON, in an address, and what `Basic` holds. */
function formsOf(value: string): string[] {
  const [, scheme, rest] = /^(\w+)\s+(\S.*)$/.exec(value) ?? [];
  const secrets = [value, ...(rest === undefined ? [] : [rest])];
  if (scheme?.toLowerCase() === 'basic' && rest !== undefined) {
    const decoded = Buffer.from(rest, 'base64').toString('utf8');
    secrets.push(decoded, decoded.slice(decoded.indexOf(':') + 1));
  }
  return (
    secrets
      .flatMap((each) => [each, JSON.stringify(each).slice(1, -1), encodeURIComponent(each)])
      // A short one would tear holes into words that have nothing to do with it.
      .filter((each) => each.length >= 6)
  );
}
