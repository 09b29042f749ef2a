import type { Dialect } from '../dialects/dialect.ts';
import type { Agent } from '../protocol/agent.ts';
import { A2AError } from '../protocol/errors.ts';
import { Access } from './auth/access.ts';
import { Gate } from './auth/gate.ts';
import { CardDesk } from './card.ts';
import { type Exchange, headerOf, type Reply } from './exchange.ts';
import type { ServerOptions } from './options.ts';
import type { SseStream } from './sse.ts';
import { Texts } from './texts.ts';

const streamHeaders = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-transform',
  'X-Accel-Buffering',
  'no',
];

/** One agent as it is shown over HTTP: what all its bindings share. */
export class Face {
  readonly agent: Agent;
  readonly cards: CardDesk;
  readonly isLenient: boolean;
  /** Finds out who calls, if anybody wants to know. */
  readonly gate: Gate | undefined;
  /** Decides what callers may do. */
  readonly access: Access | undefined;
  readonly #options: ServerOptions;
  readonly #texts = new Map<Dialect, Texts>();
  readonly #streams = new Set<SseStream>();

  constructor(agent: Agent, options: ServerOptions) {
    this.agent = agent;
    this.gate = options.auth && new Gate(options.auth);
    this.access = this.gate && new Access(this.gate, agent);
    this.cards = new CardDesk(agent, options, this.gate);
    this.isLenient = options.lenientVersion ?? false;
    this.#options = options;
  }

  /** The texts that all callers of a dialect share. */
  textsOf(dialect: Dialect): Texts {
    let texts = this.#texts.get(dialect);
    if (!texts) this.#texts.set(dialect, (texts = new Texts(dialect)));
    return texts;
  }

  /** Reads where a reader that lost its connection wants to go on. */
  readAfter({ headers }: Exchange, request: { after?: number }): void {
    const last = headerOf(headers, 'last-event-id');
    if (last === undefined) return;
    const after = Number(last);
    if (last.trim() !== '' && Number.isSafeInteger(after) && after >= 0) request.after = after;
  }

  /** Refuses one stream too many. */
  admitStream(): void {
    if (this.#streams.size < (this.#options.maxStreams ?? 50_000)) return;
    throw new A2AError('RESOURCE_EXHAUSTED', 'Too many streams are open; close some, or try again later');
  }

  /** The reply that sends a stream. */
  streamReply(stream: SseStream): Reply {
    this.#streams.add(stream);
    return { status: 200, headers: streamHeaders, body: stream };
  }

  /** A stream is over. */
  streamEnded(stream: SseStream): void {
    this.#streams.delete(stream);
  }

  /** Sends signs of life unless none are wanted, and gives the streams whose readers have not read for too long. */
  beat(now: number): SseStream[] {
    const stalled: SseStream[] = [];
    const { stallTimeout = 60_000, heartbeat } = this.#options;
    for (const stream of this.#streams) {
      if (stream.stalledSince > 0 && now - stream.stalledSince > stallTimeout) stalled.push(stream);
      else if (heartbeat !== 0) stream.beat();
    }
    return stalled;
  }

  /** How many streams are open. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** Ends all streams, each at the end of a frame. */
  endStreams(): void {
    for (const stream of this.#streams) stream.end();
  }

  /** Tells whoever listens of a fault that is ours. */
  report(error: A2AError, exchange: Exchange): void {
    if (error.reason === 'INTERNAL_ERROR' || error.reason === 'INVALID_AGENT_RESPONSE') {
      try {
        this.#options.onError?.(error, exchange);
      } catch {
        // Whoever listens must not be able to keep the caller from its answer.
      }
    }
  }
}
