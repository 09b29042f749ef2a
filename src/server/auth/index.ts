/**
 * Authenticators for the option `auth` of `serve`, `toNodeHandler` and `toFetchHandler`.
 *
 * @module
 */
export { type ApiKeyAuthOptions, apiKeyAuth } from './schemes/api-key.ts';
export type {
  Authenticator,
  AuthOptions,
  AuthenticationInput,
  AuthorizationRequest,
  SchemeLabel,
  CredentialLocations,
} from './authenticator.ts';
export { type BasicAuthOptions, basicAuth } from './schemes/basic.ts';
export { type BearerAuthOptions, bearerAuth } from './schemes/bearer.ts';
export { customAuth } from './schemes/custom.ts';
export { type JwtAuthOptions, jwtAuth, type JwtValidationOptions } from './schemes/jwt.ts';
export type { FetchLike } from '../../primitives/web/fetch-like.ts';
export type { JsonWebKeySet } from '../../primitives/web/jwks.ts';
export { type MutualTlsAuthOptions, mutualTlsAuth } from './schemes/mutual-tls.ts';
export { type OAuth2AuthOptions, oauth2Auth } from './schemes/oauth2.ts';
export { type OpenIdConnectAuthOptions, openIdConnectAuth } from './schemes/open-id-connect.ts';
export { invalidCredentials } from './auth-error.ts';
export type { PrincipalsBySecret } from './secret-lookup.ts';
