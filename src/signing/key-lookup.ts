import type { JWK } from 'jose';
import { isJsonObject } from '../primitives/json.ts';
import { truncate } from '../primitives/text.ts';
import type { JsonWebKeySet } from '../primitives/web/jwks.ts';
import { invalidField } from '../protocol/errors.ts';
import type { SigningKey } from './algorithms.ts';
import { parseUrl } from '../primitives/web/parse-url.ts';

/** Sources of public keys. The first source that knows the `kid` is used. */
export interface KeySources {
  /** Trusted public keys by `kid`. */
  keys?: { readonly [kid: string]: SigningKey } | ReadonlyMap<string, SigningKey>;
  /** A trusted JSON Web Key Set. */
  jwks?: JsonWebKeySet;
  /**
   * Fetches a key, or the key set at `jku`, if the sources above do not know the `kid`. Called with a `jku` only if
   * {@link KeySources.allowedJku} contains it, and without one only if the signature has none. It should not follow
   * redirects and should deny private addresses.
   */
  fetchKey?: (kid: string, jku: string | undefined) => Promise<SigningKey | JsonWebKeySet | undefined>;
  /**
   * The https URLs that a signature may name: a complete URL, or an origin such as `https://keys.example` for all its
   * URLs.
   *
   * @defaultValue none
   */
  allowedJku?: readonly string[];
  /** Current time in milliseconds, for keys with `nbf` and `exp`. @defaultValue `Date.now` */
  now?: () => number;
}

/** Usable keys, or the reason why there are none. */
export type KeyLookupResult =
  | { keys: readonly SigningKey[]; jku?: string }
  | { keys: undefined; reason: string };

/** Returns the keys that a signature names. */
export async function lookUpKeys(sources: KeySources, kid: string, jku: unknown): Promise<KeyLookupResult> {
  const stored = storedKeys(sources, kid);
  if (stored.length > 0) return usable(stored, sources, kid);
  if (jku !== undefined && !isAllowed(jku, sources.allowedJku)) {
    return none(
      `key ${quoteUntrusted(kid)} is not trusted and its jku ${quoteUntrusted(jku)} is not allowed`,
    );
  }
  if (!sources.fetchKey) return none(`unknown key ${quoteUntrusted(kid)}`);
  const url = jku as string | undefined;
  try {
    const fetched = await sources.fetchKey(kid, url);
    if (fetched === undefined || fetched === null) return none(`key ${quoteUntrusted(kid)} not found`);
    const keys = isKeySet(fetched) ? keysOfSet(fetched, kid) : [fetched];
    if (keys.length === 0) return none(`key ${quoteUntrusted(kid)} not found in the key set`);
    return usable(keys, sources, kid, url);
  } catch {
    return none(`key ${quoteUntrusted(kid)} could not be fetched`);
  }
}

function none(reason: string): KeyLookupResult {
  return { keys: undefined, reason };
}

/** Quotes untrusted input for a message, at most 100 characters. */
export function quoteUntrusted(value: unknown): string {
  return truncate(JSON.stringify(value) ?? 'undefined', 100);
}

function storedKeys({ keys, jwks }: KeySources, kid: string): SigningKey[] {
  const key =
    keys instanceof Map
      ? (keys as ReadonlyMap<string, SigningKey>).get(kid)
      : keys && Object.hasOwn(keys, kid)
        ? (keys as { readonly [kid: string]: SigningKey })[kid]
        : undefined;
  return [...(key ? [key] : []), ...(jwks ? keysOfSet(jwks, kid) : [])];
}

function isKeySet(value: SigningKey | JsonWebKeySet): value is JsonWebKeySet {
  return 'keys' in value && Array.isArray(value.keys);
}

function keysOfSet({ keys }: JsonWebKeySet, kid: string): JWK[] {
  return keys.filter((key) => isJsonObject(key) && key.kid === kid);
}

/** Removes keys that are expired, not yet valid or revoked (§8.4.3). */
function usable(
  keys: SigningKey[],
  { now = Date.now }: KeySources,
  kid: string,
  jku?: string,
): KeyLookupResult {
  const seconds = now() / 1000;
  const valid = keys.filter((key) => {
    const { nbf, exp, revoked } = key as { nbf?: unknown; exp?: unknown; revoked?: unknown };
    if (revoked !== undefined && revoked !== false && revoked !== null) return false;
    return !(typeof nbf === 'number' && seconds < nbf) && !(typeof exp === 'number' && seconds >= exp);
  });
  if (valid.length === 0) return none(`key ${quoteUntrusted(kid)} is expired, not yet valid or revoked`);
  return jku === undefined ? { keys: valid } : { keys: valid, jku };
}

function isAllowed(jku: unknown, allowed: readonly string[] = []): boolean {
  const url = typeof jku === 'string' ? parseUrl(jku) : undefined;
  if (!url || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  return allowed.some((each) => {
    const entry = parseUrl(each);
    if (!entry) throw invalidField('allowedJku', `must contain URLs, not ${quoteUntrusted(each)}`);
    const isOrigin = entry.pathname === '/' && entry.search === '';
    return isOrigin ? url.origin === entry.origin : url.href === entry.href;
  });
}
