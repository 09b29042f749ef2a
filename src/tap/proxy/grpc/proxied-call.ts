import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Http2Client } from '../../../client/http2/http2-client.ts';
import { type GrpcTrailers, writeGrpcStatus } from '../../../dialects/protobuf/grpc-status.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { GrpcConnection, OpenCall } from '../../../server/grpc/grpc-connection.ts';
import { GrpcRequest } from '../../../server/grpc/grpc-request.ts';
import type { HttpServerRequest } from '../../../server/http/http-message.ts';
import type { AdmittedCall } from '../../../server/node/exchange-limits.ts';
import { identifyGrpcMethod } from '../../decode/identify-operation.ts';
import { clientName } from '../../participants.ts';
import { GrpcCallRecorder } from '../../recorders/grpc-call-recorder.ts';
import type { TrafficRecorder } from '../../recorders/traffic-recorder.ts';
import { describeConnectionError } from '../describe-connection-error.ts';
import { type CardRewrite, maxCardBytes } from '../rewrite-card.ts';
import { tapOrigin } from '../tap-origin.ts';
import { rewriteCardMessage } from './rewrite-card-message.ts';
import type { GrpcServiceVersion } from './rewrite-grpc-address.ts';

/** Collaborators shared by all proxied calls. */
export interface GrpcProxyContext {
  readonly target: URL;
  readonly recorder: TrafficRecorder;
  /** Name of the target in the traffic log. */
  readonly name: () => string;
  /** URL of the tap, for calls without a valid authority. */
  readonly url: () => string;
  /** Returns the origin of the gRPC server for a service; undefined for other services. */
  readonly grpcOrigin: (version: GrpcServiceVersion | undefined) => string;
  /** @throws {@link A2AError} if the call is not allowed. */
  readonly admitCall: (request: HttpServerRequest) => AdmittedCall;
  /** Called with each card that passes the tap. */
  readonly onCard: (rewrite: CardRewrite) => void;
}

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_FLAG_END_STREAM, NGHTTP2_NO_ERROR } = constants;

/**
 * One call through the tap. Bytes, metadata, deadlines, trailers and resets pass unchanged in both directions, as fast as
 * the receiver reads. Extended cards are rewritten.
 */
export class ProxiedCall implements OpenCall {
  readonly #context: GrpcProxyContext;
  readonly #connection: GrpcConnection;
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #stallTimeout: number;
  readonly #request: GrpcRequest;
  readonly #method: ReturnType<typeof identifyGrpcMethod>;
  readonly #origin: string;
  #admitted: AdmittedCall | undefined = undefined;
  #recorder: GrpcCallRecorder | undefined = undefined;
  #upstream: ClientHttp2Stream | undefined = undefined;
  #trailers: IncomingHttpHeaders | GrpcTrailers = {};
  /** The frame of an extended card; undefined for other responses. */
  #card: Buffer[] | undefined = undefined;
  #cardLength = 0;
  /** Start of the wait for the client to read, in milliseconds of the monotonic clock; 0 if the tap does not wait. */
  #waitsSince = 0;
  /** True once the outcome of the call is determined. */
  #isOver = false;

  constructor(
    context: GrpcProxyContext,
    connection: GrpcConnection,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    stallTimeout: number,
  ) {
    const path = headers[':path'] ?? '/';
    this.#context = context;
    this.#connection = connection;
    this.#stream = stream;
    this.#headers = headers;
    this.#stallTimeout = stallTimeout;
    this.#request = new GrpcRequest(connection, headers, path);
    this.#method = identifyGrpcMethod(path);
    this.#origin = context.grpcOrigin(this.#version);
  }

