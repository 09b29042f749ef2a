/**
 * Who may call an agent: ways to prove it, for the option `auth` of `serve` and `fetchHandler`.
 *
 * @module
 */
export { type ApiKeyOptions, apiKey } from './schemes/api-key.ts';
export type { Authenticator, AuthOptions, Head, Intent, SchemeNaming, Secrets } from './authenticator.ts';
export { type BasicOptions, basic } from './schemes/basic.ts';
export { type BearerOptions, bearer } from './schemes/bearer.ts';
export { custom } from './schemes/custom.ts';
export { type JwtOptions, jwt, type TokenOptions } from './schemes/jwt.ts';
export type { Fetch, KeySet } from './jwks.ts';
export { type MutualTlsOptions, mutualTls } from './schemes/mutual-tls.ts';
export { type OAuth2Options, oauth2 } from './schemes/oauth2.ts';
export { type OpenIdConnectOptions, openIdConnect } from './schemes/open-id-connect.ts';
export { badCredentials } from './auth-error.ts';
export type { SecretHolders } from './secret-lookup.ts';
