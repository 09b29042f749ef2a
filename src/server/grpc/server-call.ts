import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { type GrpcTrailers, okTrailers, writeGrpcStatus } from '../../dialects/protobuf/grpc-status.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { minCountedBytes } from '../limits/byte-budget.ts';
import type { GrpcConnection, OpenCall } from './grpc-connection.ts';
import { GrpcRequest } from './grpc-request.ts';
import { parseGrpcTimeout } from './grpc-timeout.ts';
import { acceptedEncodings } from './message-encoding.ts';

/** Limits of a call. Times are in milliseconds; 0 disables them. */
export interface ServerCallLimits {
  /** Maximum size of a message of the client, in bytes. */
  readonly maxBodyBytes: number;
  /** Time for the message of the client to arrive. */
  readonly requestTimeout: number;
  /** Time after which a call is closed whose client does not read the response. */
  readonly stallTimeout: number;
}

const responseHeaders = {
  ':status': 200,
  'content-type': 'application/grpc+proto',
  'grpc-accept-encoding': acceptedEncodings,
};

/** One call: sends messages and one status, and ends with its deadline. */
export class ServerCall implements OpenCall {
  readonly stream: ServerHttp2Stream;
  readonly request: GrpcRequest;
  readonly limits: ServerCallLimits;
  /** Version whose status codes are sent. */
  version: ProtocolVersion | undefined = undefined;
  /** Called when the call has ended, also if the client has reset it. */
  onEnded: (() => void) | undefined = undefined;
  /** Called instead of {@link fail} when the deadline passes or the server stops. */
  onInterrupted: ((error: A2AError) => void) | undefined = undefined;
  readonly #connection: GrpcConnection;
  #deadline: NodeJS.Timeout | undefined = undefined;
  #status: GrpcTrailers = okTrailers;
  /** True once the headers of the response are sent. */
  #isOpen = false;
  #isEnding = false;
  /** Start of the wait for the client, in milliseconds of the monotonic clock; 0 if the server does not wait for it. */
  #waitsSince = performance.now();

  constructor(
    connection: GrpcConnection,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    limits: ServerCallLimits,
  ) {
    this.stream = stream;
    this.limits = limits;
    this.#connection = connection;
    this.request = new GrpcRequest(connection, headers, headers[':path'] ?? '');
    connection.callStarted(this);
    stream.once('close', () => this.#closed());
    const milliseconds = parseGrpcTimeout(headers['grpc-timeout']);
    if (milliseconds !== undefined)
      this.#deadline = setTimeout(
        () => this.#interruptWith(new A2AError('TIMEOUT', 'The deadline of the client has passed')),
        milliseconds,
      );
  }

  /** True if nothing more can be sent. */
  get isOver(): boolean {
    return this.#isEnding || this.stream.destroyed || this.stream.closed;
  }

  /** Called when the message of the client has arrived. */
  received(): void {
    this.#waitsSince = 0;
  }

  /** Sends the headers of the response. @param metadata - additional headers */
  open(metadata?: { readonly [name: string]: string }): void {
    if (this.#isOpen || this.isOver) return;
    this.#isOpen = true;
    const { stream } = this;
    stream.respond(metadata ? { ...responseHeaders, ...metadata } : responseHeaders, {
      waitForTrailers: true,
    });
    stream.once('wantTrailers', () => stream.sendTrailers({ ...this.#status }));
  }

  /** Sends frames, as text in which each character is a byte. @returns false to signal backpressure */
  write(frames: string): boolean {
    this.#connection.sent();
    return this.stream.write(frames, 'latin1');
  }

  /** Sends the last frames and the status. */
  end(frames?: string, error?: A2AError): void {
    if (this.isOver) return;
    this.#isEnding = true;
    this.#connection.sent();
    if (error) this.#status = writeGrpcStatus(error, this.version);
    const { stream } = this;
    if (frames === undefined) stream.end();
    else stream.end(frames, 'latin1');
    this.#limitStall(frames?.length ?? 0);
  }

  /** Ends the call with an error. */
  fail(error: A2AError): void {
    if (this.isOver) return;
    if (this.#isOpen) {
      this.end(undefined, error);
      return;
    }
    this.#isEnding = true;
    const { stream } = this;
    stream.respond({ ...responseHeaders, ...writeGrpcStatus(error, this.version) }, { endStream: true });
    // Without an error, this tells the client to stop sending.
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  }

  /** Closes the call of a client that does not read. */
  destroy(): void {
    this.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  interrupt(): void {
    this.#interruptWith(new A2AError('UNAVAILABLE', 'The server is stopping'));
  }

  clientEnded(): void {
    // A message that is not complete never will be.
    if (this.#waitsSince > 0 && !this.#isEnding) this.stream.close(constants.NGHTTP2_CANCEL);
  }

  check(now: number): void {
    if (this.#waitsSince === 0) return;
    const { requestTimeout, stallTimeout } = this.limits;
    const timeout = this.#isEnding ? stallTimeout : requestTimeout;
    if (timeout === 0 || now - this.#waitsSince < timeout) return;
    if (this.#isEnding) this.destroy();
    else this.#interruptWith(new A2AError('TIMEOUT', 'The message did not arrive in time'));
  }

  /** The client must read the last bytes within the limit. While it reads a large message, Node restarts the timeout. */
  #limitStall(length: number): void {
    const { stream } = this;
    const { stallTimeout } = this.limits;
    if (length < minCountedBytes) this.#waitsSince = performance.now();
    else if (stallTimeout > 0) stream.setTimeout(stallTimeout, () => this.destroy());
  }

  #interruptWith(error: A2AError): void {
    this.request.disconnected();
    if (this.onInterrupted) this.onInterrupted(error);
    else this.fail(error);
  }

  #closed(): void {
    const { stream } = this;
    clearTimeout(this.#deadline);
    this.#connection.callEnded(this);
    if (stream.rstCode !== 0 || !stream.writableFinished) this.request.disconnected();
    this.onEnded?.();
    this.request.release();
  }
}
