import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import type { HttpServerResponse } from '../http/http-message.ts';
import { type TextSink, SseStream } from '../http/sse-stream.ts';
import type { BufferedRequestHandler } from './buffered-handler.ts';
import type { FastPathServer } from './fast-path-server.ts';
import { FastPathRequest } from './fast-path-request.ts';
import { type RequestHead, parseRequestHead } from './parse-head.ts';
import { formatResponseHead } from './response-head.ts';

/** How many bytes may come while something else is answered. */
const mostHeld = 16 * 1_024;

/** What Node writes without taking memory for it first. */
const largeText = 12 * 1_024;

/** Where a socket keeps its connection, so that all of them share their listeners. */
const ownConnection = Symbol('connection');

interface LaneSocket extends Socket {
  [ownConnection]?: FastPathConnection;
}

/** One connection whose requests are answered here for as long as they are plain. */
export class FastPathConnection implements TextSink {
  readonly #lane: FastPathServer;
  readonly #socket: LaneSocket;
  /** The request that is being answered. */
  #exchange: FastPathRequest | undefined = undefined;
  #answerer: BufferedRequestHandler | undefined = undefined;
  #stream: SseStream | undefined = undefined;
  /** The head of a stream, until its first words go out. */
  #head = '';
  /** What came too early, or is not all there. */
  #held: Buffer | undefined = undefined;
  /** True until the caller has read what was written. */
  #isStalled = false;
  /** When it was last made or answered something, in milliseconds. */
  #since = Date.now();
  #hasAnswered = false;

  constructor(lane: FastPathServer, socket: LaneSocket) {
    this.#lane = lane;
    this.#socket = socket;
    socket[ownConnection] = this;
    socket.on('data', onData);
    socket.on('drain', onDrain);
    socket.on('end', onEnd);
    socket.on('close', onClose);
    socket.on('error', onError);
  }

  /** True while nothing is asked, not even half, and nothing has to be sent. */
  get isIdle(): boolean {
    return !this.#exchange && !this.#held && this.#socket.writableLength === 0;
  }

