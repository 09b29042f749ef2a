import type { TaskIdAliasStore } from './task-id-aliases.ts';
import type { SecureContextOptions } from 'node:tls';
import type { EgressOptions } from '../egress/egress-options.ts';
import type { EgressPolicy } from '../egress/egress-policy.ts';
import type { TranslationLoss } from '../dialects/translation-loss.ts';
import type { Operation } from '../protocol/agent.ts';
import type { ProtocolVersion, Transport } from '../protocol/card.ts';
import { type A2AError, invalidField } from '../protocol/errors.ts';
import { LazyTracing } from '../tracing/tracing.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import type { Credentials } from './credentials.ts';
import type { FetchLike } from '../primitives/web/fetch-like.ts';
import { fetchHttpClient } from './http/fetch-driver.ts';
import { type CredentialOrigins, DestinationPolicy } from './http/destination-policy.ts';
import type { HttpClient } from './http/http-client.ts';
import { lazyHttpClient } from './http/lazy-http-client.ts';
import { type EndpointCache, sharedEndpointCache } from './discovery/endpoint-cache.ts';
import type { VerifyCard } from './discovery/card-verification.ts';

/** Which redirects are followed: none, within the origin, or to any origin. */
export type RedirectPolicy = 'nowhere' | 'origin' | 'anywhere';

/** TLS options of the built-in driver. */
export interface ClientTls extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase'> {
  /**
   * Verifies the certificate of the server.
   * @defaultValue true; false accepts any certificate, for development only
   */
  verify?: boolean;
}

/** A problem that the client recovered from. */
export interface ClientWarning {
  /**
   * `frame`: an invalid stream event was skipped. `resume`: a stream was interrupted and is being resumed. `poll`: a task
   * cannot be subscribed to and is polled. `fallback`: the agent does not support what its card states, and another
   * endpoint is tried. `denied`: `egress` does not allow a URL of the card. `stale`: the card has expired and could not
   * be fetched again. `unverified`: the card has no valid signature.
   */
  kind: 'frame' | 'resume' | 'poll' | 'fallback' | 'denied' | 'stale' | 'unverified';
  message: string;
  error: A2AError;
  taskId?: string;
}

/** Call in which a translation loss occurred. */
export interface LossContext {
  operation: Operation | 'card';
  /** URL of the agent; undefined for a card that was passed to `connect()`. */
  url: string | undefined;
}

/** Timeouts in milliseconds. */
export interface ClientTimeouts {
  /**
   * Connection timeout.
   * @defaultValue 10 000
   */
  connect: number;
  /**
   * Timeout of operations other than send, until the response is complete.
   * @defaultValue 30 000
   */
  read: number;
  /**
   * Timeout of a send, which may block until the task ends.
   * @defaultValue 300 000
   */
  send: number;
  /**
   * Idle timeout of a stream: maximum time without any byte, including heartbeats. Over gRPC, which has no heartbeats, the
   * client tests the connection with a ping then. 0 disables it.
   * @defaultValue 60 000
   */
  idle: number;
  /**
   * Time for which the client tries to resume an interrupted stream without receiving a new event.
   * @defaultValue 30 000
   */
  resume: number;
}

/** Delays between polls of a task that cannot be streamed, in milliseconds. */
export interface PollingOptions {
  /**
   * Delay before the first poll. It doubles after each poll; after a change it is at most four times this value.
   * @defaultValue 50
   */
  initialDelay: number;
  /**
   * Maximum delay.
   * @defaultValue 5 000
   */
  maxDelay: number;
}

/** Size limits in bytes. */
export interface ClientLimits {
  /**
   * Maximum size of a response.
   * @defaultValue 64 MiB
   */
  body: number;
  /**
   * Maximum size of one stream event.
   * @defaultValue 64 MiB
   */
  frame: number;
}

