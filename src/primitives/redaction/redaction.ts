import { characterRun } from './character-run.ts';
import { replaceFormFields } from './form-fields.ts';
import { replaceJsonWebTokens } from './json-web-tokens.ts';
import { replacePrivateKeys } from './private-keys.ts';
import { replaceSecrets, type SecretPattern } from './replace-secrets.ts';

/** Replacement of redacted secrets. */
export const redactedPlaceholder = '[redacted]';

const secretHeader =
  /^(?:proxy-authorization|authorization|cookie|set-cookie)$|token|secret|api-?key|credential|password|session/i;

const secretNames =
  'token|(?:access|refresh|id|bearer|notification|push|subject|actor)[_-]?token|api[_-]?key|x-api-key|password|passwd|secret|client[_-]?secret|credentials|device[_-]?code|client[_-]?assertion|authorization|cookie';
const secretField = new RegExp(`^(?:${secretNames})$`, 'i');
const secretQuery = /^(?:key|sig|signature|auth|code)$/i;

const urlPassword = /(:\/\/[^\s/?#@:"]{0,200}:)(?!redacted@)[^\s/?#@"]{1,200}@/g;

const credential = characterRun(/[\w.~+/-]/);
const padding = characterRun(/=/);
const authorization: SecretPattern = {
  start: /\b(?:Bearer|Basic)\s{1,100}/g,
  findEnd(text, from) {
    const end = credential.endOf(text, from);
    return end - from < 8 ? undefined : padding.endOf(text, end);
  },
};

/** Minimum number of characters after prefixes that start so. Shorter texts are words. */
const minTokenLengths = { 'sk-': 16, gh: 20, github: 20, glpat: 16, xox: 10, npm: 30, AKIA: 16, AIza: 30 };
const token = characterRun(/[\w-]/);
/** A token with a prefix of a service. */
const markedToken: SecretPattern = {
  start: /\b(?:sk-|gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|npm_|AKIA|AIza)/g,
  replacesStart: true,
  findEnd(text, from, [prefix]) {
    const end = token.endOf(text, from);
    return end - from < minLengthAfter(prefix) ? undefined : end;
  },
};

// No secret member has a longer name. In a truncated text the end counts as the closing quotation mark.
const jsonMember: SecretPattern = {
  start: /"([\w-]{1,50})"\s{0,100}:\s{0,100}(?=")/g,
  findEnd(text, from, [, name = '']) {
    if (!secretField.test(name)) return undefined;
    for (let at = from + 1; at < text.length; at++) {
      const character = text[at];
      if (character === '"') return at + 1;
      if (character === '\\') at++;
    }
    return text.length;
  },
};

const escapedText = characterRun(/[^"\\]/);
/** A member of JSON inside of a JSON string. */
const escapedMember: SecretPattern = {
  start: /\\"([\w-]{1,50})\\"\s{0,100}:\s{0,100}(?=\\")/g,
  findEnd(text, from, [, name = '']) {
    if (!secretField.test(name)) return undefined;
    const end = escapedText.endOf(text, from + 2);
    const rest = text.slice(end, end + 2);
    return rest === '' || rest === '\\' || rest === '\\"' ? end + rest.length : undefined;
  },
};

/** Limits memory: peers can invent names. */
const maxNames = 1_000;

/** Redacts registered secrets, and text that looks like credentials, in output. */
export class Redactor {
  readonly #texts = new Set<string>();
  readonly #headers = new Set<string>();
  readonly #queries = new Set<string>();
  /** Longest first, because a secret may contain another one. */
  #sortedTexts: readonly string[] | undefined;
  #parent: Redactor | undefined;

  /** @param headers - headers whose values are secret wherever they appear. */
  constructor(...headers: readonly (Readonly<Record<string, string>> | undefined)[]) {
    for (const [name, value] of headers.flatMap((each) => Object.entries(each ?? {}))) {
      this.addSecretHeader(name);
      for (const secret of credentialForms(value)) if (secret.length >= 6) this.addSecret(secret);
    }
  }

  /** Returns a redactor for these headers and all secrets of this one, including later ones. */
  withHeaders(headers: Readonly<Record<string, string>>): Redactor {
    const child = new Redactor(headers);
    child.#parent = this;
    return child;
  }

  /** Registers a secret value. Its JSON and URL encodings are redacted too. */
  addSecret(text: string | undefined): void {
    // Shorter texts occur everywhere.
    if (text === undefined || text.length < 4) return;
    this.#texts.add(text).add(encodeURIComponent(text)).add(JSON.stringify(text).slice(1, -1));
    this.#sortedTexts = undefined;
  }

  /** Registers a header whose value is secret. */
  addSecretHeader(name: string): void {
    if (this.#headers.size < maxNames) this.#headers.add(name.toLowerCase());
  }

  /** Registers a query parameter whose value is secret. */
  addSecretQueryParameter(name: string): void {
    if (this.#queries.size < maxNames) this.#queries.add(name.toLowerCase());
  }

  /** Returns true for registered headers and headers with names of credentials. */
  isSecretHeader(name: string): boolean {
    return (
      this.#headers.has(name.toLowerCase()) || (this.#parent?.isSecretHeader(name) ?? secretHeader.test(name))
    );
  }

  /** Returns the value of a header without secrets. */
  redactHeader(name: string, value: string): string {
    return this.isSecretHeader(name) ? redactedPlaceholder : this.redactText(value);
  }

  redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, this.redactHeader(name, value)]),
    );
  }

  /** Replaces registered secrets and text that looks like a credential. */
  redactText(text: string): string {
    let redacted = this.#parent ? this.#parent.redactText(text) : redactCredentials(text);
    this.#sortedTexts ??= [...this.#texts].sort((a, b) => b.length - a.length);
    for (const secret of this.#sortedTexts) redacted = redacted.replaceAll(secret, redactedPlaceholder);
    return redacted;
  }

  /** Replaces the password and secret query parameters of a URL. */
  redactUrl(url: string): string {
    // Fast path: most URLs cannot contain a secret.
    if (!/[?@]/.test(url)) return this.redactText(url);
    let parsed: URL;
    try {
      parsed = new URL(url);
    } catch {
      return this.redactText(url);
    }
    if (parsed.password !== '') parsed.password = 'redacted';
    for (const name of new Set(parsed.searchParams.keys()))
      if (this.#isSecretQuery(name)) parsed.searchParams.set(name, 'redacted');
    return this.redactText(parsed.href === new URL(url).href ? url : parsed.href);
  }

  #isSecretQuery(name: string): boolean {
    if (this.#queries.has(name.toLowerCase())) return true;
    return this.#parent
      ? this.#parent.#isSecretQuery(name)
      : secretField.test(name) || secretQuery.test(name);
  }

  /** Returns a copy of a value with all nested texts redacted. */
  redactDeep<T>(value: T): T {
    if (typeof value === 'string') return this.redactText(value) as T;
    if (Array.isArray(value)) return value.map((each: unknown) => this.redactDeep(each)) as T;
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, this.#redactField(key, each)]),
    ) as T;
  }

  #redactField(key: string, value: unknown): unknown {
    return typeof value === 'string' && secretField.test(key) ? redactedPlaceholder : this.redactDeep(value);
  }
}

function redactCredentials(text: string): string {
  const placeholder = redactedPlaceholder;
  let redacted = replacePrivateKeys(replaceJsonWebTokens(text, placeholder), placeholder);
  redacted = replaceSecrets(redacted, authorization, placeholder);
  redacted = replaceSecrets(redacted, markedToken, placeholder);
  redacted = redacted.replaceAll(urlPassword, `$1${placeholder}@`);
  redacted = replaceSecrets(redacted, jsonMember, `"${placeholder}"`);
  redacted = replaceSecrets(redacted, escapedMember, `\\"${placeholder}\\"`);
  return replaceFormFields(redacted, (name) => secretField.test(name), placeholder);
}

function minLengthAfter(prefix: string): number {
  const [, length = 0] = Object.entries(minTokenLengths).find(([start]) => prefix.startsWith(start)) ?? [];
  return length;
}

/** Returns the forms in which a credential may appear: the header value, without scheme, and the decoded `Basic` value. */
function credentialForms(value: string): string[] {
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
