import { frameFlags, frameHead, frameTypes, headerFrames, maxFrameSize } from './frames.ts';
import type { HeaderList } from './hpack/header-encoder.ts';
import { http2Codes } from './http2-error.ts';
import type { MessageHead } from './message-head.ts';
import { ReceiveWindow } from './receive-window.ts';
import { maxWindow } from './session-settings.ts';
import type { SessionOutput } from './session-output.ts';

/** Bytes of a body that are received although the response is complete. */
const maxDiscarded = 16 << 20;

/** Bytes, or text in which each character is a byte. */
export type StreamBytes = string | Uint8Array;

/** Receives what the peer sends on a stream. The body is received once {@link Http2Stream.read} was called. */
export interface StreamHandler {
  /** Called by clients with the headers of the response. @param isEnd - true if nothing follows */
  headReceived?(head: MessageHead, isEnd: boolean): void;
  /** Called with bytes that may share the memory of others. */
  dataReceived(bytes: Buffer): void;
  /** Called when the peer has sent all. @param trailers - headers after the body, if there are any */
  endReceived(trailers: MessageHead | undefined): void;
  /** Called when all that was written has been sent, after `write` has returned false. */
  drained(): void;
  /**
   * Called once, when nothing more is sent or received.
   *
   * @param code - why the stream was reset by one of both sides; 0 if it is complete.
   * @param error - the error of the connection, if it caused the end.
   */
  closed(code: number, error?: Error): void;
}

/** The part of a connection that its streams use. */
export interface StreamSession {
  readonly output: SessionOutput;
  /** Bytes that may be sent on all streams. */
  sendWindow: number;
  encode(list: HeaderList, isReused: boolean): string;
  /** Remembers a stream that can send more when the connection can. */
  waitToSend(stream: Http2Stream): void;
  /** Counts bytes that a stream has consumed. */
  consume(length: number): void;
  /** Tells the peer that it may send more. */
  sendWindowUpdate(streamId: number, increment: number): void;
  sendReset(streamId: number, code: number): void;
  streamClosed(stream: Http2Stream): void;
}

/** One stream of a connection: its state, its windows, and what waits to be sent. */
export class Http2Stream {
  readonly id: number;
  /** Bytes that the peer accepts now. */
  sendWindow: number;
  handler: StreamHandler | undefined = undefined;
  /** True once a client has received the headers of the response. */
  hasHead = false;
  readonly #session: StreamSession;
  readonly #receiveWindow: ReceiveWindow;
  #waiting: StreamBytes[] = [];
  /** Bytes that wait to be sent. */
  waitingBytes = 0;
  #isEnding = false;
  #trailers: HeaderList | undefined = undefined;
  #areTrailersReused = false;
  #mustDrain = false;
  #hasSentEnd = false;
  #hasReceivedEnd = false;
  /** What was received before it is read. */
  #unread: Buffer[] | undefined = undefined;
  #unreadTrailers: MessageHead | undefined = undefined;
  #isRead = false;
  #isDiscarding = false;
  #discardableBytes = maxDiscarded;
  #isPaused = true;
  /** Bytes that were received during the pause. */
  #heldBytes = 0;
  /** Bytes of the body that are missing; -1 if its length was not announced. */
  #missingBytes = -1;
  #isClosed = false;

  constructor(id: number, session: StreamSession, sendWindow: number, receiveWindow: number) {
    this.id = id;
    this.#session = session;
    this.sendWindow = sendWindow;
    this.#receiveWindow = new ReceiveWindow(receiveWindow);
  }

