import type { Socket } from 'node:net';
import type { FrameSink } from './frame-parser.ts';
import { frameFlags, frameOf, frameTypes } from './frames.ts';
import { HeaderBlocks } from './header-blocks.ts';
import { http2CodeName, http2Codes, Http2Error } from './http2-error.ts';
import { Http2Stream } from './http2-stream.ts';
import type { HeadKind, MessageHead } from './message-head.ts';
import { SessionSender } from './session-sender.ts';
import { type Http2Settings, maxWindow } from './session-settings.ts';

/** What one side of a connection allows the other. */
export interface SessionOptions extends Http2Settings {
  /** True for the side that accepts streams. */
  readonly isServer: boolean;
  /** Bytes of all streams that the peer may send before they are read. */
  readonly sessionWindow: number;
  readonly maxHeaderFields: number;
}

/** Is told what happens on a connection. */
export interface SessionListener {
  /** Called by servers with each request. It sets the handler of the stream, or responds at once. */
  requestReceived?(stream: Http2Stream, head: MessageHead): void;
  /** Called when bytes arrive, before their frames are read. */
  bytesReceived?(): void;
  settingsReceived?(): void;
  pingReceived?(): void;
  /** Called when the peer resets a stream. */
  resetReceived?(): void;
  /** Called for frames that are not wrong, but useless. */
  uselessFrameReceived?(): void;
  /** Called when a stream has ended. */
  streamClosed?(): void;
  /** Called when the peer opens no more streams, or accepts no more. */
  goawayReceived?(code: number): void;
  /** Called when the peer sends nothing more. */
  endReceived?(): void;
  /** Called once. @param error - why the connection was closed, if it was not intended */
  closed(error: Error | undefined): void;
}

/** The receiving side of a connection: checks frames and passes them to their streams. */
export abstract class SessionReceiver extends SessionSender implements FrameSink {
  protected readonly options: SessionOptions;
  protected readonly listener: SessionListener;
  readonly #blocks: HeaderBlocks;
  /** Last stream that the peer has opened. */
  protected lastPeerId = 0;
  /** Next stream of a client. */
  protected nextId = 1;
  /** True once no more streams are accepted. */
  protected hasSentGoaway = false;
  /** True once the peer accepts no more streams. */
  protected hasReceivedGoaway = false;
  /** Called when the peer answers a ping. */
  protected onPong: (() => void) | undefined = undefined;
  #hasSettings = false;

  constructor(socket: Socket, options: SessionOptions, listener: SessionListener) {
    super(socket, options.sessionWindow);
    const { maxHeaderListSize, maxHeaderFields } = options;
    this.options = options;
    this.listener = listener;
    this.#blocks = new HeaderBlocks({ maxBytes: maxHeaderListSize, maxFields: maxHeaderFields });
  }

  abstract get isDestroyed(): boolean;

  /** Accepts no more streams, and closes the connection after the last one. */
  abstract close(): void;

  /** Closes the connection at once. */
  abstract destroy(error?: Error): void;

  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (this.#blocks.isOpen || type === frameTypes.continuation) {
      if (type !== frameTypes.continuation || !this.#blocks.continues(streamId))
        throw protocolError('a header block is not complete');
      const block = this.#blocks.append(payload, (flags & frameFlags.endHeaders) !== 0);
      if (block) this.#receiveBlock(streamId, block, this.#blocks.isEndOfStream);
      return;
    }
    if (!this.#hasSettings && (type !== frameTypes.settings || (flags & frameFlags.ack) !== 0))
      throw protocolError('the settings are missing');
    switch (type) {
      case frameTypes.data:
        this.#receiveData(flags, streamId, payload);
        return;
      case frameTypes.headers:
        this.#receiveHeaders(flags, streamId, payload);
        return;
      case frameTypes.priority:
        if (streamId === 0) throw protocolError('a priority has no stream');
        requireSize(payload, 5);
        return;
      case frameTypes.reset:
        this.#receiveReset(streamId, payload);
        return;
      case frameTypes.settings:
        this.#receiveSettings(flags, streamId, payload);
        return;
      case frameTypes.pushPromise:
        throw protocolError('pushes are not allowed');
      case frameTypes.ping:
        this.#receivePing(flags, streamId, payload);
        return;
      case frameTypes.goaway:
        this.#receiveGoaway(streamId, payload);
        return;
      case frameTypes.windowUpdate:
        this.#receiveWindowUpdate(streamId, payload);
    }
  }

  #receiveHeaders(flags: number, streamId: number, payload: Buffer): void {
    if (streamId === 0) throw protocolError('headers have no stream');
    let block = withoutPadding(flags, payload);
    if ((flags & frameFlags.priority) !== 0) {
      if (block.length < 5) throw new Http2Error(http2Codes.frameSizeError, 'a priority is not complete');
      block = block.subarray(5);
    }
    const isEnd = (flags & frameFlags.endStream) !== 0;
    if ((flags & frameFlags.endHeaders) === 0) this.#blocks.start(streamId, block, isEnd);
    else this.#receiveBlock(streamId, block, isEnd);
  }

