import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import type { SseStream } from '../http/sse-stream.ts';

/** Answers requests, however they were received. */
export interface BufferedRequestHandler {
  /** Answers one request that came with its body, at once if it can. Never rejects. */
  handleBuffered(
    exchange: HttpServerRequest & { body: string },
  ): Promise<HttpServerResponse> | HttpServerResponse;
  /** A stream that it opened is over. */
  streamEnded(stream: SseStream): void;
  /** Hears that a request is there, before it is answered. */
  requestStarted?(): void;
  /** Hears that it is answered, or that its caller is gone. */
  requestEnded?(): void;
}