  /** True once nothing more can be sent or received. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Bytes that can be sent if the peer allows no more. */
  get allowedBytes(): number {
    return Math.min(this.sendWindow, this.#session.sendWindow);
  }

  /** True once the peer has sent all. */
  get hasReceivedEnd(): boolean {
    return this.#hasReceivedEnd;
  }

  /** True once `end` was called. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Sends headers. @param isReused - true for a constant, which is encoded once for each connection */
  sendHead(list: HeaderList, isEnd: boolean, isReused = false): void {
    if (this.#isClosed || this.#isEnding) return;
    const block = this.#session.encode(list, isReused);
    this.#session.output.write(headerFrames(this.id, block, isEnd));
    if (!isEnd) return;
    this.#isEnding = true;
    this.#sentEnd();
  }

  /** Sends bytes of the body. @returns false to signal backpressure */
  write(bytes: StreamBytes): boolean {
    if (this.#isClosed || this.#isEnding) return true;
    this.#enqueue(bytes);
    if (this.waitingBytes === 0) return true;
    this.#mustDrain = true;
    return false;
  }

  /** Sends the last bytes and the trailers. @param areReused - true for constant trailers */
  end(bytes?: StreamBytes, trailers?: HeaderList, areReused = false): void {
    if (this.#isClosed || this.#isEnding) return;
    this.#isEnding = true;
    this.#trailers = trailers;
    this.#areTrailersReused = areReused;
    if (bytes !== undefined && bytes.length > 0) this.#enqueue(bytes);
    if (this.waitingBytes === 0) this.#finishSending();
  }

  /** Resets the stream. */
  reset(code: number): void {
    if (this.#isClosed) return;
    this.#session.sendReset(this.id, code);
    this.close(code);
  }

  /** Lets the handler receive the body, with what has arrived already. */
  read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    this.resume();
    const unread = this.#unread;
    this.#unread = undefined;
    for (const bytes of unread ?? []) this.handler?.dataReceived(bytes);
    if (this.#hasReceivedEnd) this.handler?.endReceived(this.#unreadTrailers);
  }

  /**
   * Discards what the peer still sends, up to a limit. A reset at once would be shorter, but makes clients of Node forget
   * to release the memory of their request.
   */
  discard(): void {
    this.#isDiscarding = true;
    this.#unread = undefined;
    this.resume();
  }

  /** Lets the peer send no more than fits into the window. Bytes that were sent already still arrive. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    const held = this.#heldBytes;
    this.#heldBytes = 0;
    if (held > 0) this.#consume(held);
  }

  #enqueue(bytes: StreamBytes): void {
    const session = this.#session;
    const { length } = bytes;
    const mayEnd = this.#isEnding && this.#trailers === undefined;
    // Most writes fit into one frame that can be sent at once.
    if (
      this.waitingBytes === 0 &&
      length <= maxFrameSize &&
      length <= this.sendWindow &&
      length <= session.sendWindow &&
      !session.output.isCongested
    ) {
      this.#sendData(bytes, mayEnd);
      return;
    }
    this.#waiting.push(bytes);
    this.waitingBytes += length;
    this.sendWaiting(Number.POSITIVE_INFINITY);
  }

  /** Sends what waits. @param maxFrames - so that other streams can send, too */
  sendWaiting(maxFrames: number): void {
    const session = this.#session;
    for (let count = 0; this.waitingBytes > 0 && !this.#isClosed; count++) {
      const size = Math.min(maxFrameSize, this.sendWindow, session.sendWindow);
      // The update of the window continues.
      if (this.sendWindow <= 0) return;
      if (size <= 0 || count >= maxFrames || session.output.isCongested) {
        session.waitToSend(this);
        return;
      }
      this.#sendFirst(size);
    }
    if (this.#isClosed) return;
    if (this.#isEnding) this.#finishSending();
    else if (this.#mustDrain) {
      this.#mustDrain = false;
      this.handler?.drained();
    }
  }

  /** Sends at most the given number of the bytes that have waited longest. */
  #sendFirst(size: number): void {
    const first = this.#waiting[0] as StreamBytes;
    let part = first;
    if (first.length <= size) this.#waiting.shift();
    else if (typeof first === 'string') {
      part = first.slice(0, size);
      this.#waiting[0] = first.slice(size);
    } else {
      part = first.subarray(0, size);
      this.#waiting[0] = first.subarray(size);
    }
    this.waitingBytes -= part.length;
    this.#sendData(part, this.waitingBytes === 0 && this.#isEnding && this.#trailers === undefined);
  }

  #sendData(bytes: StreamBytes, isEnd: boolean): void {
    const session = this.#session;
    const { length } = bytes;
    this.sendWindow -= length;
    session.sendWindow -= length;
    const flags = isEnd ? frameFlags.endStream : frameFlags.none;
    const head = frameHead(length, frameTypes.data, flags, this.id);
    if (typeof bytes === 'string') session.output.write(head + bytes);
    else session.output.writeBytes(head, bytes);
    if (isEnd) this.#sentEnd();
  }

  #finishSending(): void {
    if (this.#hasSentEnd || this.#isClosed) return;
    const { output } = this.#session;
    const trailers = this.#trailers;
    if (trailers) {
      const block = this.#session.encode(trailers, this.#areTrailersReused);
      output.write(headerFrames(this.id, block, true));
    } else output.write(frameHead(0, frameTypes.data, frameFlags.endStream, this.id));
    this.#sentEnd();
  }

  #sentEnd(): void {
    this.#hasSentEnd = true;
    if (this.#hasReceivedEnd) this.close(http2Codes.noError);
  }

  /** Changes the send window. @returns false if it becomes too large */
  growSendWindow(increment: number): boolean {
    this.sendWindow += increment;
    if (this.sendWindow > maxWindow) return false;
    if (this.waitingBytes > 0 && this.sendWindow > 0) this.#session.waitToSend(this);
    return true;
  }

  /** Expects a body of the announced length. */
  expectBytes(contentLength: number): void {
    this.#missingBytes = contentLength;
  }

  /**
   * Receives bytes.
   *
   * @param size - bytes that count for the windows, with padding.
   * @returns 0, or the code of the error with which the stream must be reset.
   */
  receiveData(bytes: Buffer, size: number, isEnd: boolean): number {
    if (!this.#receiveWindow.receive(size)) return http2Codes.flowControlError;
    if (this.#missingBytes >= 0) {
      this.#missingBytes -= bytes.length;
      if (this.#missingBytes < 0) return http2Codes.protocolError;
    }
    if (this.#isPaused) this.#heldBytes += size;
    else {
      this.#session.consume(size);
      // A peer that sends nothing more needs no window.
      if (!isEnd) this.#tell(this.#receiveWindow.consume(size));
    }
    if (this.#isDiscarding) {
      this.#discardableBytes -= size;
      // Without an error, this tells the peer to stop sending.
      if (this.#discardableBytes < 0) this.reset(http2Codes.noError);
    } else if (bytes.length > 0) {
      if (this.#isRead) this.handler?.dataReceived(bytes);
      else (this.#unread ??= []).push(bytes);
    }
    return isEnd && !this.#isClosed ? this.receiveEnd(undefined) : 0;
  }

  /** Receives the headers of a response. @returns 0, or the code of an error like {@link receiveData} */
  receiveHead(head: MessageHead, isEnd: boolean): number {
    this.hasHead = true;
    this.#missingBytes = isEnd ? -1 : head.contentLength;
    this.#hasReceivedEnd = isEnd;
    this.handler?.headReceived?.(head, isEnd);
    return isEnd && !this.#isClosed ? this.receiveEnd(undefined) : 0;
  }

  /** Receives the end of the body. @returns 0, or the code of an error like {@link receiveData} */
  receiveEnd(trailers: MessageHead | undefined): number {
    if (this.#missingBytes > 0) return http2Codes.protocolError;
    this.#hasReceivedEnd = true;
    if (this.#isRead && !this.#isDiscarding) this.handler?.endReceived(trailers);
    else this.#unreadTrailers = trailers;
    if (this.#hasSentEnd) this.close(http2Codes.noError);
    return 0;
  }

  #consume(size: number): void {
    this.#session.consume(size);
    if (!this.#isClosed && !this.#hasReceivedEnd) this.#tell(this.#receiveWindow.consume(size));
  }

  #tell(increment: number): void {
    if (increment > 0) this.#session.sendWindowUpdate(this.id, increment);
  }

  /** Closes the stream without telling the peer. */
  close(code: number, error?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isEnding = true;
    this.#waiting = [];
    this.#unread = undefined;
    this.waitingBytes = 0;
    const held = this.#heldBytes;
    this.#heldBytes = 0;
    if (held > 0) this.#session.consume(held);
    this.#session.streamClosed(this);
    this.handler?.closed(code, error);
  }
}
