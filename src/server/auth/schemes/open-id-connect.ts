import { A2AError, invalidField } from '../../../protocol/errors.ts';
import type { Authenticator } from '../authenticator.ts';
import { fetchJson, RemoteJwks } from '../jwks.ts';
import { type JwtValidationOptions, jwtAuthenticator } from './jwt.ts';

/** Who makes the tokens, and what makes them good. */
export interface OpenIdConnectAuthOptions extends JwtValidationOptions {
  /** The issuer, exactly as its tokens and its metadata say it. */
  issuerUrl: string;
}

/** Knows callers by tokens of an OpenID provider, whose keys it finds by itself. */
export function openIdConnectAuth(options: OpenIdConnectAuthOptions): Authenticator {
  const { issuerUrl, fetch = globalThis.fetch, now = Date.now } = options;
  if (!URL.canParse(issuerUrl)) throw invalidField('issuerUrl', 'must be a URL');
  const openIdConnectUrl = `${issuerUrl.replace(/\/+$/, '')}/.well-known/openid-configuration`;
  const load = async (): Promise<unknown> => {
    const metadata = await fetchJson(fetch, openIdConnectUrl);
    return fetchJson(fetch, keyAddress(metadata, issuerUrl));
  };
  const keys = new RemoteJwks(load, now);
  return jwtAuthenticator(
    options,
    'openIdConnect',
    { type: 'openIdConnect', openIdConnectUrl },
    issuerUrl,
    keys.find,
  );
}

/** Metadata that speaks for somebody else, or sends us from an encrypted connection to a plain one, is not followed. */
function keyAddress(metadata: unknown, issuerUrl: string): string {
  const { issuer, jwks_uri: address } = (metadata ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
  const isGood =
    issuer === issuerUrl &&
    typeof address === 'string' &&
    URL.canParse(address) &&
    (new URL(address).protocol === 'https:' || new URL(issuerUrl).protocol === 'http:');
  if (!isGood) throw new A2AError('UNAVAILABLE', 'The metadata of the issuer cannot be used');
  return address;
}
