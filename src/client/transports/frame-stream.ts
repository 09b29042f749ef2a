import { A2AError } from '../../protocol/errors.ts';
import type { StreamFrame, FrameStream } from './transport-binding.ts';
import { abortError, type Clock } from '../abortable-sleep.ts';
import { type OutboundRequest, requestStreaming } from '../http/send-request.ts';
import { noResponseError } from '../http/response-errors.ts';
import { HttpTransportError, type HttpResponse } from '../http/http-client.ts';
import type { ClientSettings } from '../connect-options.ts';
import { FrameTooLargeError, type ServerSentEvent, SseParser } from '../../primitives/formats/sse.ts';

/** Turns what comes over the wire into frames. */
export interface FrameDecoder {
  frame(event: ServerSentEvent): StreamFrame;
  /** The answer was no stream: reads what it is, or throws the error that it is. */
  whole(response: HttpResponse, text: string): readonly StreamFrame[];
}

/** Opens a stream. The watchdog runs from here on, so that a peer that never answers is noticed too. */
export async function openFrameStream(
  settings: ClientSettings,
  ask: OutboundRequest,
  reader: FrameDecoder,
  signal: AbortSignal,
): Promise<FrameStream> {
  const life = new Life(settings, signal);
  try {
    const response = await requestStreaming(settings, ask, life.signal);
    if (response.status < 300 && response.header('content-type')?.startsWith('text/event-stream')) {
      return frames(settings, { ask, reader, response, life });
    }
    const text = await response.text(settings.limits.body);
    const whole = reader.whole(response, text);
    life.end();
    return once(whole);
  } catch (thrown) {
    life.end();
    throw life.explain(thrown, ask);
  }
}

async function* once(whole: readonly StreamFrame[]): AsyncGenerator<readonly StreamFrame[]> {
  yield whole;
}

interface Open {
  ask: OutboundRequest;
  reader: FrameDecoder;
  response: HttpResponse;
  life: Life;
}

async function* frames(
  settings: ClientSettings,
  { ask, reader, response, life }: Open,
): AsyncGenerator<readonly StreamFrame[]> {
  let batch: StreamFrame[] = [];
  const parser = new SseParser(
    {
      event: (event) => batch.push(reader.frame(event)),
      retry: (milliseconds) => batch.push({ events: [], id: undefined, retry: milliseconds }),
    },
    settings.limits.frame,
  );
  try {
    for await (const chunk of response.chunks()) {
      life.sign();
      parser.push(chunk);
      if (batch.length === 0) continue;
      const ready = batch;
      batch = [];
      life.hold();
      yield ready;
      life.sign();
    }
  } catch (thrown) {
    // What came before the fault is still good.
    if (batch.length > 0) yield batch;
    throw life.explain(thrown, ask);
  } finally {
    life.end();
  }
}

/** Watches one connection: ends it when the caller leaves or when nothing comes for too long. */
class Life {
  readonly #clock: Clock;
  readonly #idle: number;
  readonly #stop = new AbortController();
  readonly #outer: AbortSignal;
  #last: number;
  #cancelTimer: (() => void) | undefined;
  #silent = false;
  #held = false;

  constructor(settings: ClientSettings, outer: AbortSignal) {
    this.#clock = settings.clock;
    this.#idle = settings.timeouts.idle;
    this.#outer = outer;
    this.#last = this.#clock.now();
    if (outer.aborted) this.#leave();
    outer.addEventListener('abort', this.#leave);
    if (this.#idle > 0) this.#watch(this.#idle);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The reader is busy with what came: nobody listens, so silence means nothing. */
  hold(): void {
    this.#held = true;
  }

  /** The peer lives, or is listened to again. */
  sign(): void {
    this.#held = false;
    this.#last = this.#clock.now();
  }

  end(): void {
    this.#cancelTimer?.();
    this.#outer.removeEventListener('abort', this.#leave);
  }

  explain(thrown: unknown, ask: OutboundRequest): A2AError {
    if (this.#outer.aborted) return abortError(this.#outer);
    if (this.#silent)
      return new A2AError('TIMEOUT', `Nothing came from ${ask.target.origin} for ${this.#idle} ms`, {
        cause: thrown,
        hint: 'Raise `timeouts.idle` if the agent may be silent for longer.',
      });
    if (thrown instanceof FrameTooLargeError)
      return new A2AError(
        'INVALID_AGENT_RESPONSE',
        `An event of the stream is too large: ${thrown.message}`,
        {
          hint: 'Raise `limits.frame` if such events are right.',
        },
      );
    if (thrown instanceof HttpTransportError)
      return noResponseError(thrown, ask.target.origin + ask.target.path);
    return A2AError.from(thrown);
  }

  #leave = (): void => {
    this.#stop.abort(this.#outer.reason);
  };

  /** One timer per stream, not one per chunk: when it rings, it looks at when the last byte came. */
  #watch(milliseconds: number): void {
    this.#cancelTimer = this.#clock.after(milliseconds, () => {
      const left = this.#held ? this.#idle : this.#last + this.#idle - this.#clock.now();
      if (left > 0) {
        this.#watch(left);
        return;
      }
      this.#silent = true;
      this.#stop.abort(new Error('silence'));
    });
  }
}
