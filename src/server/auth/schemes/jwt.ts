import type { JWTPayload, JWTVerifyOptions } from 'jose';
import type { Principal } from '../../../protocol/agent.ts';
import type { SecurityScheme } from '../../../protocol/card.ts';
import { A2AError, invalidField } from '../../../protocol/errors.ts';
import { type Authenticator, singleScheme, type SchemeLabel } from '../authenticator.ts';
import { parseBearerToken } from './bearer.ts';
import {
  type FetchLike,
  fetchJson,
  type KeyResolver,
  staticKeyResolver,
  type JsonWebKeySet,
  RemoteJwks,
} from '../jwks.ts';
import { invalidCredentials } from '../auth-error.ts';
import { TokenCache } from '../token-cache.ts';

/** The algorithms with a public and a private key; no others prove who signed. */
const asymmetricAlgorithms = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];

/** How long a token may be. Node takes 16 KiB for all headers together. */
const maxTokenLength = 12_288;

/** What makes a token good, wherever its keys come from. */
export interface JwtValidationOptions extends SchemeLabel {
  /** For whom tokens must be: this agent. Without it, tokens for others would do as well. */
  audience: string | readonly string[];
  /** @defaultValue every algorithm with a public and a private key */
  algorithms?: readonly string[];
  /** By how many seconds clocks may differ. @defaultValue 30 */
  clockSkew?: number;
  /** The scopes that every token needs, in its `scope` or `scp`. */
  requiredScopes?: readonly string[];
  /** The claim that names the caller. @defaultValue `sub` */
  principal?: string;
  /** The media type that tokens must have, such as `at+jwt`. @defaultValue any */
  typ?: string;
  /** Fetches keys, as through a proxy or an egress policy. @defaultValue the web's `fetch` */
  fetch?: FetchLike;
  /** Milliseconds since 1970. @defaultValue `Date.now` */
  now?: () => number;
}

/** What makes a token good, and where its keys are. */
export interface JwtAuthOptions extends JwtValidationOptions {
  /** Who makes tokens, exactly as they say it. */
  issuer: string;
  /** The address of the public keys, or the keys. */
  jwks: string | JsonWebKeySet;
}

/** Knows callers by JSON Web Tokens that somebody trusted made. */
export function jwtAuth(options: JwtAuthOptions): Authenticator {
  const { issuer } = options;
  return jwtAuthenticator(
    options,
    'jwt',
    { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    issuer,
    createKeyResolver(options),
  );
}

/** Makes the function that finds keys. */
export function createKeyResolver({
  jwks,
  fetch = globalThis.fetch,
  now = Date.now,
}: JwtAuthOptions): KeyResolver {
  if (typeof jwks === 'string') {
    if (!URL.canParse(jwks)) throw invalidField('jwks', 'must be a URL or a key set');
    return new RemoteJwks(() => fetchJson(fetch, jwks), now).find;
  }
  let finding: Promise<KeyResolver> | undefined;
  return async (header, token) => (await (finding ??= staticKeyResolver(jwks)))(header, token);
}

/** Knows callers by tokens, whatever the card calls that. */
export function jwtAuthenticator(
  options: JwtValidationOptions,
  name: string,
  scheme: SecurityScheme,
  issuer: string,
  findKey: KeyResolver,
): Authenticator {
  const { algorithms = asymmetricAlgorithms, clockSkew = 30, principal = 'sub', now = Date.now } = options;
  for (const each of algorithms) {
    if (!asymmetricAlgorithms.includes(each))
      throw invalidField('algorithms', `has ${each}, which is none with a public and a private key`);
  }
  if (issuer === '' || options.audience.length === 0)
    throw invalidField('issuer', 'and audience must not be empty');
  const rules: JWTVerifyOptions = {
    issuer,
    audience: options.audience as string | string[],
    algorithms: [...algorithms],
    clockTolerance: clockSkew,
    requiredClaims: ['exp', principal],
    ...(options.typ !== undefined && { typ: options.typ }),
  };
  const memory = new TokenCache(now);
  return {
    schemes: singleScheme(options, name, scheme),
    scopes: options.requiredScopes ?? [],
    authenticate({ headers }) {
      const token = parseBearerToken(headers, maxTokenLength);
      if (token === undefined) return undefined;
      // Something else than a JSON Web Token may be for another authenticator.
      if (token.split('.').length !== 3) throw invalidCredentials('The token is no signed JSON Web Token.');
      const known = memory.find(token);
      if (known) return known;
      const verifying = verify(token, findKey, { ...rules, currentDate: new Date(now()) }, principal);
      return verifying.then((found) => {
        memory.keep(token, found, (Number(found.claims?.exp) + clockSkew) * 1_000);
        return found;
      });
    },
  };
}

async function verify(
  token: string,
  findKey: KeyResolver,
  rules: JWTVerifyOptions,
  principal: string,
): Promise<Principal> {
  const { jwtVerify } = await import('jose');
  let claims: JWTPayload;
  try {
    ({ payload: claims } = await jwtVerify(token, findKey, rules));
  } catch (error) {
    // The error of the library has the claims in it, and belongs into no log.
    throw error instanceof A2AError
      ? error
      : invalidCredentials(`The token is not good: ${problemOf(error)}.`);
  }
  const id = claims[principal];
  if (typeof id !== 'string' || id === '') throw invalidCredentials(`The claim ${principal} is no text.`);
  return { id, issuer: claims.iss ?? '', scopes: scopesOf(claims), claims };
}

/** What the library found, in its code and at most the name of a claim. */
function problemOf(error: unknown): string {
  const { code, claim } = (error ?? {}) as { code?: unknown; claim?: unknown };
  const known = typeof code === 'string' ? code : 'it cannot be read';
  return typeof claim === 'string' ? `${known}, ${claim}` : known;
}

/** The scopes of a token: one text with spaces, or a list. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  return [scope, scp]
    .flat()
    .filter((each) => typeof each === 'string')
    .flatMap((each) => each.split(' '))
    .filter((each) => each !== '');
}
