import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import type { HttpServerResponse } from '../http/http-message.ts';
import { type TextSink, SseStream } from '../http/sse-stream.ts';
import type { BufferedRequestHandler } from './buffered-handler.ts';
import type { FastPathServer } from './fast-path-server.ts';
import { FastPathRequest } from './fast-path-request.ts';
import { mayStartHttp2 } from './http2-preface.ts';
import type { RequestHead } from './request-head-parser.ts';
import { formatResponseHead } from './response-head.ts';

/** Bytes that are buffered while another request is handled; above it the socket is paused. */
const maxBufferedBytes = 16 * 1_024;

/** Size up to which Node writes a string without allocating a buffer first. */
const maxLatin1Write = 12 * 1_024;

/** Property of a socket with its connection, so that all sockets share their listeners. */
const ownConnection = Symbol('connection');

interface FastPathSocket extends Socket {
  [ownConnection]?: FastPathConnection;
}

/** A connection on the fast path. It is handed off to Node at the first request that does not qualify. */
export class FastPathConnection implements TextSink {
  readonly #server: FastPathServer;
  readonly #socket: FastPathSocket;
  /** The request that is being handled. */
  #request: FastPathRequest | undefined = undefined;
  #handler: BufferedRequestHandler | undefined = undefined;
  #stream: SseStream | undefined = undefined;
  /** Head of a stream, until its first chunk is written. */
  #head = '';
  /** Received bytes of an early or incomplete request. */
  #buffered: Buffer | undefined = undefined;
  /** True while there is backpressure. */
  #isStalled = false;
  /** Time of the connection or of the last response, in milliseconds of the monotonic clock. */
  #since = performance.now();
  #hasAnswered = false;
  /** Called when the last response has been sent. */
  #onSent: (() => void) | undefined = undefined;

  constructor(server: FastPathServer, socket: FastPathSocket) {
    this.#server = server;
    this.#socket = socket;
    socket[ownConnection] = this;
    socket.on('data', onData);
    socket.on('drain', onDrain);
    socket.on('end', onEnd);
    socket.on('close', onClose);
    socket.on('timeout', onTimeout);
    socket.on('error', onError);
  }

  /** True if there is no request, not even a partial one, and nothing to send. */
  get isIdle(): boolean {
    return !this.#request && !this.#buffered && this.#socket.writableLength === 0;
  }

