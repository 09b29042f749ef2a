import type { JSONWebKeySet, JWTHeaderParameters, JWTVerifyGetKey } from 'jose';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { invalidCredentials } from './auth-error.ts';

/** Public keys, as JSON Web Keys. */
export type JsonWebKeySet = JSONWebKeySet;

/** Asks another server; a part of the web's `fetch`. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** Gives the key for a token. */
export type KeyResolver = JWTVerifyGetKey;

/** How often keys are asked for at most, in milliseconds: a token with an invented key id must not cost more. */
const pause = 30_000;
/** The same as long as there are none. */
const shortPause = 1_000;
/** For how long keys are good without asking whether there are others. */
const freshFor = 600_000;
/** For how long keys are used when nobody answers. */
const usableFor = 3_600_000;

/** Gives keys out of a set that is known. */
export async function staticKeyResolver(set: JsonWebKeySet): Promise<KeyResolver> {
  const { createLocalJWKSet } = await import('jose');
  const usable = asymmetric(set);
  if (usable.keys.length === 0) throw invalidField('jwks', 'has no public key');
  const find = createLocalJWKSet(usable);
  return (header, token) => {
    demandKeyId(header, usable);
    return find(header, token);
  };
}

/** Gives keys out of a set that is somewhere else and may change. */
export class RemoteJwks {
  readonly #load: () => Promise<unknown>;
  readonly #now: () => number;
  #find: KeyResolver | undefined;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;

  constructor(load: () => Promise<unknown>, now: () => number) {
    this.#load = load;
    this.#now = now;
  }

  readonly find: KeyResolver = async (header, token) => {
    if (this.#now() - this.#loadedAt > freshFor) await this.#refresh();
    const known = this.#find;
    if (!known) throw new A2AError('UNAVAILABLE', 'Tokens cannot be checked at the moment');
    try {
      return await known(header, token);
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error;
      // The key may be newer than what we know.
      await this.#refresh();
      if (this.#find === undefined || this.#find === known) throw error;
      return this.#find(header, token);
    }
  };

  /** Asks for the keys, unless that was done a moment ago. What is known stays while nobody answers. */
  async #refresh(): Promise<void> {
    if (!this.#loading && this.#now() - this.#triedAt < (this.#find ? pause : shortPause)) return;
    this.#loading ??= this.#reload().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async #reload(): Promise<void> {
    this.#triedAt = this.#now();
    try {
      this.#find = await staticKeyResolver((await this.#load()) as JsonWebKeySet);
      this.#loadedAt = this.#now();
    } catch {
      if (this.#now() - this.#loadedAt > usableFor) this.#find = undefined;
    }
  }
}

/** A key that is shared is no key to prove anything with, and one that is published even less. */
function asymmetric(set: JsonWebKeySet): JsonWebKeySet {
  if (!Array.isArray(set?.keys)) throw invalidField('jwks', 'must be a JSON Web Key Set');
  return { keys: set.keys.filter((key) => typeof key?.kty === 'string' && key.kty !== 'oct') };
}

/** A token may leave its key open only where there is one key and it has no id. */
function demandKeyId(header: JWTHeaderParameters, { keys }: JsonWebKeySet): void {
  if (header.kid === undefined && (keys.length > 1 || keys[0]?.kid !== undefined))
    throw invalidCredentials('The token names no key.');
}

/** How large an answer with keys may be, in bytes. */
const maxBytes = 1_024 * 1_024;

/** Fetches JSON from a server that the operator trusts. Redirects are not followed: keys are where they are said to be. */
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
    if (size > maxBytes) throw new A2AError('UNAVAILABLE', `More than ${maxBytes} bytes came`);
    text += decoder.decode(bytes, { stream: true });
  }
  return JSON.parse(text + decoder.decode()) as unknown;
}
