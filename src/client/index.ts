/**
 * Client for remote agents: discovers them, negotiates version and transport, and resumes interrupted streams.
 *
 * @module
 */
export type { Clock } from '../primitives/clock.ts';
export { type CatalogListing, type CatalogOptions, fetchCatalog, type ListedAgent } from './catalog.ts';
export { connect, type ConnectionInfo, type RemoteAgent } from './connect.ts';
export {
  apiKey,
  bearer,
  bearerIfListed,
  clientCredentials,
  type CredentialRequest,
  type Credentials,
} from './credentials.ts';
export type { ClientCredentialsOptions, SecretSource } from './token-request.ts';
export type { FetchLike } from '../primitives/web/fetch-like.ts';
export type { JsonWebKeySet } from '../primitives/web/jwks.ts';
export {
  BodyTooLargeError,
  type HttpClient,
  HttpTransportError,
  type HttpRequest,
  type HttpResponse,
} from './http/http-client.ts';
export { SeveralAgentsError } from './discovery/find-in-catalog.ts';
export { createEndpointCache, type EndpointCache } from './discovery/endpoint-cache.ts';
export type {
  CardVerification,
  CardVerificationContext,
  VerifyCard,
} from './discovery/card-verification.ts';
export type {
  ClientTls,
  ConnectOptions,
  ClientLimits,
  LossContext,
  PollingOptions,
  ClientWarning,
  RedirectPolicy,
  ClientTimeouts,
} from './connect-options.ts';
export type { TaskIdAlias, TaskIdAliasStore } from './task-id-aliases.ts';
export type { Transport } from '../protocol/card.ts';
export type { AgentCatalog, CatalogAgent } from '../protocol/catalog/ai-catalog.ts';
