/**
 * Agents somewhere else: finds them, speaks their version, and follows their tasks through broken connections.
 *
 * @module
 */
export type { Clock } from './abortable-sleep.ts';
export { connect, type Description, type RemoteAgent } from './connect.ts';
export {
  apiKey,
  bearer,
  clientCredentials,
  type ClientCredentialsOptions,
  type CredentialRequest,
  type Credentials,
  type Secret,
} from './credentials.ts';
export type { Fetch } from './http/fetch-driver.ts';
export {
  BodyTooLarge,
  type HttpClient,
  HttpFailure,
  type HttpRequest,
  type HttpResponse,
} from './http/http-client.ts';
export { createMemory, type Memory } from './discovery/endpoint-cache.ts';
export type { CardVerdict, KeySetLike, Verification, VerifyCard } from './discovery/card-verification.ts';
export type {
  ClientTls,
  ConnectOptions,
  Limits,
  LossContext,
  Polling,
  Problem,
  Redirects,
  Timeouts,
  Transport,
} from './connect-options.ts';
