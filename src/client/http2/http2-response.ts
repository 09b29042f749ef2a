import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { HttpTransportError } from '../http/http-client.ts';
import { joinValues, QueuedResponse } from '../http/queued-response.ts';
import { withCode } from './http2-connector.ts';

/** One exchange over HTTP/2: a stream of a connection. */
export class Http2Response extends QueuedResponse {
  #stream: ClientHttp2Stream | undefined = undefined;
  #trailers: IncomingHttpHeaders = {};

  protected get wasSent(): boolean {
    return this.#stream !== undefined;
  }

  protected pause(): void {
    this.#stream?.pause();
  }

  protected resume(): void {
    if (this.#stream?.isPaused()) this.#stream.resume();
  }

  protected cancel(): void {
    this.#stream?.close(constants.NGHTTP2_CANCEL);
  }

  trailer(name: string): string | undefined {
    return joinValues(this.#trailers[name]);
  }

  /**
   * Reads what a stream receives.
   *
   * @param context - tells of received bytes, and whether the server refuses to process the stream.
   */
  read(
    stream: ClientHttp2Stream,
    context: { onReceived(): void; wasRefused(stream: ClientHttp2Stream): boolean },
  ): void {
    this.#stream = stream;
    stream.on('response', (headers) => {
      context.onReceived();
      this.start(headers[':status'] ?? 0, headers);
    });
    stream.on('data', (chunk: Buffer) => {
      context.onReceived();
      this.push(chunk);
    });
    stream.on('trailers', (trailers) => {
      this.#trailers = trailers;
    });
    stream.once('end', () => {
      // A body that ends with a reset is not complete.
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) this.finish(undefined);
    });
    let failure: Error | undefined;
    stream.on('error', (error) => {
      failure = error;
    });
    stream.once('close', () => {
      if (this.isOver) return;
      const cause = failure ?? withCode('The server closed the stream', `HTTP2_RESET_${stream.rstCode}`);
      this.finish(new HttpTransportError(cause, !context.wasRefused(stream)));
    });
  }
}
