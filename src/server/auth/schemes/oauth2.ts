import type { OAuthFlow, OAuthFlowName } from '../../../protocol/card.ts';
import type { Authenticator } from '../authenticator.ts';
import { type JwtAuthOptions, createKeyResolver, jwtAuthenticator } from './jwt.ts';

/** How callers get tokens, and what makes them good. */
export interface OAuth2AuthOptions extends JwtAuthOptions {
  flows: { [name in OAuthFlowName]?: OAuthFlow };
  /** Where the metadata of the authorization server is (RFC 8414). */
  metadataUrl?: string;
}

/** Knows callers by access tokens of an OAuth 2 server, which must be JSON Web Tokens. */
export function oauth2Auth(options: OAuth2AuthOptions): Authenticator {
  const { flows, metadataUrl, issuer } = options;
  return jwtAuthenticator(
    options,
    'oauth2',
    { type: 'oauth2', flows, ...(metadataUrl !== undefined && { oauth2MetadataUrl: metadataUrl }) },
    issuer,
    createKeyResolver(options),
  );
}
