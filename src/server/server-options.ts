import type { ProtocolVersion } from '../protocol/card.ts';
import type { A2AError } from '../protocol/errors.ts';
import type { AuthOptions } from './auth/authenticator.ts';
import type { CallPolicy } from './auth/call-policy.ts';
import type { LogSink } from '../primitives/log.ts';
import type { HttpServerRequest } from './http/http-message.ts';
import type { DrainOptions } from './lifecycle/drain.ts';
import type { ServerLimits } from './limits/limits.ts';
import type { MetricsOptions } from './telemetry/metrics-endpoint.ts';
import type { TrafficObserver } from './telemetry/traffic-observer.ts';

/** A version that can be served exclusively. */
export type ExclusiveVersion = ProtocolVersion;

/** Cross-origin resource sharing (CORS). */
export interface CorsOptions {
  /** Origins such as `https://app.example`, or `'*'` for all. */
  readonly origins: '*' | readonly string[];
}

/** Options of `serve()`, `toNodeHandler()`, `toFetchHandler()` and `AgentHttpHandler`. All options are optional. */
export interface ServerOptions {
  /**
   * Path prefix of all routes. Not needed where a framework removes the prefix, as `app.use('/agent', handler)` of Express
   * does.
   * @defaultValue `''`
   */
  basePath?: string;
  /**
   * URL of the agent in its card, including the base path.
   * @defaultValue derived from the `Host` header and the path at which a framework mounted the handler
   */
  publicUrl?: string;
  /**
   * Uses `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix` if `publicUrl` is not set. Enable it only
   * behind a proxy that sets them.
   * @defaultValue false
   */
  trustForwarded?: boolean;
  /**
   * IP addresses and CIDR blocks of proxies whose `X-Forwarded-For` or `Forwarded` header identifies the client, for
   * limits, logs and metrics.
   * @defaultValue none; the address of the connection identifies the client
   */
  trustProxy?: readonly string[];
  /**
   * Accepts 1.0 methods without the `A2A-Version` header, which strictly means 0.3.
   * @defaultValue false
   */
  lenientVersion?: boolean;
  /**
   * Serves only this version, like agents without version negotiation: the requested version is ignored, and only the
   * card path of this version exists. For samples and tests of clients.
   * @defaultValue all versions
   */
  onlyVersion?: ExclusiveVersion;
  /**
   * Offers features of a version that is not released: generations of tasks in 1.0 over all transports. They may change.
   * @defaultValue none
   */
  preview?: '1.1';
  /** Maximum size of a request body, in bytes. @defaultValue 10 MiB */
  maxBodyBytes?: number;
  /** Maximum number of open streams. @defaultValue 50,000 */
  maxStreams?: number;
  /** Milliseconds between SSE heartbeats; 0 disables them. @defaultValue 15,000 */
  heartbeat?: number;
  /** Milliseconds after which a connection is closed whose client does not read the response. @defaultValue 60,000 */
  stallTimeout?: number;
  /** Phases of a shutdown, before connections are closed. @defaultValue none */
  drain?: DrainOptions;
  /** Limits per request and per client, including the rate limit. */
  limits?: ServerLimits;
  /** Lets web pages of other origins call the agent, without browser credentials. @defaultValue only its own origin */
  cors?: CorsOptions;
  /**
   * Host names that clients may use, besides local names and the host of `publicUrl`. Without authentication, requests
   * over loopback with another `Host` are rejected, because they may come from a web page (DNS rebinding). If it is
   * set, requests over other network interfaces are checked as well; IP addresses are always accepted there.
   */
  allowedHosts?: readonly string[];
  /** `max-age` of cards in caches, in seconds. @defaultValue 300 */
  cardMaxAge?: number;
  /**
   * Signs cards: receives the 1.0 JSON and returns it with `signatures`, such as
   * `(card) => signCard(card, { key, kid })` with `signCard` of `dragoman/signing`. Requires `publicUrl`, except on
   * loopback hosts. If it fails, the card is published without signature and `onError` is called.
   */
  signCard?: (card: { [member: string]: unknown }) => object | Promise<object>;
  /**
   * Authentication and authorization; see `dragoman/server/auth`. Cards and health checks stay public.
   * @defaultValue no authentication; all clients share the same tasks
   */
  auth?: AuthOptions;
  /**
   * Decides about every call after authentication. Cards then depend on the client, which may send credentials for them.
   * @defaultValue every call is allowed
   */
  policy?: CallPolicy | undefined;
  /**
   * Gives the agent the bearer token of an authenticated client, as `callerToken` of the call.
   * @defaultValue false
   */
  passToken?: boolean;
  /**
   * Serves Prometheus metrics below the base path.
   * @defaultValue false
   */
  metrics?: boolean | MetricsOptions;
  /**
   * Creates an OpenTelemetry span for each operation and continues the trace of the client.
   * @defaultValue true if OpenTelemetry was set up before
   */
  tracing?: boolean;
  /** Receives one log entry per finished request, and errors if there is no `onError`. @defaultValue no log of requests */
  log?: LogSink;
  /**
   * Observes requests and responses verbatim, without credentials of `auth`; `tapServer` of `dragoman/tap` records them.
   * @defaultValue no observer
   */
  onTraffic?: TrafficObserver;
  /**
   * Called with every error that was not caused by the client, such as an exception of a wrapper or hook.
   * @defaultValue the error is logged; without `log` it is written to standard error, with its stack
   */
  onError?: (error: A2AError, request: HttpServerRequest) => void;
}
