import { sharedViewOf } from '../../primitives/copies/shared-view.ts';
import { sseHeaders } from '../../primitives/formats/sse.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { A2AError } from '../../protocol/errors.ts';
import { Authorizer } from '../auth/authorizer.ts';
import { AuthenticatorChain } from '../auth/authenticator-chain.ts';
import type { CallPolicy } from '../auth/call-policy.ts';
import { CardService } from '../cards/card-service.ts';
import type { HttpServerRequest, HttpServerResponse } from './http-message.ts';
import { ClientLimiter, type ClientUsage } from '../limits/client-limiter.ts';
import { defaultLimits, type ServerLimits } from '../limits/limits.ts';
import { TrustedProxies } from '../limits/trusted-proxies.ts';
import { ServerBudgets } from '../limits/server-budgets.ts';
import type { ServerOptions } from '../server-options.ts';
import { Heartbeats } from '../lifecycle/heartbeats.ts';
import type { SseStream } from './sse-stream.ts';
import { SerializationCache } from '../operations/serialization-cache.ts';
import { reportError } from '../telemetry/report-error.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';
import { type ServerTelemetry, createTelemetry } from '../telemetry/server-telemetry.ts';

const streamHeaders = Object.entries(sseHeaders).flat();

/** State that all transports of one served agent share: limits, authentication, telemetry and open streams. */
export class ServerContext {
  readonly agent: Agent;
  readonly cards: CardService;
  readonly isLenient: boolean;
  /** Undefined without authentication. */
  readonly authenticators: AuthenticatorChain | undefined;
  /** Undefined without authentication. */
  readonly authorizer: Authorizer | undefined;
  /** Undefined without a policy. */
  readonly policy: CallPolicy | undefined;
  readonly limits: ServerLimits;
  readonly limiter: ClientLimiter;
  /** Undefined if no proxy is trusted. */
  readonly proxies: TrustedProxies | undefined;
  /** Undefined if metrics, logs and traces are disabled. */
  readonly telemetry: ServerTelemetry | undefined;
  readonly budgets: ServerBudgets;
  readonly #options: ServerOptions;
  readonly #serializationCaches = new Map<Dialect, SerializationCache>();
  /** Open streams with the usage counters of their clients. */
  readonly #streams = new Map<SseStream, ClientUsage | undefined>();
  /** Telemetry of open streams. */
  readonly #streamTelemetry = new Map<SseStream, RequestTelemetry>();
  #finishedEvents = 0;
  /** Position of the next heartbeat in the streams. */
  #heartbeatCursor: Iterator<SseStream, undefined> | undefined = undefined;
  /** Number of streams whose heartbeat is due, with the fraction of the last share. */
  #heartbeatsDue = 0;
  /** False if the adapter sends the heartbeats of each stream itself. */
  hasSharedHeartbeat = true;
  readonly #heartbeats: Heartbeats;

  /** @param budgets - shared by several agents of one server. */
  constructor(served: Agent, options: ServerOptions, budgets?: ServerBudgets) {
    // The server serializes results at once and never modifies them.
    const agent = sharedViewOf(served);
    this.agent = agent;
    this.limiter = new ClientLimiter(options);
    this.authenticators =
      options.auth &&
      new AuthenticatorChain(options.auth, (request) => this.limiter.countInvalidCredentials(request));
    this.authorizer = this.authenticators && new Authorizer(this.authenticators, agent);
    this.policy = options.policy;
    this.cards = new CardService(agent, options, this.authenticators);
    this.isLenient = options.lenientVersion ?? false;
    this.limits = options.limits ?? {};
    this.proxies = options.trustProxy && new TrustedProxies(options.trustProxy);
    this.telemetry = createTelemetry(options);
    this.budgets = budgets ?? new ServerBudgets(options.limits, this.telemetry?.metrics);
    this.#options = options;
    this.#heartbeats = new Heartbeats(this, options.heartbeat);
  }

