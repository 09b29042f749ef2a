import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWTHeaderParameters } from 'jose';
import { RemoteJwks } from '../../primitives/node/remote-jwks.ts';
import type { FetchLike } from '../../primitives/web/fetch-like.ts';
import type { JsonWebKeySet } from '../../primitives/web/jwks.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { invalidCredentials } from './auth-error.ts';
import { parseBoundedJson } from '../../primitives/json.ts';

/** Resolves the key of a token. */
export type KeyResolver = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/** Milliseconds after which a remote JWKS is fetched again. */
const maxAge = 600_000;
/** Milliseconds for which a remote JWKS is used while it cannot be fetched. */
const maxStaleAge = 3_600_000;

/** Creates a resolver for a known JWKS. */
export async function staticKeyResolver(set: JsonWebKeySet): Promise<KeyResolver> {
  const { createLocalJWKSet } = await import('jose');
  const keySet = asymmetricKeys(set);
  if (keySet.keys.length === 0) throw invalidField('jwks', 'must have a public key');
  const resolve = createLocalJWKSet(keySet as unknown as JSONWebKeySet);
  return (header, token) => {
    requireKeyId(header, keySet);
    return resolve(header, token);
  };
}

/** Creates a resolver for a remote JWKS, which is cached and fetched again for unknown keys. */
export function remoteKeyResolver(fetchJwks: () => Promise<unknown>, now: () => number): KeyResolver {
  const load = async (): Promise<KeyResolver> => {
    try {
      return await staticKeyResolver((await fetchJwks()) as JsonWebKeySet);
    } catch (cause) {
      throw new A2AError('UNAVAILABLE', 'Tokens cannot be verified at the moment', { cause });
    }
  };
  return new RemoteJwks({ load, now, maxAge, maxStaleAge }).find;
}

/** Removes symmetric keys: a published shared secret proves nothing. */
function asymmetricKeys(set: JsonWebKeySet): JsonWebKeySet {
  if (!Array.isArray(set?.keys)) throw invalidField('jwks', 'must be a JSON Web Key Set');
  return { keys: set.keys.filter((key) => typeof key?.['kty'] === 'string' && key['kty'] !== 'oct') };
}

/** A token without `kid` is accepted only if there is one key and it has no id. */
function requireKeyId(header: JWTHeaderParameters, { keys }: JsonWebKeySet): void {
  if (header.kid === undefined && (keys.length > 1 || keys[0]?.['kid'] !== undefined))
    throw invalidCredentials('The token has no kid.');
}

/** Maximum size of a response, in bytes. */
const maxBytes = 1_024 * 1_024;

/** Fetches JSON from a server that the operator trusts. Redirects are not followed. */
export async function fetchJson(fetch: FetchLike, url: string): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(5_000),
  });
  if (response.status !== 200) throw new A2AError('UNAVAILABLE', undefined, { status: response.status });
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const bytes of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += bytes.length;
    if (size > maxBytes) throw new A2AError('UNAVAILABLE', `Response exceeds ${maxBytes} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return parseBoundedJson(text + decoder.decode());
}