  get #version(): GrpcServiceVersion | undefined {
    const version = this.#method?.service.dialect.version;
    return version === undefined || version === '1.0' ? version : '0.3';
  }

  /** Forwards the call. Resolves when it has ended. */
  async forward(client: Http2Client): Promise<void> {
    const stream = this.#stream;
    const abort = new AbortController();
    const closed = new Promise<void>((resolve) => {
      stream.once('close', () => {
        abort.abort();
        resolve();
      });
    });
    this.#connection.callStarted(this);
    try {
      this.#admitted = this.#context.admitCall(this.#request);
      this.#recorder = this.#createRecorder(this.#admitted);
      const upstream = await client.openStream(this.#origin, this.#upstreamHeaders(), abort.signal);
      this.#connect(upstream);
    } catch (thrown) {
      this.#fail(this.#toError(thrown));
    }
    await closed;
    this.#closed();
  }

  #createRecorder({ reservations }: AdmittedCall): GrpcCallRecorder {
    const { recorder, name } = this.#context;
    const { method, path, headers } = this.#request;
    return new GrpcCallRecorder(recorder, {
      participants: { from: clientName(undefined, String(headers['user-agent'] ?? '')), to: name },
      head: { method, url: this.#origin + path, headers },
      path,
      reservations,
    });
  }

  /** Returns the headers with the authority of the agent. Their deadline passes, too. */
  #upstreamHeaders(): IncomingHttpHeaders {
    const { protocol, host } = new URL(this.#origin);
    const headers = { ...this.#headers, ':scheme': protocol.slice(0, -1), ':authority': host };
    delete headers.host;
    return headers;
  }

  #connect(upstream: ClientHttp2Stream): void {
    const stream = this.#stream;
    this.#upstream = upstream;
    let failure: Error | undefined;
    upstream.on('error', (error) => (failure = error));
    if (stream.destroyed || stream.closed || this.#isOver) {
      upstream.close(NGHTTP2_CANCEL);
      return;
    }
    upstream.on('response', (headers, flags) =>
      this.#respond(headers, (flags & NGHTTP2_FLAG_END_STREAM) !== 0),
    );
    upstream.on('data', (bytes: Buffer) => this.#forwardBytes(bytes, upstream));
    upstream.on('trailers', (trailers) => (this.#trailers = trailers));
    // A body that ends with a reset is not complete.
    upstream.once('end', () => upstream.rstCode === NGHTTP2_NO_ERROR && this.#finish());
    // A stream that is closed has no session.
    const { session } = upstream;
    upstream.once('close', () => {
      if (session?.destroyed) this.#fail(new A2AError('UNAVAILABLE', 'The agent closed the connection'));
      else this.#reset(upstream.rstCode, failure);
    });
    stream.on('drain', () => {
      this.#waitsSince = 0;
      upstream.resume();
    });
    stream.on('data', (bytes: Buffer) => this.#recorder?.requestBytes(bytes));
    stream.pipe(upstream);
  }

  #respond(headers: IncomingHttpHeaders, isEnd: boolean): void {
    const stream = this.#stream;
    if (this.#isOver || stream.destroyed || stream.closed) return;
    const status = Number(headers[':status'] ?? 200);
    this.#recorder?.response(status, headers);
    this.#connection.sent();
    if (isEnd) {
      this.#isOver = true;
      this.#recorder?.end(headers);
      stream.respond(headers, { endStream: true });
      this.#discardRequest();
      return;
    }
    if (this.#method?.method.operation === 'extendedCard') this.#card = [];
    stream.respond(headers, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ ...this.#trailers }));
  }

  #forwardBytes(bytes: Buffer, upstream: ClientHttp2Stream): void {
    if (this.#isOver) return;
    if (this.#card) {
      this.#cardLength += bytes.length;
      if (this.#cardLength > maxCardBytes || !this.#admitted?.reservations[1].grow(bytes.length))
        this.#fail(new A2AError('UNAVAILABLE', `The card has more than ${maxCardBytes} bytes`));
      else this.#card.push(bytes);
    } else if (!this.#send(bytes)) {
      upstream.pause();
      this.#waitsSince = performance.now();
    }
  }

  /** Sends bytes to the client. @returns false to signal backpressure */
  #send(bytes: Buffer): boolean {
    this.#recorder?.responseBytes(bytes);
    this.#connection.sent();
    return this.#stream.write(bytes);
  }

  /** The agent has sent all. */
  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#card && this.#method) {
      const bytes = Buffer.concat(this.#card);
      const tap = tapOrigin(this.#headers[':authority'], this.#context.url());
      const { target } = this.#context;
      const rewrite = rewriteCardMessage(this.#method.method.response, bytes, { target, tap });
      this.#send(rewrite?.body ?? bytes);
      if (rewrite) this.#context.onCard(rewrite);
    }
    this.#recorder?.end(this.#trailers as IncomingHttpHeaders);
    this.#endStream();
  }

  #endStream(): void {
    this.#stream.end();
    this.#discardRequest();
  }

  /** Discards what the client still sends. It must end the call within the time limit. */
  #discardRequest(): void {
    this.#waitsSince = performance.now();
    this.#stream.unpipe();
    this.#stream.resume();
  }

  /** The agent has reset the call: so does the tap. */
  #reset(code: number, failure: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#recorder?.interrupted(`The agent reset the call: ${failure?.message ?? `code ${code}`}`);
    this.#stream.close(code);
  }

  /** Ends the call with an error of the tap. */
  #fail(error: A2AError): void {
    const stream = this.#stream;
    if (this.#isOver || stream.destroyed || stream.closed) return;
    this.#isOver = true;
    const trailers = writeGrpcStatus(error, this.#version);
    const headers = { ':status': 200, 'content-type': 'application/grpc+proto', ...trailers };
    if (stream.headersSent) {
      this.#trailers = trailers;
      this.#recorder?.interrupted(error.message);
      this.#endStream();
    } else {
      this.#recorder?.response(200, { ...headers, ':status': '200' });
      this.#recorder?.end({ ...trailers });
      stream.respond(headers, { endStream: true });
      this.#discardRequest();
    }
    this.#upstream?.close(NGHTTP2_CANCEL);
  }

  #toError(thrown: unknown): A2AError {
    if (thrown instanceof A2AError) return thrown;
    const reason = describeConnectionError(thrown as NodeJS.ErrnoException);
    return new A2AError('UNAVAILABLE', `The tap cannot reach ${this.#origin}: ${reason}`);
  }

  interrupt(): void {
    this.#fail(new A2AError('UNAVAILABLE', 'The tap is stopping'));
  }

  clientEnded(): void {
    if (!this.#stream.readableEnded && !this.#isOver) this.#stream.close(NGHTTP2_CANCEL);
  }

  check(now: number): void {
    if (this.#waitsSince === 0 || this.#stallTimeout === 0 || now - this.#waitsSince < this.#stallTimeout)
      return;
    if (!this.#isOver) this.#recorder?.interrupted('The client stopped reading and was disconnected');
    this.#isOver = true;
    this.#stream.close(NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** The client has received all, or has reset the call. */
  #closed(): void {
    const upstream = this.#upstream;
    if (!this.#isOver) this.#recorder?.interrupted('The client disconnected');
    this.#isOver = true;
    if (upstream && !upstream.closed) upstream.close(this.#stream.rstCode || NGHTTP2_CANCEL);
    this.#admitted?.release();
    this.#connection.callEnded(this);
    this.#request.release();
  }
}
