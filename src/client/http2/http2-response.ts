import { http2Codes } from '../../http2/http2-error.ts';
import type { Http2Stream, StreamHandler } from '../../http2/http2-stream.ts';
import type { HeaderFields, MessageHead } from '../../http2/message-head.ts';
import { HttpTransportError } from '../http/http-client.ts';
import { joinValues, QueuedResponse } from '../http/queued-response.ts';
import { withCode } from './http2-connector.ts';

/** One exchange over HTTP/2: a stream of a connection. */
export class Http2Response extends QueuedResponse implements StreamHandler {
  #stream: Http2Stream | undefined = undefined;
  #trailers: HeaderFields = {};

  protected get wasSent(): boolean {
    return this.#stream !== undefined;
  }

  protected pause(): void {
    this.#stream?.pause();
  }

  protected resume(): void {
    this.#stream?.resume();
  }

  protected cancel(): void {
    this.#stream?.reset(http2Codes.cancel);
  }

  trailer(name: string): string | undefined {
    return joinValues(this.#trailers[name]);
  }

  /** Becomes the handler of a stream. */
  read(stream: Http2Stream): this {
    this.#stream = stream;
    return this;
  }

  headReceived({ status, fields }: MessageHead): void {
    this.start(status, fields);
  }

  dataReceived(bytes: Buffer): void {
    this.push(bytes);
  }

  endReceived(trailers: MessageHead | undefined): void {
    if (trailers) this.#trailers = trailers.fields;
    this.finish(undefined);
    // The server has answered without the rest of the request.
    if (this.#stream && this.#stream.waitingBytes > 0) this.#stream.reset(http2Codes.cancel);
  }

  drained(): void {}

  closed(code: number, error?: Error): void {
    if (this.isOver) return;
    const cause = error ?? withCode('The server closed the stream', `HTTP2_RESET_${code}`);
    this.finish(new HttpTransportError(cause, code !== http2Codes.refusedStream));
  }
}
