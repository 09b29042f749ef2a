import type { OAuthFlow, OAuthFlowName } from '../../../protocol/card.ts';
import type { Authenticator } from '../authenticator.ts';
import { type JwtOptions, keysOf, tokens } from './jwt.ts';

/** How callers get tokens, and what makes them good. */
export interface OAuth2Options extends JwtOptions {
  flows: { [name in OAuthFlowName]?: OAuthFlow };
  /** Where the metadata of the authorization server is (RFC 8414). */
  metadataUrl?: string;
}

/** Knows callers by access tokens of an OAuth 2 server, which must be JSON Web Tokens. */
export function oauth2(options: OAuth2Options): Authenticator {
  const { flows, metadataUrl, issuer } = options;
  return tokens(
    options,
    'oauth2',
    { type: 'oauth2', flows, ...(metadataUrl !== undefined && { oauth2MetadataUrl: metadataUrl }) },
    issuer,
    keysOf(options),
  );
}