/** Options of {@link connect}. All options are optional. */
export interface ConnectOptions {
  /** Credentials of all requests. A card is requested without them first. */
  auth?: Credentials;
  /** Credentials of card requests, if they differ. */
  cardAuth?: Credentials;
  /**
   * Further origins that may receive `auth` and `headers`, or `any`. By default these are the origins of the URLs of the
   * caller (the URL, `cardPath`, `endpoint`, a card object): a card may list interfaces at other origins, which are called
   * without credentials. Credentials for an HTTPS URL are never sent over plain HTTP.
   * @defaultValue none
   */
  credentialOrigins?: CredentialOrigins;
  /** Headers of all requests to the agent. `call.headers` are never forwarded. */
  headers?: Readonly<Record<string, string>>;
  /** Headers of card requests. */
  cardHeaders?: Readonly<Record<string, string>>;
  /** Path of the card relative to the URL, if it is not at a well-known path. */
  cardPath?: string;
  /** URL of all requests, for agents whose card lists unreachable URLs. */
  endpoint?: string;
  /**
   * Which redirects are followed. Credentials are never sent to another origin, which `egress` must also allow. A POST
   * request follows only 307 and 308. Card requests follow redirects to any origin.
   * @defaultValue `origin`
   */
  redirects?: RedirectPolicy;
  /** Trusted certificates and client certificate. Only for the built-in driver. */
  tls?: ClientTls;
  /**
   * Transports to use, in order of preference. gRPC requires Node and not the option `fetch`; the client uses the next
   * interface of the card otherwise.
   * @defaultValue all, in the order of the card
   */
  transports?: readonly Transport[];
  /**
   * Protocol versions to use, in order of preference.
   * @defaultValue all, in the order of the card
   */
  versions?: readonly ProtocolVersion[];
  /**
   * Whether the agent expects JSON-RPC requests at REST paths: `message/send` at `{url}/message:send`, tasks at
   * `{url}/tasks/{id}`.
   * @defaultValue tried last
   */
  restEnvelope?: boolean;
  /** Tenant, instead of the one in the card. */
  tenant?: string;
  /**
   * Egress policy for URLs that the agent supplies: interfaces of its card, cards of a catalog, and redirects to other
   * origins. They must be public or allowed by these options; `false` disables the check. URLs from the caller (the URL, `cardPath`, a card
   * object, the `tokenUrl` of credentials) are always allowed; if one is on the local host, so are its other ports. The
   * built-in driver connects only to checked IP addresses; with `fetch` only the URL is checked, so a public name may
   * resolve to a private address.
   * @defaultValue public addresses only
   */
  egress?: EgressOptions | EgressPolicy | false;
  timeouts?: Partial<ClientTimeouts>;
  /** Polling of agents that cannot stream. */
  polling?: Partial<PollingOptions>;
  limits?: Partial<ClientLimits>;
  /**
   * Maximum number of retries of a request, if a retry is safe.
   * @defaultValue 3
   */
  maxRetries?: number;
  /**
   * Maximum number of consecutive attempts to resume a stream without receiving a new event, within `timeouts.resume`.
   * @defaultValue no limit
   */
  maxResumes?: number;
  /**
   * Maximum number of connections per origin; each open stream uses one. Only for the built-in driver.
   * @defaultValue 256
   */
  maxConnections?: number;
  /** `fetch` function that replaces the built-in driver, for browsers, workers and tests. */
  fetch?: FetchLike;
  /** HTTP client that replaces the built-in driver. `close()` does not close it. */
  http?: HttpClient;
  /** Caches the endpoints that worked. @defaultValue shared by all connections of the process */
  endpointCache?: EndpointCache;
  /** Keeps the task ids that 0.1 clients of a proxy chose. @defaultValue the newest 10,000 in memory */
  taskIdAliases?: TaskIdAliasStore;
  /** Called for each problem that the client recovered from. */
  onWarning?: (warning: ClientWarning) => void;
  /** Called with translation losses in requests, responses, events and cards. */
  onLoss?: (losses: readonly TranslationLoss[], context: LossContext) => void;
  /**
   * Verifies the signatures of a card before it is used: `(card, { fetchKey }) => verifyCard(card, …)` with `verifyCard`
   * of `dragoman/signing`. A card with an invalid signature is never used.
   */
  verifyCard?: VerifyCard;
  /**
   * Rejects agents without a verified card.
   * @defaultValue true if `verifyCard` is set, because an attacker can remove a signature
   */
  requireVerified?: boolean;
  /**
   * Creates an OpenTelemetry span for each operation and propagates the trace context.
   * @defaultValue true if OpenTelemetry is already set up
   */
  tracing?: boolean;
  clock?: Clock;
  /** Returns numbers from 0 to 1, for jitter. @defaultValue `Math.random` */
  random?: () => number;
}

