import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import type { SseStream } from '../http/sse-stream.ts';

/** Handles requests whose body is already buffered. */
export interface BufferedRequestHandler {
  /** Handles a request, synchronously if possible. Never rejects. */
  handleBuffered(
    request: HttpServerRequest & { body: string },
  ): Promise<HttpServerResponse> | HttpServerResponse;
  /** Called when a stream has ended. */
  streamEnded(stream: SseStream): void;
  /** Called before a request is handled. */
  requestStarted?(): void;
  /** Called after the response is sent, or after the client has disconnected. */
  requestEnded?(): void;
}
