import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import { SseStream } from '../http/sse-stream.ts';

/** How the answer to a request ended: all of it was written, it failed, or its reader did not wait for it. */
export type TrafficEnd = 'whole' | 'failed' | 'gone' | 'stalled';

/** Hears what becomes of one request, word for word. */
export interface TrafficListener {
  /** The answer; where its body is a stream, frames and an end follow. */
  replied(reply: HttpServerResponse): void;
  /** One event, as it is written. */
  frame(text: string): void;
  /** Nothing follows. May be told twice, and is not told of answers in one piece that were written. */
  ended(end: TrafficEnd): void;
}

/** Sees each request, its body included, before it is answered. @returns whoever wants to hear the rest. */
export type TrafficObserver = (exchange: HttpServerRequest) => TrafficListener | undefined;

/** Shows one request and its answer to whoever watches, who can do no harm. */
export function observeTraffic(
  watch: TrafficObserver | undefined,
  exchange: HttpServerRequest,
): (reply: HttpServerResponse) => HttpServerResponse {
  if (!watch) return (reply) => reply;
  let listener: TrafficListener | undefined;
  const tell = (work: (hearing: TrafficListener) => void): void => {
    try {
      if (listener) work(listener);
    } catch {
      // Whoever listens must not be able to keep the caller from its answer.
    }
  };
  try {
    listener = watch(exchange);
  } catch {
    return (reply) => reply;
  }
  exchange.onDisconnect(() => tell((hearing) => hearing.ended('gone')));
  return (reply) => {
    tell((hearing) => hearing.replied(reply));
    if (reply.body instanceof SseStream)
      reply.body.wire = {
        frame: (text) => tell((hearing) => hearing.frame(text)),
        ended: (end) => tell((hearing) => hearing.ended(end)),
      };
    return reply;
  };
}