  /** Returns the serialization cache that all clients of a dialect share. */
  serializationCache(dialect: Dialect): SerializationCache {
    let cache = this.#serializationCaches.get(dialect);
    if (!cache) this.#serializationCaches.set(dialect, (cache = new SerializationCache(dialect)));
    return cache;
  }

  /** Registers a stream and returns its response. */
  streamResponse(stream: SseStream, request: HttpServerRequest, usage?: ClientUsage): HttpServerResponse {
    const { telemetry } = request;
    this.#streams.set(stream, usage);
    stream.openOutput = () => this.budgets.openOutput(request);
    if (telemetry) this.#streamTelemetry.set(stream, telemetry);
    if (this.hasSharedHeartbeat) this.#heartbeats.start();
    return { status: 200, headers: streamHeaders, body: stream };
  }

  /** Must be called when a stream has ended. May be called twice. */
  streamEnded(stream: SseStream): void {
    const usage = this.#streams.get(stream);
    if (!this.#streams.delete(stream)) return;
    this.#finishedEvents += stream.frames;
    if (usage) this.limiter.releaseStream(usage);
    if (stream.hasExceededOutput) this.telemetry?.metrics?.countLimitHit('outputBytes');
    const telemetry = this.#streamTelemetry.get(stream);
    if (!telemetry) return;
    this.#streamTelemetry.delete(stream);
    if (stream.error) telemetry.setError(stream.error);
    telemetry.end(200, stream.frames);
  }

  /** Total number of events sent on streams. */
  get eventsSent(): number {
    let sum = this.#finishedEvents;
    for (const stream of this.#streams.keys()) sum += stream.frames;
    return sum;
  }

  /** Milliseconds after which the connection of a client that does not read is closed. */
  get stallTimeout(): number {
    return this.#options.stallTimeout ?? defaultLimits.stallTimeout;
  }

  /**
   * Sends SSE heartbeats, if enabled, to a share of the streams: all at once would block the event loop.
   *
   * @param now - monotonic time in milliseconds.
   * @param share - from 0 to 1; every stream is visited once when the shares add up to 1.
   * @returns the visited streams whose clients have not read for `stallTimeout`.
   */
  sendHeartbeats(now: number, share = 1): SseStream[] {
    const stalled: SseStream[] = [];
    const { size } = this.#streams;
    this.#heartbeatsDue = Math.min(size, this.#heartbeatsDue + size * share);
    // Tolerates rounding errors of the sum of shares.
    while (this.#heartbeatsDue > 0.999_999) {
      this.#heartbeatsDue--;
      let next = this.#heartbeatCursor?.next();
      if (!next || next.done) {
        this.#heartbeatCursor = this.#streams.keys();
        next = this.#heartbeatCursor.next();
      }
      if (next.done) break;
      if (!this.keepAlive(next.value, now)) stalled.push(next.value);
    }
    return stalled;
  }

  /** Sends the heartbeat of a stream, if enabled. @returns false if its client has not read for `stallTimeout`. */
  keepAlive(stream: SseStream, now: number): boolean {
    if (stream.stalledSince > 0 && now - stream.stalledSince > this.stallTimeout) {
      this.telemetry?.metrics?.countLimitHit('stallTimeout');
      return false;
    }
    if (this.#options.heartbeat !== 0) stream.sendHeartbeat();
    return true;
  }

  /** The version whose drafted features are offered, if there is one. */
  get preview(): ServerOptions['preview'] {
    return this.#options.preview;
  }

  /** True if calls carry the token of the client. */
  get passesToken(): boolean {
    return this.#options.passToken ?? false;
  }

  /** The only version that is served, if there is one. */
  get onlyVersion(): ServerOptions['onlyVersion'] {
    return this.#options.onlyVersion;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  /** Ends all streams after their current frame. */
  endStreams(): void {
    for (const stream of this.#streams.keys()) stream.end();
  }

  /** Records an error, and reports errors of the server or agent. */
  report(error: A2AError, request: HttpServerRequest): void {
    request.telemetry?.setError(error);
    if (error.reason === 'INTERNAL_ERROR' || error.reason === 'INVALID_AGENT_RESPONSE')
      reportError(this.#options, error, request);
  }
}