  /** True if a request can be handled. */
  get #isFree(): boolean {
    return !this.#request && !this.#isStalled;
  }

  receive(chunk: Buffer): void {
    const previous = this.#buffered;
    const bytes = previous ? Buffer.concat([previous, chunk]) : chunk;
    if (this.#isFree) {
      this.#buffered = undefined;
      this.#parse(bytes, previous !== undefined);
      return;
    }
    this.#buffered = bytes;
    if (!mayBeRequest(bytes)) this.#socket.destroy();
    else if (bytes.length > maxBufferedBytes) this.#socket.pause();
  }

  /**
   * Handles a complete request and hands everything else off to Node.
   *
   * @param isLate - true for the second part of a request. A client that sends many small parts must not be parsed again
   * and again.
   */
  #parse(bytes: Buffer, isLate: boolean): void {
    const head = this.#server.isEnabled ? this.#server.headParser.parse(bytes) : undefined;
    const handler = head && this.#server.handlerFor(head.target);
    if (!handler || head.end < bytes.length) {
      if (this.#server.http2 && mayStartHttp2(bytes)) this.#buffered = bytes;
      else this.handOffToNode(bytes);
    } else if (head.end > bytes.length) {
      if (isLate) this.handOffToNode(bytes);
      else this.#buffered = bytes;
    } else {
      const body = bytes.subarray(head.bodyAt);
      if (isUtf8(body)) this.#startRequest(handler, head, body.toString('utf8'));
      else this.handOffToNode(bytes);
    }
  }

  #startRequest(handler: BufferedRequestHandler, head: RequestHead, body: string): void {
    const request = new FastPathRequest(head, body, this.#socket);
    this.#request = request;
    this.#handler = handler;
    handler.requestStarted?.();
    // Runs in its own tick, so that `AsyncLocalStorage` of one request does not leak into the next one.
    process.nextTick(handleInNextTick, this, request, handler);
  }

  /** Handles the request, synchronously if possible. */
  handle(request: FastPathRequest, handler: BufferedRequestHandler): void {
    const response = handler.handleBuffered(request);
    if (response instanceof Promise) void response.then((each) => this.#respond(request, handler, each));
    else this.#respond(request, handler, response);
  }

  #respond(request: FastPathRequest, handler: BufferedRequestHandler, response: HttpServerResponse): void {
    const { body } = response;
    const isStream = body instanceof SseStream;
    if (this.#request === request) {
      if (isStream) this.#openStream(response, body, request);
      else this.#send(response, body ?? '');
    } else {
      request.release();
      response.onSent?.();
      if (!isStream) return;
      body.detach();
      handler.streamEnded(body);
    }
  }

  #formatHead({ status, headers }: HttpServerResponse): string {
    this.#since = performance.now();
    return formatResponseHead(status, headers, this.#server.connectionHeaders, Date.now());
  }

  #openStream(response: HttpServerResponse, stream: SseStream, request: FastPathRequest): void {
    request.shrink();
    this.#stream = stream;
    this.#head = `${this.#formatHead(response)}Transfer-Encoding: chunked\r\n\r\n`;
    stream.pipe(this);
  }

  /** Sends a complete response; 204 and 304 have no length. */
  #send(response: HttpServerResponse, body: string): void {
    const { status, length = Buffer.byteLength(body) } = response;
    const head = this.#formatHead(response);
    if (status === 204 || status === 304) this.#write(`${head}\r\n`, '', 0, '');
    else this.#write(`${head}Content-Length: ${length}\r\n\r\n`, body, length, '');
    this.#limitStall(response.onSent);
    this.#finishResponse();
  }

  /** Closes the connection if the client does not read the response. */
  #limitStall(onSent: (() => void) | undefined): void {
    const socket = this.#socket;
    if (!this.#isStalled || socket.destroyed) {
      onSent?.();
      return;
    }
    this.#onSent = onSent;
    // Node restarts this timeout while the client reads.
    if (socket.writableLength > 0) socket.setTimeout(this.#server.settings.stallTimeout);
  }

  /** Called when the client has not read for `stallTimeout`. */
  timedOut(): void {
    this.#server.settings.onStalled();
    this.#socket.destroy();
  }

  #responseSent(): void {
    const onSent = this.#onSent;
    this.#onSent = undefined;
    if (this.#socket.timeout) this.#socket.setTimeout(0);
    onSent?.();
  }

  /**
   * Writes small ASCII text with one call; for large text, concatenation costs more than several writes.
   *
   * @param bytes - length of the body in bytes.
   * @returns false to signal backpressure.
   */
  #write(head: string, body: string, bytes: number, tail: string): boolean {
    const socket = this.#socket;
    // Equal lengths mean ASCII.
    const encoding = bytes === body.length ? 'latin1' : 'utf8';
    let hasCapacity: boolean;
    if (encoding === 'latin1' && bytes < maxLatin1Write)
      hasCapacity = socket.write(head + body + tail, 'latin1');
    else {
      socket.cork();
      socket.write(head, 'latin1');
      hasCapacity = socket.write(body, encoding);
      if (tail !== '') hasCapacity = socket.write(tail, 'latin1');
      socket.uncork();
    }
    if (!hasCapacity) this.#isStalled = true;
    return hasCapacity;
  }

  /** Writes a chunk of a stream. */
  write(text: string): boolean {
    return this.#writeChunk(text, '\r\n');
  }

  #writeChunk(text: string, tail: string): boolean {
    const bytes = Buffer.byteLength(text);
    const head = `${this.#head}${bytes.toString(16)}\r\n`;
    this.#head = '';
    return this.#write(head, text, bytes, tail);
  }

  once(event: 'drain', callback: () => void): void {
    this.#socket.once(event, callback);
  }

  /** Ends the stream. */
  end(last = ''): void {
    if (last === '') this.#writeChunk('', '\r\n');
    else this.#writeChunk(last, '\r\n0\r\n\r\n');
    this.#since = performance.now();
    this.#finishResponse();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Called when the response is written. */
  #finishResponse(): void {
    const request = this.#request;
    this.#clearRequest();
    request?.release();
    this.#hasAnswered = true;
    if (!this.#server.listening) this.#socket.end();
    else if (this.#buffered && !this.#isStalled) this.#parseBuffered();
  }

  /** Processes bytes that were received during the last request. */
  #parseBuffered(): void {
    const buffered = this.#buffered;
    this.#buffered = undefined;
    if (this.#socket.isPaused()) this.#socket.resume();
    // Leaves the async context of the previous request.
    if (buffered) this.#server.asyncResource.runInAsyncScope(() => this.#parse(buffered, false));
  }

  /** Clears the current request. */
  #clearRequest(): void {
    const stream = this.#stream;
    const handler = this.#handler;
    this.#request = undefined;
    this.#handler = undefined;
    this.#stream = undefined;
    if (stream) {
      stream.detach();
      handler?.streamEnded(stream);
    }
    handler?.requestEnded?.();
  }

  /** Called at the end of the backpressure. */
  drained(): void {
    this.#isStalled = false;
    this.#responseSent();
    if (!this.#request && this.#buffered) this.#parseBuffered();
  }

  /** Called when the client ends its side of the connection. */
  ended(): void {
    const socket = this.#socket;
    if (!this.#buffered || !this.#isFree) socket.end();
    else this.#reject('HPE_INVALID_EOF_STATE');
  }

  closed(): void {
    const request = this.#request;
    this.#server.fastPathConnections.delete(this);
    this.#buffered = undefined;
    this.#responseSent();
    request?.disconnected();
    if (request) this.#clearRequest();
  }

  /** True until the first bytes tell whether the connection uses HTTP/2, which Node would not recognize later. */
  get #mayBecomeHttp2(): boolean {
    const buffered = this.#buffered;
    if (!this.#server.http2 || this.#hasAnswered) return false;
    return buffered === undefined || mayStartHttp2(buffered);
  }

  /** Responds to an incomplete request like Node. @param code - of the error of Node */
  #reject(code: string): void {
    const error = Object.assign(new Error('Incomplete request'), { code });
    if (!this.#server.emit('clientError', error, this.#socket)) this.#socket.destroy();
  }

  /** Hands the connection off to Node permanently, including the bytes read so far. */
  handOffToNode(bytes: Buffer | undefined): void {
    const socket = this.#socket;
    this.#server.fastPathConnections.delete(this);
    this.#buffered = undefined;
    delete socket[ownConnection];
    socket.off('data', onData);
    socket.off('drain', onDrain);
    socket.off('end', onEnd);
    socket.off('close', onClose);
    socket.off('timeout', onTimeout);
    socket.off('error', onError);
    socket.pause();
    if (bytes) socket.unshift(bytes);
    this.#server.handOffToNode(socket, bytes);
  }

  /**
   * Checks the timeouts. Node enforces those of incomplete requests after the handoff.
   *
   * @param since - connections that wait for a request since then are handed off to Node.
   * @param idleSince - connections that are idle since then are closed.
   * @param undecidedSince - connections of which it is not known since then whether they use HTTP/2 are closed.
   */
  checkTimeout(since: number, idleSince: number, undecidedSince: number): void {
    if (!this.#hasAnswered || this.#buffered) {
      if (!this.#isFree || this.#since > since) return;
      if (!this.#mayBecomeHttp2) this.handOffToNode(this.#buffered);
      else if (this.#since <= undecidedSince) this.#reject('ERR_HTTP_REQUEST_TIMEOUT');
    } else if (this.isIdle && this.#since < idleSince) this.#socket.destroy();
  }
}

/**
 * Returns true if the bytes may start a request, possibly after an empty line. While a response is being sent, an error
 * response to other bytes is not possible.
 */
function mayBeRequest([first = 0]: Buffer): boolean {
  return (first >= 0x41 && first <= 0x5a) || first === 0x0d || first === 0x0a;
}

function handleInNextTick(
  connection: FastPathConnection,
  request: FastPathRequest,
  handler: BufferedRequestHandler,
): void {
  connection.handle(request, handler);
}

function onData(this: FastPathSocket, chunk: Buffer): void {
  this[ownConnection]?.receive(chunk);
}

function onDrain(this: FastPathSocket): void {
  this[ownConnection]?.drained();
}

function onEnd(this: FastPathSocket): void {
  this[ownConnection]?.ended();
}

function onClose(this: FastPathSocket): void {
  this[ownConnection]?.closed();
}

function onTimeout(this: FastPathSocket): void {
  this[ownConnection]?.timedOut();
}

/** Node closes the socket after an error, which calls `onClose`. */
function onError(): void {}
