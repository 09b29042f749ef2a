import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import { A2AError } from '../../protocol/errors.ts';
import type { JsonWebKeySet } from '../sending/signer.ts';

/** The part of `fetch` that is used. */
export type FetchJwks = (url: string) => Promise<{ ok: boolean; json(): Promise<unknown> }>;

/** How long a key that is not there is not looked for again, in milliseconds. */
const coolDown = 30_000;

/** Finds the key that a token names. */
export type ResolveJwk = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/**
 * Gives the keys of a set, or of an address at which one is shown: that is fetched once, and again only for a key
 * that is not among them, and not too often.
 */
export function jwksResolver(
  keys: JsonWebKeySet | string,
  fetchKeys: FetchJwks,
  now: () => number,
): ResolveJwk {
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<ResolveJwk> | undefined;
  const load = (url: string): Promise<ResolveJwk> => {
    if (!fetching || now() - fetchedAt >= coolDown) {
      fetchedAt = now();
      const attempt = fetchFrom(url, fetchKeys).then(ringOf);
      fetching = attempt;
      // What failed is tried again soon, but not for every token that comes meanwhile.
      attempt.catch(() => {
        fetchedAt = now() - coolDown + 1_000;
      });
    }
    return fetching;
  };
  let current: Promise<ResolveJwk> | undefined = typeof keys === 'string' ? undefined : ringOf(keys);
  return async (header, token) => {
    if (typeof keys !== 'string') return (await (current ??= ringOf(keys)))(header, token);
    try {
      if (current) return await (await current)(header, token);
    } catch (thrown) {
      if ((thrown as { code?: unknown }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw thrown;
    }
    const loaded = await load(keys);
    current = Promise.resolve(loaded);
    return loaded(header, token);
  };
}

async function ringOf(keys: JsonWebKeySet): Promise<ResolveJwk> {
  const { createLocalJWKSet } = await import('jose');
  return createLocalJWKSet(keys as JSONWebKeySet);
}

async function fetchFrom(url: string, fetchKeys: FetchJwks): Promise<JsonWebKeySet> {
  try {
    const response = await fetchKeys(url);
    const body = response.ok ? await response.json() : undefined;
    if (Array.isArray((body as Partial<JsonWebKeySet> | undefined)?.keys)) return body as JsonWebKeySet;
  } catch (cause) {
    throw new A2AError('UNAVAILABLE', 'The keys of the sender cannot be fetched', { cause });
  }
  throw new A2AError('UNAVAILABLE', 'The sender shows no keys');
}
