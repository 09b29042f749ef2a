import { A2AError, canceledError } from '../../protocol/errors.ts';
import type { StreamFrame, FrameStream } from './transport-binding.ts';
import type { Clock } from '../../primitives/clock.ts';
import { type OutboundRequest, requestStreaming } from '../http/send-request.ts';
import { noResponseError } from '../http/response-errors.ts';
import { HttpTransportError, type HttpResponse } from '../http/http-client.ts';
import type { ClientSettings } from '../connect-options.ts';
import { FrameTooLargeError, type ServerSentEvent, SseParser } from '../../primitives/formats/sse.ts';

/** Decodes responses of a stream operation. */
export interface FrameDecoder {
  decodeFrame(event: ServerSentEvent): StreamFrame;
  /** Decodes a response that is not an event stream, or throws the error in it. */
  decodeBuffered(response: HttpResponse, text: string): readonly StreamFrame[];
}

/** Opens a stream. The idle timeout starts with the request, so that a missing response is detected too. */
export async function openFrameStream(
  settings: ClientSettings,
  outbound: OutboundRequest,
  decoder: FrameDecoder,
  signal: AbortSignal,
): Promise<FrameStream> {
  const watchdog = new IdleWatchdog(settings, signal);
  try {
    const response = await requestStreaming(settings, outbound, watchdog.signal);
    if (response.status < 300 && response.header('content-type')?.startsWith('text/event-stream')) {
      return readFrames(settings, { outbound, decoder, response, watchdog });
    }
    const text = await response.text(settings.limits.body);
    const frames = decoder.decodeBuffered(response, text);
    watchdog.stop();
    return once(frames);
  } catch (thrown) {
    watchdog.stop();
    throw watchdog.toError(thrown, outbound);
  }
}

async function* once(frames: readonly StreamFrame[]): AsyncGenerator<readonly StreamFrame[]> {
  yield frames;
}

/** Returns an empty frame for an event that cannot be decoded, and reports a warning. */
export function skipFrame(
  settings: ClientSettings,
  event: ServerSentEvent,
  why: string,
  cause?: unknown,
): StreamFrame {
  const message = `Skipped an invalid stream event: ${why}`;
  settings.warn({
    kind: 'frame',
    message,
    error: new A2AError('INVALID_AGENT_RESPONSE', message, { cause: cause ?? event.data.slice(0, 2000) }),
  });
  return { events: [], id: event.id };
}

interface OpenStream {
  outbound: OutboundRequest;
  decoder: FrameDecoder;
  response: HttpResponse;
  watchdog: IdleWatchdog;
}

async function* readFrames(
  settings: ClientSettings,
  { outbound, decoder, response, watchdog }: OpenStream,
): AsyncGenerator<readonly StreamFrame[]> {
  let batch: StreamFrame[] = [];
  const parser = new SseParser(
    {
      event: (event) => batch.push(decoder.decodeFrame(event)),
      retry: (milliseconds) => batch.push({ events: [], id: undefined, retry: milliseconds }),
    },
    settings.limits.frame,
  );
  try {
    for await (const chunk of response.chunks()) {
      watchdog.reset();
      parser.push(chunk);
      if (batch.length === 0) continue;
      const ready = batch;
      batch = [];
      watchdog.pause();
      yield ready;
      watchdog.reset();
    }
  } catch (thrown) {
    // Frames before the error are valid.
    if (batch.length > 0) yield batch;
    throw watchdog.toError(thrown, outbound);
  } finally {
    watchdog.stop();
  }
}

/** Aborts a connection when the caller aborts or when no byte arrives within the idle timeout. */
class IdleWatchdog {
  readonly #clock: Clock;
  readonly #idleTimeout: number;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  #lastByteAt: number;
  #cancelTimer: (() => void) | undefined;
  #hasTimedOut = false;
  #isPaused = false;

  constructor(settings: ClientSettings, outer: AbortSignal) {
    this.#clock = settings.clock;
    this.#idleTimeout = settings.timeouts.idle;
    this.#outer = outer;
    this.#lastByteAt = this.#clock.now();
    if (outer.aborted) this.#onAbort();
    outer.addEventListener('abort', this.#onAbort);
    if (this.#idleTimeout > 0) this.#schedule(this.#idleTimeout);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Suspends the timeout while the consumer processes frames, because no bytes are read meanwhile. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Restarts the timeout after a byte arrived or the consumer continues. */
  reset(): void {
    this.#isPaused = false;
    this.#lastByteAt = this.#clock.now();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#outer.removeEventListener('abort', this.#onAbort);
  }

  toError(thrown: unknown, outbound: OutboundRequest): A2AError {
    if (this.#outer.aborted) return canceledError(this.#outer);
    if (this.#hasTimedOut)
      return new A2AError('TIMEOUT', `No data from ${outbound.target.origin} for ${this.#idleTimeout} ms`, {
        cause: thrown,
        hint: 'Raise `timeouts.idle` if the agent may be silent for longer.',
      });
    if (thrown instanceof FrameTooLargeError)
      return new A2AError('INVALID_AGENT_RESPONSE', `A stream event is too large: ${thrown.message}`, {
        hint: 'Raise `limits.frame` to accept larger events.',
      });
    if (thrown instanceof HttpTransportError)
      return noResponseError(thrown, outbound.target.origin + outbound.target.path);
    return A2AError.from(thrown);
  }

  #onAbort = (): void => {
    this.#controller.abort(this.#outer.reason);
  };

  /** Uses one timer per stream, not one per chunk: when it fires, it checks when the last byte arrived. */
  #schedule(milliseconds: number): void {
    this.#cancelTimer = this.#clock.after(milliseconds, () => {
      const remaining = this.#isPaused
        ? this.#idleTimeout
        : this.#lastByteAt + this.#idleTimeout - this.#clock.now();
      if (remaining > 0) {
        this.#schedule(remaining);
        return;
      }
      this.#hasTimedOut = true;
      this.#controller.abort(new Error('idle timeout'));
    });
  }
}
