import { A2AError, invalidField } from '../../../protocol/errors.ts';
import type { Authenticator } from '../authenticator.ts';
import { fetchJson, remoteKeyResolver } from '../jwks.ts';
import { type JwtValidationOptions, jwtAuthenticator } from './jwt.ts';
import { stripTrailing } from '../../../primitives/text.ts';
import { isUrl } from '../../../primitives/web/parse-url.ts';

/** Options of {@link openIdConnectAuth}. */
export interface OpenIdConnectAuthOptions extends JwtValidationOptions {
  /** Exact issuer of the tokens and of the provider metadata. */
  issuerUrl: string;
}

/** Authenticates clients by tokens of an OpenID provider, whose keys are discovered. */
export function openIdConnectAuth(options: OpenIdConnectAuthOptions): Authenticator {
  const { issuerUrl, fetch = globalThis.fetch, now = Date.now } = options;
  if (!isUrl(issuerUrl)) throw invalidField('issuerUrl', 'must be an absolute URL');
  const openIdConnectUrl = `${stripTrailing(issuerUrl, '/')}/.well-known/openid-configuration`;
  const load = async (): Promise<unknown> => {
    const metadata = await fetchJson(fetch, openIdConnectUrl);
    return fetchJson(fetch, readJwksUri(metadata, issuerUrl));
  };
  const resolveKey = remoteKeyResolver(load, now);
  return jwtAuthenticator(
    options,
    'openIdConnect',
    { type: 'openIdConnect', openIdConnectUrl },
    issuerUrl,
    resolveKey,
  );
}

/** Rejects metadata of another issuer, and an unencrypted JWKS URL of an https issuer. */
function readJwksUri(metadata: unknown, issuerUrl: string): string {
  const { issuer, jwks_uri: jwksUri } = (metadata ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
  const isValid =
    issuer === issuerUrl &&
    typeof jwksUri === 'string' &&
    isUrl(jwksUri) &&
    (new URL(jwksUri).protocol === 'https:' || new URL(issuerUrl).protocol === 'http:');
  if (!isValid) throw new A2AError('UNAVAILABLE', 'Invalid OpenID provider metadata');
  return jwksUri;
}