  /** True while a request can be taken. */
  get #isFree(): boolean {
    return !this.#exchange && !this.#isStalled;
  }

  /** Something came in. */
  receive(chunk: Buffer): void {
    const before = this.#held;
    const bytes = before ? Buffer.concat([before, chunk]) : chunk;
    if (this.#isFree) {
      this.#held = undefined;
      this.#take(bytes, before !== undefined);
      return;
    }
    this.#held = bytes;
    if (!mayBeRequest(bytes)) this.#socket.destroy();
    else if (bytes.length > mostHeld) this.#socket.pause();
  }

  /**
   * Answers what is plain and all there, and leaves everything else to Node.
   *
   * @param isLate - true where it was waited for already: whoever sends in pieces could make us read them for ever.
   */
  #take(bytes: Buffer, isLate: boolean): void {
    const head = this.#lane.isOpen ? parseRequestHead(bytes, this.#lane.limits) : undefined;
    const answerer = head && this.#lane.handlerFor(head.target);
    if (!answerer || head.end < bytes.length) {
      this.handOffToNode(bytes);
    } else if (head.end > bytes.length) {
      if (isLate) this.handOffToNode(bytes);
      else this.#held = bytes;
    } else {
      const body = bytes.subarray(head.bodyAt);
      if (isUtf8(body)) this.#ask(answerer, head, body.toString('utf8'));
      else this.handOffToNode(bytes);
    }
  }

  #ask(answerer: BufferedRequestHandler, head: RequestHead, body: string): void {
    const exchange = new FastPathRequest(head, body, this.#socket);
    this.#exchange = exchange;
    this.#answerer = answerer;
    answerer.requestStarted?.();
    // In a turn of its own, or what an agent keeps for a request (`AsyncLocalStorage`) would be there for the next one.
    process.nextTick(answerLater, this, exchange, answerer);
  }

  /** Has the request answered, at once if that is possible. */
  answer(exchange: FastPathRequest, answerer: BufferedRequestHandler): void {
    const reply = answerer.handleBuffered(exchange);
    if (reply instanceof Promise) void reply.then((each) => this.#deliver(exchange, answerer, each));
    else this.#deliver(exchange, answerer, reply);
  }

  #deliver(exchange: FastPathRequest, answerer: BufferedRequestHandler, reply: HttpServerResponse): void {
    const { body } = reply;
    const isStream = body instanceof SseStream;
    if (this.#exchange === exchange) {
      if (isStream) this.#open(reply, body, exchange);
      else this.#send(reply, body ?? '');
    } else {
      exchange.release();
      if (!isStream) return;
      body.detach();
      answerer.streamEnded(body);
    }
  }

  #headOf({ status, headers }: HttpServerResponse): string {
    this.#since = Date.now();
    return formatResponseHead(status, headers, this.#lane.keeping, this.#since);
  }

  #open(reply: HttpServerResponse, stream: SseStream, exchange: FastPathRequest): void {
    exchange.shrink();
    this.#stream = stream;
    this.#head = `${this.#headOf(reply)}Transfer-Encoding: chunked\r\n\r\n`;
    stream.pipe(this);
  }

  /** Sends a reply that is all there; a 204 and a 304 have no length. */
  #send(reply: HttpServerResponse, body: string): void {
    const { status, length = Buffer.byteLength(body) } = reply;
    const head = this.#headOf(reply);
    if (status === 204 || status === 304) this.#write(`${head}\r\n`, '', 0, '');
    else this.#write(`${head}Content-Length: ${length}\r\n\r\n`, body, length, '');
    this.#done();
  }

  /**
   * Writes in one piece what is small and needs no encoding: putting large texts together costs more than writing twice.
   *
   * @param bytes - how many bytes the body has.
   * @returns false when the reader should catch up first.
   */
  #write(head: string, body: string, bytes: number, tail: string): boolean {
    const socket = this.#socket;
    // Where both lengths are the same there is nothing to encode.
    const encoding = bytes === body.length ? 'latin1' : 'utf8';
    let isRead: boolean;
    if (encoding === 'latin1' && bytes < largeText) isRead = socket.write(head + body + tail, 'latin1');
    else {
      socket.cork();
      socket.write(head, 'latin1');
      isRead = socket.write(body, encoding);
      if (tail !== '') isRead = socket.write(tail, 'latin1');
      socket.uncork();
    }
    if (!isRead) this.#isStalled = true;
    return isRead;
  }

  /** Writes a piece of a stream. */
  write(text: string): boolean {
    return this.#piece(text, '\r\n');
  }

  #piece(text: string, tail: string): boolean {
    const bytes = Buffer.byteLength(text);
    const head = `${this.#head}${bytes.toString(16)}\r\n`;
    this.#head = '';
    return this.#write(head, text, bytes, tail);
  }

  once(event: 'drain', callback: () => void): void {
    this.#socket.once(event, callback);
  }

  /** The stream is over. */
  end(last = ''): void {
    if (last === '') this.#piece('', '\r\n');
    else this.#piece(last, '\r\n0\r\n\r\n');
    this.#since = Date.now();
    this.#done();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** The answer is written. */
  #done(): void {
    const exchange = this.#exchange;
    this.#leave();
    exchange?.release();
    this.#hasAnswered = true;
    if (!this.#lane.listening) this.#socket.end();
    else if (this.#held && !this.#isStalled) this.#next();
  }

  /** Takes what came meanwhile. */
  #next(): void {
    const held = this.#held;
    this.#held = undefined;
    if (this.#socket.isPaused()) this.#socket.resume();
    // This may be a turn of the one that was answered before.
    if (held) this.#lane.own.runInAsyncScope(() => this.#take(held, false));
  }

  /** Nobody is answered any more. */
  #leave(): void {
    const stream = this.#stream;
    const answerer = this.#answerer;
    this.#exchange = undefined;
    this.#answerer = undefined;
    this.#stream = undefined;
    if (stream) {
      stream.detach();
      answerer?.streamEnded(stream);
    }
    answerer?.requestEnded?.();
  }

  /** The caller has read what was written. */
  drained(): void {
    this.#isStalled = false;
    if (!this.#exchange && this.#held) this.#next();
  }

  /** The caller sends nothing more, which is how most of them leave. */
  ended(): void {
    const socket = this.#socket;
    if (!this.#held || !this.#isFree) socket.end();
    else if (!this.#lane.emit('clientError', endedEarly(), socket)) socket.destroy();
  }

  closed(): void {
    const exchange = this.#exchange;
    this.#lane.fastPathConnections.delete(this);
    this.#held = undefined;
    exchange?.gone();
    if (exchange) this.#leave();
  }

  /** Leaves the connection to Node, for good, with what was read of it. */
  handOffToNode(bytes: Buffer | undefined): void {
    const socket = this.#socket;
    this.#lane.fastPathConnections.delete(this);
    this.#held = undefined;
    delete socket[ownConnection];
    socket.off('data', onData);
    socket.off('drain', onDrain);
    socket.off('end', onEnd);
    socket.off('close', onClose);
    socket.off('error', onError);
    socket.pause();
    if (bytes) socket.unshift(bytes);
    this.#lane.handOffToNode(socket);
    socket.resume();
  }

  /**
   * Looks whether it waits for too long. Node has its own limits for what has not become a request.
   *
   * @param since - what has waited for a request since then is left to Node.
   * @param keptSince - what has been idle since then is closed.
   */
  sweep(since: number, keptSince: number): void {
    if (!this.#hasAnswered || this.#held) {
      if (this.#isFree && this.#since <= since) this.handOffToNode(this.#held);
    } else if (this.isIdle && this.#since < keptSince) this.#socket.destroy();
  }
}

/**
 * Where one answer is on its way there is no place for another that says what is wrong. An empty line may stand before a
 * request.
 */
function mayBeRequest([first = 0]: Buffer): boolean {
  return (first >= 0x41 && first <= 0x5a) || first === 0x0d || first === 0x0a;
}

/** A request of which the caller did not send all, in the words of Node. */
function endedEarly(): Error {
  return Object.assign(new Error('The request is not all there'), { code: 'HPE_INVALID_EOF_STATE' });
}

function answerLater(
  connection: FastPathConnection,
  exchange: FastPathRequest,
  answerer: BufferedRequestHandler,
): void {
  connection.answer(exchange, answerer);
}

function onData(this: LaneSocket, chunk: Buffer): void {
  this[ownConnection]?.receive(chunk);
}

function onDrain(this: LaneSocket): void {
  this[ownConnection]?.drained();
}

function onEnd(this: LaneSocket): void {
  this[ownConnection]?.ended();
}

function onClose(this: LaneSocket): void {
  this[ownConnection]?.closed();
}

/** What is broken is closed by Node, and that is heard. */
function onError(): void {}