  #receiveBlock(streamId: number, block: Buffer, isEnd: boolean): void {
    const stream = this.streams.get(streamId);
    const isOpened = this.options.isServer && !stream && streamId > this.lastPeerId;
    const isAnswer = stream !== undefined && !this.options.isServer && !stream.hasHead;
    const kind = isOpened ? 'request' : isAnswer ? 'response' : 'trailers';
    // Every block must be decoded, because it may change the table.
    const head = this.#blocks.decode(block, kind);
    if (isOpened) this.#receiveRequest(streamId, head, isEnd);
    else if (stream) this.#receiveMore(stream, head, kind, isEnd);
    else if (!this.isIgnored(streamId)) {
      if (!this.options.isServer && streamId < this.nextId && streamId % 2 === 1) this.#useless();
      else throw new Http2Error(http2Codes.streamClosed, 'headers are of no open stream');
    }
  }

  #receiveRequest(streamId: number, head: MessageHead | number, isEnd: boolean): void {
    if (streamId % 2 === 0) throw protocolError('the number of a stream is even');
    this.lastPeerId = streamId;
    const { maxConcurrentStreams = Number.POSITIVE_INFINITY, initialWindowSize } = this.options;
    if (this.hasSentGoaway || this.streams.size >= maxConcurrentStreams) {
      this.#refuse(streamId, http2Codes.refusedStream);
      return;
    }
    if (typeof head === 'number') {
      this.#refuse(streamId, head);
      return;
    }
    const stream = new Http2Stream(streamId, this, this.peer.initialWindowSize, initialWindowSize);
    this.streams.set(streamId, stream);
    if (head.contentLength >= 0) stream.expectBytes(head.contentLength);
    this.listener.requestReceived?.(stream, head);
    if (isEnd && !stream.isClosed) this.#resetIfWrong(stream, stream.receiveEnd(undefined));
  }

  /** Receives the head of a response, or trailers. */
  #receiveMore(stream: Http2Stream, head: MessageHead | number, kind: HeadKind, isEnd: boolean): void {
    if (stream.hasReceivedEnd) this.#resetIfWrong(stream, http2Codes.streamClosed);
    else if (typeof head === 'number') this.#resetIfWrong(stream, head);
    else if (kind === 'trailers')
      this.#resetIfWrong(stream, isEnd ? stream.receiveEnd(head) : http2Codes.protocolError);
    else if (head.status < 200) this.#resetIfWrong(stream, isEnd ? http2Codes.protocolError : 0);
    else this.#resetIfWrong(stream, stream.receiveHead(head, isEnd));
  }

  #receiveData(flags: number, streamId: number, payload: Buffer): void {
    if (streamId === 0) throw protocolError('data have no stream');
    const { length } = payload;
    if (!this.receiveWindow.receive(length))
      throw new Http2Error(http2Codes.flowControlError, 'more data than the window of the connection allows');
    const bytes = withoutPadding(flags, payload);
    const isEnd = (flags & frameFlags.endStream) !== 0;
    if (bytes.length === 0 && !isEnd) this.#useless();
    const stream = this.streams.get(streamId);
    if (!stream) {
      this.consume(length);
      if (this.#isIdle(streamId)) throw protocolError('data are of a stream that was never opened');
      if (!this.isIgnored(streamId)) this.#refuse(streamId, http2Codes.streamClosed);
    } else if (stream.hasReceivedEnd || (!this.options.isServer && !stream.hasHead)) {
      this.consume(length);
      this.#resetIfWrong(stream, stream.hasReceivedEnd ? http2Codes.streamClosed : http2Codes.protocolError);
    } else this.#resetIfWrong(stream, stream.receiveData(bytes, length, isEnd));
  }

  #receiveReset(streamId: number, payload: Buffer): void {
    requireSize(payload, 4);
    if (streamId === 0 || this.#isIdle(streamId)) throw protocolError('a reset is of no stream');
    const stream = this.streams.get(streamId);
    // A reset may cross the end of its stream.
    if (!stream) return;
    this.listener.resetReceived?.();
    stream.close(payload.readUInt32BE(0));
  }

  #receiveSettings(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw protocolError('settings have a stream');
    if ((flags & frameFlags.ack) !== 0) {
      requireSize(payload, 0);
      return;
    }
    const { initialWindowSize, headerTableSize } = this.peer;
    this.peer.update(payload);
    this.#hasSettings = true;
    if (this.peer.headerTableSize !== headerTableSize) this.encoder.setTableSize(this.peer.headerTableSize);
    const change = this.peer.initialWindowSize - initialWindowSize;
    if (change !== 0)
      for (const stream of this.streams.values())
        if (!stream.growSendWindow(change))
          throw new Http2Error(http2Codes.flowControlError, 'a window is too large');
    this.output.write(frameOf(frameTypes.settings, frameFlags.ack, 0, ''));
    this.listener.settingsReceived?.();
  }

  #receivePing(flags: number, streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw protocolError('a ping has a stream');
    requireSize(payload, 8);
    if ((flags & frameFlags.ack) === 0) {
      this.output.write(frameOf(frameTypes.ping, frameFlags.ack, 0, payload.toString('latin1')));
      this.listener.pingReceived?.();
      return;
    }
    const onPong = this.onPong;
    this.onPong = undefined;
    onPong?.();
  }

  #receiveGoaway(streamId: number, payload: Buffer): void {
    if (streamId !== 0) throw protocolError('the end of the connection has a stream');
    if (payload.length < 8)
      throw new Http2Error(http2Codes.frameSizeError, 'the end of the connection is not complete');
    const lastId = payload.readUInt32BE(0) & 0x7f_ff_ff_ff;
    const code = payload.readUInt32BE(4);
    this.hasReceivedGoaway = true;
    if (!this.options.isServer)
      for (const stream of this.streams.values())
        if (stream.id > lastId) stream.close(http2Codes.refusedStream);
    this.listener.goawayReceived?.(code);
    // After an error, the peer closes the connection without an answer to open streams.
    if (code !== http2Codes.noError)
      this.destroy(new Error(`The peer closed the connection: ${http2CodeName(code)}`));
    else if (this.streams.size === 0) this.close();
  }

  #receiveWindowUpdate(streamId: number, payload: Buffer): void {
    requireSize(payload, 4);
    const increment = payload.readUInt32BE(0) & 0x7f_ff_ff_ff;
    const stream = this.streams.get(streamId);
    if (streamId === 0) {
      if (increment === 0) throw protocolError('a window grows by nothing');
      this.sendWindow += increment;
      if (this.sendWindow > maxWindow)
        throw new Http2Error(http2Codes.flowControlError, 'the window is too large');
    } else if (this.#isIdle(streamId)) throw protocolError('a window is of a stream that was never opened');
    // An update may cross the end of its stream.
    else if (!stream) return;
    else if (increment === 0) this.#resetIfWrong(stream, http2Codes.protocolError);
    else if (!stream.growSendWindow(increment)) this.#resetIfWrong(stream, http2Codes.flowControlError);
  }

  /** True for a stream that neither side has opened. */
  #isIdle(streamId: number): boolean {
    const isOwn = streamId % 2 === (this.options.isServer ? 0 : 1);
    return isOwn ? streamId >= (this.options.isServer ? 2 : this.nextId) : streamId > this.lastPeerId;
  }

  #refuse(streamId: number, code: number): void {
    this.sendReset(streamId, code);
    if (code !== http2Codes.refusedStream) this.#useless();
  }

  #resetIfWrong(stream: Http2Stream, code: number): void {
    if (code === 0) return;
    stream.reset(code);
    this.#useless();
  }

  #useless(): void {
    this.listener.uselessFrameReceived?.();
  }
}

function protocolError(problem: string): Http2Error {
  return new Http2Error(http2Codes.protocolError, problem);
}

function requireSize({ length }: Buffer, size: number): void {
  if (length !== size) throw new Http2Error(http2Codes.frameSizeError, 'a frame has a wrong size');
}

function withoutPadding(flags: number, payload: Buffer): Buffer {
  if ((flags & frameFlags.padded) === 0) return payload;
  const padding = payload[0];
  if (padding === undefined || padding >= payload.length) throw protocolError('the padding is too long');
  return payload.subarray(1, payload.length - padding);
}
