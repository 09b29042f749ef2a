import type { JWTPayload, JWTVerifyOptions } from 'jose';
import type { FetchLike } from '../../../primitives/web/fetch-like.ts';
import type { JsonWebKeySet } from '../../../primitives/web/jwks.ts';
import type { Principal } from '../../../protocol/agent.ts';
import type { SecurityScheme } from '../../../protocol/card.ts';
import { A2AError, invalidField } from '../../../protocol/errors.ts';
import { type Authenticator, singleScheme, type SchemeLabel } from '../authenticator.ts';
import { parseBearerToken } from './bearer.ts';
import { fetchJson, type KeyResolver, staticKeyResolver, remoteKeyResolver } from '../jwks.ts';
import { invalidCredentials } from '../auth-error.ts';
import { TokenCache } from '../token-cache.ts';
import { isUrl } from '../../../primitives/web/parse-url.ts';

/** Asymmetric algorithms. Symmetric ones do not prove who signed. */
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

/** Maximum length of a token. Node accepts 16 KiB for all headers together. */
const maxTokenLength = 12_288;

/** Validation of tokens, independent of the source of the keys. */
export interface JwtValidationOptions extends SchemeLabel {
  /** Required audience: this agent. Prevents the use of tokens for other services. */
  audience: string | readonly string[];
  /** @defaultValue all asymmetric algorithms */
  algorithms?: readonly string[];
  /** Clock tolerance in seconds. @defaultValue 30 */
  clockSkew?: number;
  /** Scopes that every token needs, in its `scope` or `scp` claim. */
  requiredScopes?: readonly string[];
  /** Claim with the principal id. @defaultValue `sub` */
  principal?: string;
  /** Required `typ` of tokens, such as `at+jwt`. @defaultValue any */
  typ?: string;
  /** Fetches keys, for example through a proxy or an egress policy. @defaultValue the global `fetch` */
  fetch?: FetchLike;
  /** Current time in milliseconds since 1970. @defaultValue `Date.now` */
  now?: () => number;
}

/** Options of {@link jwtAuth}. */
export interface JwtAuthOptions extends JwtValidationOptions {
  /** Exact value of the `iss` claim. */
  issuer: string;
  /** URL of the JWKS, or the JWKS itself. */
  jwks: string | JsonWebKeySet;
}

/** Authenticates clients by JSON Web Tokens of a trusted issuer. */
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

/** Creates the key resolver for a static or remote JWKS. */
export function createKeyResolver({
  jwks,
  fetch = globalThis.fetch,
  now = Date.now,
}: JwtAuthOptions): KeyResolver {
  if (typeof jwks === 'string') {
    if (!isUrl(jwks)) throw invalidField('jwks', 'must be a URL or a JWKS');
    return remoteKeyResolver(() => fetchJson(fetch, jwks), now);
  }
  let resolver: Promise<KeyResolver> | undefined;
  return async (header, token) => (await (resolver ??= staticKeyResolver(jwks)))(header, token);
}

/** Creates an authenticator for tokens with the given scheme. */
export function jwtAuthenticator(
  options: JwtValidationOptions,
  name: string,
  scheme: SecurityScheme,
  issuer: string,
  resolveKey: KeyResolver,
): Authenticator {
  const { algorithms = asymmetricAlgorithms, clockSkew = 30, principal = 'sub', now = Date.now } = options;
  for (const each of algorithms) {
    if (!asymmetricAlgorithms.includes(each))
      throw invalidField('algorithms', `must be asymmetric; ${each} is not supported`);
  }
  if (issuer === '' || options.audience.length === 0)
    throw invalidField(issuer === '' ? 'issuer' : 'audience', 'must not be empty');
  const verifyOptions: JWTVerifyOptions = {
    issuer,
    audience: options.audience as string | string[],
    algorithms: [...algorithms],
    clockTolerance: clockSkew,
    requiredClaims: ['exp', principal],
    ...(options.typ !== undefined && { typ: options.typ }),
  };
  const cache = new TokenCache(now);
  return {
    schemes: singleScheme(options, name, scheme),
    scopes: options.requiredScopes ?? [],
    authenticate({ headers }) {
      const token = parseBearerToken(headers, maxTokenLength);
      if (token === undefined) return undefined;
      // Another kind of token may be for another authenticator.
      if (token.split('.').length !== 3)
        throw invalidCredentials('The token is not a signed JSON Web Token.');
      const cached = cache.find(token);
      if (cached) return cached;
      const verifying = verify(
        token,
        resolveKey,
        { ...verifyOptions, currentDate: new Date(now()) },
        principal,
      );
      return verifying.then((verified) => {
        cache.set(token, verified, (Number(verified.claims?.exp) + clockSkew) * 1_000);
        return verified;
      });
    },
  };
}

async function verify(
  token: string,
  resolveKey: KeyResolver,
  verifyOptions: JWTVerifyOptions,
  principal: string,
): Promise<Principal> {
  const { jwtVerify } = await import('jose');
  let claims: JWTPayload;
  try {
    ({ payload: claims } = await jwtVerify(token, resolveKey, verifyOptions));
  } catch (error) {
    // The error of the library contains the claims, which must not be logged.
    throw error instanceof A2AError ? error : invalidCredentials(`Invalid token: ${describeError(error)}.`);
  }
  const id = claims[principal];
  if (typeof id !== 'string' || id === '')
    throw invalidCredentials(`The claim ${principal} is not a string.`);
  return { id, issuer: claims.iss ?? '', scopes: readScopes(claims), claims };
}

/** Returns the error code of the library and at most the name of a claim. */
function describeError(error: unknown): string {
  const { code, claim } = (error ?? {}) as { code?: unknown; claim?: unknown };
  const cached = typeof code === 'string' ? code : 'malformed';
  return typeof claim === 'string' ? `${cached}, ${claim}` : cached;
}

/** Returns the scopes of a token, from a space-separated string or a list. */
function readScopes({ scope, scp }: JWTPayload): string[] {
  return [scope, scp]
    .flat()
    .filter((each) => typeof each === 'string')
    .flatMap((each) => each.split(' '))
    .filter((each) => each !== '');
}
