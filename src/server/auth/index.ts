/**
 * Who may call an agent: ways to prove it, for the option `auth` of `serve` and `fetchHandler`.
 *
 * @module
 */
export { type ApiKeyOptions, apiKey } from './api-key.ts';
export type { Authenticator, AuthOptions, Head, Intent, SchemeNaming, Secrets } from './authenticator.ts';
export { type BasicOptions, basic } from './basic.ts';
export { type BearerOptions, bearer } from './bearer.ts';
export { custom } from './custom.ts';
export { type JwtOptions, jwt, type TokenOptions } from './jwt.ts';
export type { Fetch, KeySet } from './key-set.ts';
export { type MutualTlsOptions, mutualTls } from './mutual-tls.ts';
export { type OAuth2Options, oauth2 } from './oauth2.ts';
export { type OpenIdConnectOptions, openIdConnect } from './open-id-connect.ts';
export { badCredentials } from './refusal.ts';
export type { SecretHolders } from './secret-table.ts';
