import type { OAuthFlow, OAuthFlowName } from '../../../protocol/card.ts';
import type { Authenticator } from '../authenticator.ts';
import { type JwtAuthOptions, createKeyResolver, jwtAuthenticator } from './jwt.ts';

/** Options of {@link oauth2Auth}. */
export interface OAuth2AuthOptions extends JwtAuthOptions {
  flows: { [name in OAuthFlowName]?: OAuthFlow };
  /** URL of the authorization server metadata (RFC 8414). */
  metadataUrl?: string;
}

/** Authenticates clients by OAuth 2 access tokens, which must be JSON Web Tokens. */
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
