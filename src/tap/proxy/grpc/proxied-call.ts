import type { Http2Client } from '../../../client/http2/http2-client.ts';
import { writeGrpcStatus } from '../../../dialects/protobuf/grpc-status.ts';
import type { HeaderList } from '../../../http2/hpack/header-encoder.ts';
import { http2CodeName, http2Codes } from '../../../http2/http2-error.ts';
import type { Http2Stream, StreamHandler } from '../../../http2/http2-stream.ts';
import { type HeaderFields, listFields, type MessageHead } from '../../../http2/message-head.ts';
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

/**
 * One call through the tap. Bytes, metadata, deadlines, trailers and resets pass unchanged in both directions, as fast as
 * the receiver reads. Extended cards are rewritten.
 */
export class ProxiedCall implements OpenCall, StreamHandler {
  readonly #context: GrpcProxyContext;
  readonly #connection: GrpcConnection;
  readonly #stream: Http2Stream;
  readonly #head: MessageHead;
  readonly #stallTimeout: number;
  readonly #request: GrpcRequest;
  readonly #method: ReturnType<typeof identifyGrpcMethod>;
  readonly #origin: string;
  readonly #abort = new AbortController();
  #onClosed: () => void = () => {};
  #admitted: AdmittedCall | undefined = undefined;
  #recorder: GrpcCallRecorder | undefined = undefined;
  #upstream: Http2Stream | undefined = undefined;
  #trailers: HeaderFields = {};
  #hasResponded = false;
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
    stream: Http2Stream,
    head: MessageHead,
    stallTimeout: number,
  ) {
    this.#context = context;
    this.#connection = connection;
    this.#stream = stream;
    this.#head = head;
    this.#stallTimeout = stallTimeout;
    this.#request = new GrpcRequest(connection, head);
    this.#method = identifyGrpcMethod(head.path);
    this.#origin = context.grpcOrigin(this.#version);
    stream.handler = this;
  }

  get #version(): GrpcServiceVersion | undefined {
    const version = this.#method?.service.dialect.version;
    return version === undefined || version === '1.0' ? version : '0.3';
  }

  /** Forwards the call. Resolves when it has ended. */
  async forward(client: Http2Client): Promise<void> {
    const closed = new Promise<void>((resolve) => (this.#onClosed = resolve));
    this.#connection.callStarted(this);
    try {
      this.#admitted = this.#context.admitCall(this.#request);
      this.#recorder = this.#createRecorder(this.#admitted);
      await client.openStream(this.#origin, this.#upstreamHeaders(), this.#abort.signal, (upstream) =>
        this.#connect(upstream),
      );
    } catch (thrown) {
      this.#fail(this.#toError(thrown));
    }
    await closed;
    this.#release();
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
  #upstreamHeaders(): HeaderList {
    const { protocol, host } = new URL(this.#origin);
    const { method, path, fields } = this.#head;
    return [
      ':method',
      method,
      ':scheme',
      protocol.slice(0, -1),
      ':path',
      path,
      ':authority',
      host,
      ...listFields(fields).filter((_, at, list) => list[at - (at % 2)] !== 'host'),
    ];
  }

  /** Connects the streams of both sides. @returns the handler of the stream to the agent */
  #connect(upstream: Http2Stream): StreamHandler {
    this.#upstream = upstream;
    // The client may have ended the call in the meantime.
    if (this.#isOver) upstream.reset(http2Codes.cancel);
    else this.#stream.read();
    return {
      headReceived: (head, isEnd) => this.#respond(head, isEnd),
      dataReceived: (bytes) => this.#forwardBytes(bytes, upstream),
      endReceived: (trailers) => {
        this.#trailers = trailers?.fields ?? {};
        this.#finish();
      },
      drained: () => this.#stream.resume(),
      closed: (code, error) => {
        if (error) this.#fail(new A2AError('UNAVAILABLE', 'The agent closed the connection'));
        else this.#reset(code);
      },
    };
  }

  dataReceived(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#recorder?.requestBytes(bytes);
    if (this.#upstream?.write(bytes) === false) this.#stream.pause();
  }

  endReceived(): void {
    this.#upstream?.end();
  }

  drained(): void {
    this.#waitsSince = 0;
    this.#upstream?.resume();
  }

  closed(code: number): void {
    const upstream = this.#upstream;
    if (!this.#isOver) this.#recorder?.interrupted('The client disconnected');
    this.#isOver = true;
    this.#abort.abort();
    if (!upstream?.hasReceivedEnd || !upstream.isEnding)
      upstream?.reset(code === http2Codes.noError ? http2Codes.cancel : code);
    this.#onClosed();
  }

  #respond({ status, fields }: MessageHead, isEnd: boolean): void {
    if (this.#isOver) return;
    this.#recorder?.response(status, fields);
    this.#connection.sent();
    this.#hasResponded = true;
    const headers = [':status', String(status), ...listFields(fields)];
    if (isEnd) {
      this.#isOver = true;
      this.#recorder?.end(fields);
      this.#stream.sendHead(headers, true);
      this.#discardRequest();
      return;
    }
    if (this.#method?.method.operation === 'extendedCard') this.#card = [];
    this.#stream.sendHead(headers, false);
  }

  #forwardBytes(bytes: Buffer, upstream: Http2Stream): void {
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
  #send(bytes: Uint8Array): boolean {
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
      const tap = tapOrigin(this.#head.authority, this.#context.url());
      const { target } = this.#context;
      const rewrite = rewriteCardMessage(this.#method.method.response, bytes, { target, tap });
      this.#send(rewrite?.body ?? bytes);
      if (rewrite) this.#context.onCard(rewrite);
    }
    this.#recorder?.end(this.#trailers);
    this.#endStream();
  }

  #endStream(): void {
    const trailers = listFields(this.#trailers);
    this.#stream.end(undefined, trailers.length > 0 ? trailers : undefined);
    this.#discardRequest();
  }

  /** Discards what the client still sends. It must end the call within the time limit. */
  #discardRequest(): void {
    this.#waitsSince = performance.now();
    this.#stream.discard();
  }

  /** The agent has reset the call: so does the tap. */
  #reset(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#recorder?.interrupted(`The agent reset the call: ${http2CodeName(code)}`);
    this.#stream.reset(code);
  }

  /** Ends the call with an error of the tap. */
  #fail(error: A2AError): void {
    const stream = this.#stream;
    if (this.#isOver || stream.isClosed) return;
    this.#isOver = true;
    const trailers: HeaderFields = { ...writeGrpcStatus(error, this.#version) };
    if (this.#hasResponded) {
      this.#trailers = trailers;
      this.#recorder?.interrupted(error.message);
      this.#endStream();
    } else {
      const headers = { 'content-type': 'application/grpc+proto', ...trailers };
      this.#recorder?.response(200, headers);
      this.#recorder?.end(trailers);
      stream.sendHead([':status', '200', ...listFields(headers)], true);
      this.#discardRequest();
    }
    this.#upstream?.reset(http2Codes.cancel);
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
    if (!this.#stream.hasReceivedEnd && !this.#isOver) this.#stream.reset(http2Codes.cancel);
  }

  check(now: number): void {
    if (this.#waitsSince === 0 || this.#stallTimeout === 0 || now - this.#waitsSince < this.#stallTimeout)
      return;
    if (!this.#isOver) this.#recorder?.interrupted('The client stopped reading and was disconnected');
    this.#isOver = true;
    this.#stream.reset(http2Codes.enhanceYourCalm);
  }

  /** Frees what the call has used. */
  #release(): void {
    this.#admitted?.release();
    this.#connection.callEnded(this);
    this.#request.release();
  }
}