/** Options with defaults applied. */
export interface ClientSettings {
  readonly auth: Credentials | undefined;
  readonly cardAuth: Credentials | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly cardHeaders: Readonly<Record<string, string>>;
  readonly cardPath: string | undefined;
  readonly endpoint: string | undefined;
  readonly redirects: RedirectPolicy;
  readonly transports: readonly Transport[] | undefined;
  readonly restEnvelope: boolean | undefined;
  readonly versions: readonly ProtocolVersion[] | undefined;
  readonly tenant: string | undefined;
  readonly destinations: DestinationPolicy;
  readonly timeouts: Readonly<ClientTimeouts>;
  readonly polling: Readonly<PollingOptions>;
  readonly limits: Readonly<ClientLimits>;
  readonly maxRetries: number;
  readonly maxResumes: number;
  readonly http: HttpClient;
  readonly ownsHttp: boolean;
  readonly endpointCache: EndpointCache;
  readonly taskIdAliases: TaskIdAliasStore | undefined;
  readonly warn: (warning: ClientWarning) => void;
  readonly onLoss: ((losses: readonly TranslationLoss[], context: LossContext) => void) | undefined;
  readonly verifyCard: VerifyCard | undefined;
  readonly requireVerified: boolean;
  readonly tracing: LazyTracing;
  readonly clock: Clock;
  readonly random: () => number;
}

const bytes64M = 64 * 1024 * 1024;

/** Applies the defaults. @throws {@link A2AError} `INVALID_PARAMS` if options contradict each other. */
export function resolveSettings(options: ConnectOptions): ClientSettings {
  const timeouts = {
    connect: 10_000,
    read: 30_000,
    send: 300_000,
    idle: 60_000,
    resume: 30_000,
    ...options.timeouts,
  };
  const { verifyCard, requireVerified = verifyCard !== undefined } = options;
  if (requireVerified && !verifyCard)
    throw invalidField('requireVerified', 'must be combined with verifyCard');
  const polling = { initialDelay: 50, maxDelay: 5_000, ...options.polling };
  // Polling without a delay would flood the agent.
  for (const name of ['initialDelay', 'maxDelay'] as const)
    if (!(polling[name] >= 1)) throw invalidField(`polling.${name}`, 'must be at least 1');
  return {
    auth: options.auth,
    cardAuth: options.cardAuth,
    headers: lowerCaseNames(options.headers ?? {}),
    cardHeaders: lowerCaseNames(options.cardHeaders ?? {}),
    cardPath: options.cardPath,
    endpoint: options.endpoint,
    redirects: options.redirects ?? 'origin',
    transports: options.transports,
    restEnvelope: options.restEnvelope,
    versions: options.versions,
    tenant: options.tenant,
    destinations: new DestinationPolicy(options.egress, options.credentialOrigins),
    timeouts,
    polling,
    limits: { body: bytes64M, frame: bytes64M, ...options.limits },
    maxRetries: options.maxRetries ?? 3,
    maxResumes: options.maxResumes ?? Number.POSITIVE_INFINITY,
    http: options.http ?? createDriver(options, timeouts),
    ownsHttp: options.http === undefined,
    endpointCache: options.endpointCache ?? sharedEndpointCache,
    taskIdAliases: options.taskIdAliases,
    warn: options.onWarning ?? (() => {}),
    onLoss: options.onLoss,
    verifyCard,
    requireVerified,
    tracing: new LazyTracing(options.tracing),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

function createDriver(options: ConnectOptions, timeouts: ClientTimeouts): HttpClient {
  if (options.fetch) return fetchHttpClient(options.fetch);
  const { maxConnections = 256, tls } = options;
  return lazyHttpClient(async () => {
    const { createHttpDriver } = await import('#http-driver');
    return createHttpDriver({
      connectTimeout: timeouts.connect,
      maxConnections,
      tls,
      idleTimeout: timeouts.idle,
      clock: options.clock,
    });
  });
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
