import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from 'jose';
import { RemoteJwks } from '../../primitives/node/remote-jwks.ts';
import type { JsonWebKeySet } from '../../primitives/web/jwks.ts';
import { A2AError } from '../../protocol/errors.ts';

/** The part of `fetch` that is used. */
export type FetchJwks = (url: string) => Promise<{ ok: boolean; json(): Promise<unknown> }>;

/** Resolves the key of a token. */
export type ResolveJwk = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** Creates a resolver for a key set, or for the URL of one, which is fetched on first use and for unknown keys. */
export function jwksResolver(
  keys: JsonWebKeySet | string,
  fetchKeys: FetchJwks,
  now: () => number,
): ResolveJwk {
  if (typeof keys !== 'string') {
    const resolver = staticResolver(keys);
    return async (header, token) => (await resolver)(header, token);
  }
  let failure: unknown;
  const load = async (): Promise<ResolveJwk> => {
    try {
      const resolver = await staticResolver(await fetchJwks(keys, fetchKeys));
      failure = undefined;
      return resolver;
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  const remote = new RemoteJwks({ load, now });
  return (header, token) =>
    remote.find(header, token).catch((error: unknown) => {
      // The key may be one that could not be fetched: UNAVAILABLE makes the sender retry.
      throw (error as { code?: unknown }).code === 'ERR_JWKS_NO_MATCHING_KEY' && failure ? failure : error;
    });
}

async function staticResolver(keys: JsonWebKeySet): Promise<ResolveJwk> {
  const { createLocalJWKSet } = await import('jose');
  return createLocalJWKSet(keys as unknown as JSONWebKeySet);
}

async function fetchJwks(url: string, fetchKeys: FetchJwks): Promise<JsonWebKeySet> {
  try {
    const response = await fetchKeys(url);
    const body = response.ok ? await response.json() : undefined;
    if (Array.isArray((body as Partial<JsonWebKeySet> | undefined)?.keys)) return body as JsonWebKeySet;
  } catch (cause) {
    throw new A2AError('UNAVAILABLE', 'Cannot fetch the JWKS of the sender', { cause });
  }
  throw new A2AError('UNAVAILABLE', 'The sender returned no JWKS');
}
