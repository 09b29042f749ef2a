import type { JSONWebKeySet, JWK } from 'jose';
import { invalidField } from '../protocol/errors.ts';
import type { SigningKey } from './algorithms.ts';
import { isJsonObject } from './presence-rules.ts';

/** A JSON Web Key Set. */
export type JsonWebKeySet = JSONWebKeySet;

/** Where public keys come from; the first source that knows the `kid` is asked alone. */
export interface KeySources {
  /** Trusted public keys by `kid`. */
  keys?: { readonly [kid: string]: SigningKey } | ReadonlyMap<string, SigningKey>;
  /** A trusted JSON Web Key Set. */
  jwks?: JsonWebKeySet;
  /**
   * Fetches a key, or the key set at `jku`, when the sources above do not know the `kid`. It is called with a `jku`
   * only if {@link KeySources.allowedJku} allows it, and without one only if the signature names none. It should not
   * follow redirects, and should refuse addresses inside the own network.
   */
  fetchKey?: (kid: string, jku: string | undefined) => Promise<SigningKey | JsonWebKeySet | undefined>;
  /**
   * The https addresses that a signature may name: a whole address, or an origin such as `https://keys.example` for
   * every address there.
   *
   * @defaultValue none
   */
  allowedJku?: readonly string[];
  /**
   * The time in milliseconds, by which keys that carry `nbf` and `exp` are judged.
   *
   * @defaultValue `Date.now`
   */
  now?: () => number;
}

/** The keys that may be used, or why there are none. */
export type KeyLookupResult =
  | { keys: readonly SigningKey[]; jku?: string }
  | { keys: undefined; reason: string };

/** Finds the keys that a signature names. */
export async function lookUpKeys(sources: KeySources, kid: string, jku: unknown): Promise<KeyLookupResult> {
  const stored = storedKeys(sources, kid);
  if (stored.length > 0) return usable(stored, sources, kid);
  if (jku !== undefined && !isAllowed(jku, sources.allowedJku)) {
    return none(
      `the key ${quoteUntrusted(kid)} is not trusted, and its jku ${quoteUntrusted(jku)} is not allowed`,
    );
  }
  if (!sources.fetchKey) return none(`the key ${quoteUntrusted(kid)} is not known`);
  const address = jku as string | undefined;
  try {
    const fetched = await sources.fetchKey(kid, address);
    if (fetched === undefined || fetched === null)
      return none(`the key ${quoteUntrusted(kid)} was not found`);
    const keys = isKeySet(fetched) ? ofSet(fetched, kid) : [fetched];
    if (keys.length === 0) return none(`the key set does not hold the key ${quoteUntrusted(kid)}`);
    return usable(keys, sources, kid, address);
  } catch {
    return none(`the key ${quoteUntrusted(kid)} could not be fetched`);
  }
}

function none(reason: string): KeyLookupResult {
  return { keys: undefined, reason };
}

/** A stranger's words, short enough to be shown. */
export function quoteUntrusted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

function storedKeys({ keys, jwks }: KeySources, kid: string): SigningKey[] {
  const byName =
    keys instanceof Map
      ? (keys as ReadonlyMap<string, SigningKey>).get(kid)
      : keys && Object.hasOwn(keys, kid)
        ? (keys as { readonly [kid: string]: SigningKey })[kid]
        : undefined;
  return [...(byName ? [byName] : []), ...(jwks ? ofSet(jwks, kid) : [])];
}

function isKeySet(value: SigningKey | JsonWebKeySet): value is JsonWebKeySet {
  return 'keys' in value && Array.isArray(value.keys);
}

function ofSet({ keys }: JsonWebKeySet, kid: string): JWK[] {
  return keys.filter((each) => isJsonObject(each) && each.kid === kid);
}

/** Leaves out keys that are out of their time or revoked (§8.4.3). */
function usable(
  keys: SigningKey[],
  { now = Date.now }: KeySources,
  kid: string,
  jku?: string,
): KeyLookupResult {
  const seconds = now() / 1000;
  const left = keys.filter((key) => {
    const { nbf, exp, revoked } = key as { nbf?: unknown; exp?: unknown; revoked?: unknown };
    if (revoked !== undefined && revoked !== false && revoked !== null) return false;
    return !(typeof nbf === 'number' && seconds < nbf) && !(typeof exp === 'number' && seconds >= exp);
  });
  if (left.length === 0) return none(`the key ${quoteUntrusted(kid)} is expired, not yet valid or revoked`);
  return jku === undefined ? { keys: left } : { keys: left, jku };
}

function isAllowed(jku: unknown, allowed: readonly string[] = []): boolean {
  if (typeof jku !== 'string' || !URL.canParse(jku)) return false;
  const url = new URL(jku);
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  return allowed.some((each) => {
    if (!URL.canParse(each))
      throw invalidField('allowedJku', `has ${quoteUntrusted(each)}, which is no address`);
    const entry = new URL(each);
    const isOrigin = entry.pathname === '/' && entry.search === '';
    return isOrigin ? url.origin === entry.origin : url.href === entry.href;
  });
}
