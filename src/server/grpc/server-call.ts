import { okTrailers, writeGrpcStatus } from '../../dialects/protobuf/grpc-status.ts';
import type { HeaderList } from '../../http2/hpack/header-encoder.ts';
import { http2Codes } from '../../http2/http2-error.ts';
import type { Http2Stream, StreamHandler } from '../../http2/http2-stream.ts';
import { listFields, type MessageHead } from '../../http2/message-head.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
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

/** The part of a stream that a call uses. */
export type CallStream = Pick<
  Http2Stream,
  | 'handler'
  | 'isClosed'
  | 'waitingBytes'
  | 'allowedBytes'
  | 'sendHead'
  | 'write'
  | 'end'
  | 'reset'
  | 'read'
  | 'discard'
  | 'pause'
  | 'resume'
>;

/** Receives the messages of the client. */
export interface CallReader {
  dataReceived(bytes: Buffer): void;
  /** Called when the client has sent all. */
  endReceived(): void;
  /** Called when the client has reset the call before. */
  closed(): void;
}

const responseHeaders = listFields({
  ':status': '200',
  'content-type': 'application/grpc+proto',
  'grpc-accept-encoding': acceptedEncodings,
});

const okStatus = listFields({ ...okTrailers });

/** One call: sends messages and one status, and ends with its deadline. */
export class ServerCall implements OpenCall, StreamHandler {
  readonly stream: CallStream;
  readonly request: GrpcRequest;
  readonly limits: ServerCallLimits;
  /** Version whose status codes are sent. */
  version: ProtocolVersion | undefined = undefined;
  /** Called when the call has ended, also if the client has reset it. */
  onEnded: (() => void) | undefined = undefined;
  /** Called instead of {@link fail} when the deadline passes or the server stops. */
  onInterrupted: ((error: A2AError) => void) | undefined = undefined;
  /** Called when the call is closed because its client does not read the response. */
  onStalled: (() => void) | undefined = undefined;
  /** Called once at the end of the backpressure. */
  onDrained: (() => void) | undefined = undefined;
  readonly #connection: GrpcConnection;
  #reader: CallReader | undefined = undefined;
  #deadline: NodeJS.Timeout | undefined = undefined;
  /** True once the headers of the response are sent. */
  #isOpen = false;
  #isEnding = false;
  /** Start of the wait for the client, in milliseconds of the monotonic clock; 0 if the server does not wait for it. */
  #waitsSince = performance.now();
  /** Bytes that the client had not read at the last check. */
  #waitingBytes = 0;

  constructor(connection: GrpcConnection, stream: CallStream, head: MessageHead, limits: ServerCallLimits) {
    this.stream = stream;
    this.limits = limits;
    this.#connection = connection;
    this.request = new GrpcRequest(connection, head);
    stream.handler = this;
    connection.callStarted(this);
    const milliseconds = parseGrpcTimeout(head.fields['grpc-timeout']);
    if (milliseconds !== undefined)
      this.#deadline = setTimeout(
        () => this.#interruptWith(new A2AError('TIMEOUT', 'The deadline of the client has passed')),
        milliseconds,
      );
  }

  /** True if nothing more can be sent. */
  get isOver(): boolean {
    return this.#isEnding || this.stream.isClosed;
  }

  /** Reads the messages of the client, with what has arrived already. */
  read(reader: CallReader): void {
    this.#reader = reader;
    this.stream.read();
  }

  dataReceived(bytes: Buffer): void {
    this.#reader?.dataReceived(bytes);
  }

  endReceived(): void {
    this.#reader?.endReceived();
  }

  drained(): void {
    const onDrained = this.onDrained;
    this.onDrained = undefined;
    onDrained?.();
  }

  /** Called when the message of the client has arrived. */
  received(): void {
    this.#waitsSince = 0;
  }

  /** Sends the headers of the response. @param metadata - additional headers */
  open(metadata?: HeaderList): void {
    if (this.#isOpen || this.isOver) return;
    if (metadata) this.stream.sendHead([...responseHeaders, ...metadata], false);
    else this.stream.sendHead(responseHeaders, false, true);
    this.#isOpen = true;
  }

  /** Sends frames, as text in which each character is a byte. @returns false to signal backpressure */
  write(frames: string): boolean {
    this.#connection.sent();
    return this.stream.write(frames);
  }

  /** Sends the last frames and the status. */
  end(frames?: string, error?: A2AError): void {
    if (this.isOver) return;
    this.#isEnding = true;
    this.#connection.sent();
    this.#waitsSince = performance.now();
    const { stream } = this;
    if (error) stream.end(frames, this.#statusOf(error));
    else stream.end(frames, okStatus, true);
    this.#waitingBytes = stream.waitingBytes;
  }

  /** Ends the call with an error. */
  fail(error: A2AError): void {
    if (this.isOver) return;
    if (this.#isOpen) {
      this.end(undefined, error);
      return;
    }
    this.#isEnding = true;
    this.#waitsSince = performance.now();
    const { stream } = this;
    stream.sendHead([...responseHeaders, ...this.#statusOf(error)], true);
    stream.discard();
  }

  /** Closes the call of a client that does not read. */
  destroy(): void {
    this.stream.reset(http2Codes.enhanceYourCalm);
  }

  interrupt(): void {
    this.#interruptWith(new A2AError('UNAVAILABLE', 'The server is stopping'));
  }

  clientEnded(): void {
    // A message that is not complete never will be, and a response above the window of the client cannot be sent.
    const { stream } = this;
    const isIncomplete = this.#waitsSince > 0 && !this.#isEnding;
    if (isIncomplete || stream.waitingBytes > stream.allowedBytes) stream.reset(http2Codes.cancel);
  }

  check(now: number): void {
    if (this.#waitsSince === 0) return;
    const { waitingBytes } = this.stream;
    if (waitingBytes < this.#waitingBytes) {
      // The client reads.
      this.#waitingBytes = waitingBytes;
      this.#waitsSince = now;
      return;
    }
    const { requestTimeout, stallTimeout } = this.limits;
    const timeout = this.#isEnding ? stallTimeout : requestTimeout;
    if (timeout === 0 || now - this.#waitsSince < timeout) return;
    if (this.#isEnding && waitingBytes === 0) this.stream.reset(http2Codes.noError);
    else if (this.#isEnding) {
      this.onStalled?.();
      this.destroy();
    } else this.#interruptWith(new A2AError('TIMEOUT', 'The message did not arrive in time'));
  }

  #statusOf(error: A2AError): HeaderList {
    return listFields({ ...writeGrpcStatus(error, this.version) });
  }

  #interruptWith(error: A2AError): void {
    this.request.disconnected();
    if (this.onInterrupted) this.onInterrupted(error);
    else this.fail(error);
  }

  closed(code: number): void {
    const { request } = this;
    clearTimeout(this.#deadline);
    this.#connection.callEnded(this);
    if (code !== http2Codes.noError || !this.#isEnding) request.disconnected();
    this.#reader?.closed();
    this.onEnded?.();
    request.release();
  }
}
