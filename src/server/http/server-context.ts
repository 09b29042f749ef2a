import type { Dialect } from '../../dialects/dialect.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { A2AError } from '../../protocol/errors.ts';
import { Authorizer } from '../auth/authorizer.ts';
import { AuthenticatorChain } from '../auth/authenticator-chain.ts';
import { CardService } from '../cards/card-service.ts';
import { type HttpServerRequest, singleHeader, type HttpServerResponse } from './http-message.ts';
import { ClientLimiter, type ClientUsage } from '../limits/client-limiter.ts';
import { defaultLimits, type ServerLimits } from '../limits/limits.ts';
import type { ServerOptions } from '../server-options.ts';
import type { SseStream } from './sse-stream.ts';
import { SerializationCache } from '../operations/serialization-cache.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';
import { type ServerTelemetry, createTelemetry } from '../telemetry/server-telemetry.ts';

const streamHeaders = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-transform',
  'X-Accel-Buffering',
  'no',
];

/** One agent as it is shown over HTTP: what all its bindings share. */
export class ServerContext {
  readonly agent: Agent;
  readonly cards: CardService;
  readonly isLenient: boolean;
  /** Finds out who calls, if anybody wants to know. */
  readonly authenticators: AuthenticatorChain | undefined;
  /** Decides what callers may do. */
  readonly authorizer: Authorizer | undefined;
  readonly limits: ServerLimits;
  /** Counts what callers take. */
  readonly limiter: ClientLimiter;
  /** Looks at all requests, if anybody wants to see them. */
  readonly telemetry: ServerTelemetry | undefined;
  readonly #options: ServerOptions;
  readonly #texts = new Map<Dialect, SerializationCache>();
  /** The open streams and whose they are. */
  readonly #streams = new Map<SseStream, ClientUsage | undefined>();
  /** The streams that somebody watches. */
  readonly #visits = new Map<SseStream, RequestTelemetry>();
  #eventsBefore = 0;

  constructor(agent: Agent, options: ServerOptions) {
    this.agent = agent;
    this.authenticators = options.auth && new AuthenticatorChain(options.auth);
    this.authorizer = this.authenticators && new Authorizer(this.authenticators, agent);
    this.cards = new CardService(agent, options, this.authenticators);
    this.isLenient = options.lenientVersion ?? false;
    this.limits = options.limits ?? {};
    this.limiter = new ClientLimiter(options);
    this.telemetry = createTelemetry(options);
    this.#options = options;
  }

  /** The texts that all callers of a dialect share. */
  serializationCache(dialect: Dialect): SerializationCache {
    let texts = this.#texts.get(dialect);
    if (!texts) this.#texts.set(dialect, (texts = new SerializationCache(dialect)));
    return texts;
  }

  /** Reads where a reader that lost its connection wants to go on. */
  readAfter({ headers }: HttpServerRequest, request: { afterSequence?: number }): void {
    const last = singleHeader(headers, 'last-event-id');
    if (last === undefined) return;
    const after = Number(last);
    if (last.trim() !== '' && Number.isSafeInteger(after) && after >= 0) request.afterSequence = after;
  }

  /** The reply that sends a stream. */
  streamResponse(
    stream: SseStream,
    { telemetry: visit }: HttpServerRequest,
    visitor?: ClientUsage,
  ): HttpServerResponse {
    this.#streams.set(stream, visitor);
    if (visit) this.#visits.set(stream, visit);
    return { status: 200, headers: streamHeaders, body: stream };
  }

  /** A stream is over. May be told twice. */
  streamEnded(stream: SseStream): void {
    const visitor = this.#streams.get(stream);
    if (!this.#streams.delete(stream)) return;
    this.#eventsBefore += stream.frames;
    if (visitor) this.limiter.releaseStream(visitor);
    const visit = this.#visits.get(stream);
    if (!visit) return;
    this.#visits.delete(stream);
    if (stream.fault) visit.failed(stream.fault);
    visit.end(200, stream.frames);
  }

  /** How many events were sent on streams so far. */
  get eventsSent(): number {
    let sum = this.#eventsBefore;
    for (const stream of this.#streams.keys()) sum += stream.frames;
    return sum;
  }

  /** Sends signs of life unless none are wanted, and gives the streams whose readers have not read for too long. */
  sendHeartbeats(now: number): SseStream[] {
    const stalled: SseStream[] = [];
    const { stallTimeout = defaultLimits.stallTimeout, heartbeat } = this.#options;
    for (const stream of this.#streams.keys()) {
      if (stream.stalledSince > 0 && now - stream.stalledSince > stallTimeout) {
        stalled.push(stream);
        this.telemetry?.metrics?.countLimitHit('stallTimeout');
      } else if (heartbeat !== 0) stream.sendHeartbeat();
    }
    return stalled;
  }

  /** How many streams are open. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** Ends all streams, each at the end of a frame. */
  endStreams(): void {
    for (const stream of this.#streams.keys()) stream.end();
  }

  /** Tells whoever listens of a fault that is ours. */
  report(error: A2AError, exchange: HttpServerRequest): void {
    exchange.telemetry?.failed(error);
    if (error.reason === 'INTERNAL_ERROR' || error.reason === 'INVALID_AGENT_RESPONSE') {
      try {
        this.#options.onError?.(error, exchange);
      } catch {
        // Whoever listens must not be able to keep the caller from its answer.
      }
    }
  }
}
