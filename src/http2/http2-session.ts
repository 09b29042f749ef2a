import type { Socket } from 'node:net';
import { FrameParser } from './frame-parser.ts';
import { clientPreface, frameFlags, frameOf, frameTypes, uint32Text } from './frames.ts';
import type { HeaderList } from './hpack/header-encoder.ts';
import { http2Codes, Http2Error } from './http2-error.ts';
import { Http2Stream } from './http2-stream.ts';
import { type SessionListener, type SessionOptions, SessionReceiver } from './session-receiver.ts';
import { defaultWindow, maxWindow, settingsFrame } from './session-settings.ts';

/** Bytes that wait to be sent above which nothing more is read from the peer, which would cause more. */
const maxUnsent = 1 << 20;

/** Milliseconds in which a peer must read some of the last frames of a connection. */
const closingTime = 500;

/** A connection of HTTP/2 (RFC 9113): the state of both sides. */
export class Http2Session extends SessionReceiver {
  readonly socket: Socket;
  readonly #parser = new FrameParser(this);
  /** Bytes of the preface that have been read. */
  #prefaceAt: number;
  #isDestroyed = false;
  /** True once only the last frames are being sent. */
  #isFailed = false;
  #error: Error | undefined = undefined;
  #closingTimer: NodeJS.Timeout | undefined = undefined;
  /** Bytes that the peer had not read when that was last checked. */
  #unread = 0;

  /** Starts HTTP/2 on a socket whose preface has not been read. */
  constructor(socket: Socket, options: SessionOptions, listener: SessionListener) {
    super(socket, options, listener);
    const { isServer, sessionWindow } = options;
    this.socket = socket;
    this.output.write((isServer ? '' : clientPreface) + settingsFrame(options, isServer));
    if (sessionWindow > defaultWindow) this.sendWindowUpdate(0, sessionWindow - defaultWindow);
    this.#prefaceAt = isServer ? 0 : clientPreface.length;
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('drain', () => this.#drained());
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => (this.#error ??= error));
    socket.on('close', () => this.#closed());
    socket.resume();
  }

  override get isDestroyed(): boolean {
    return this.#isDestroyed || this.#isFailed;
  }

  /** True once no more streams are accepted or can be opened. */
  get isClosing(): boolean {
    return this.hasSentGoaway || this.isDestroyed;
  }

  /** True if the server accepts another stream. */
  get canOpen(): boolean {
    return !this.isClosing && !this.hasReceivedGoaway && this.nextId < maxWindow - 2;
  }

  /** Opens a stream of a client, without a handler. @throws TypeError for invalid headers */
  open(list: HeaderList): Http2Stream {
    const stream = new Http2Stream(
      this.nextId,
      this,
      this.peer.initialWindowSize,
      this.options.initialWindowSize,
    );
    stream.sendHead(list, false);
    this.nextId += 2;
    this.streams.set(stream.id, stream);
    return stream;
  }

  override close(): void {
    if (this.isClosing) return;
    this.hasSentGoaway = true;
    this.#sendGoaway(http2Codes.noError, '');
    if (this.streams.size === 0) this.#finish();
  }

  /** Closes the connection with an error, which it sends to the peer in GOAWAY. */
  fail(code: number, message: string): void {
    if (this.isDestroyed) return;
    this.#isFailed = true;
    this.#sendGoaway(code, message);
    this.#closeStreams(new Http2Error(code, message));
    this.#finish();
  }

  override destroy(error?: Error): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#error ??= error;
    this.output.flush();
    this.socket.destroy();
    this.#closeStreams(this.#error ?? new Error('The connection was closed'));
  }

  /** Tests whether the peer answers. */
  ping(onPong: () => void): void {
    this.onPong = onPong;
    this.output.write(frameOf(frameTypes.ping, frameFlags.none, 0, 'dragoman'));
  }

  override streamClosed(stream: Http2Stream): void {
    super.streamClosed(stream);
    this.listener.streamClosed?.();
    if (this.hasSentGoaway && this.streams.size === 0 && !this.isDestroyed) this.#finish();
  }

  #sendGoaway(code: number, message: string): void {
    const payload = `${uint32Text(this.lastPeerId)}${uint32Text(code)}${message}`;
    this.output.write(frameOf(frameTypes.goaway, frameFlags.none, 0, payload));
  }

  /** Sends the last frames. Reads until the peer ends, too: otherwise it might not receive them. */
  #finish(): void {
    this.#isFailed = true;
    this.output.flush();
    this.socket.end();
    this.socket.resume();
    this.#closingTimer ??= setInterval(() => this.#closeUnlessRead(), closingTime).unref();
  }

  /** Closes the connection of a peer that does not read the last frames. */
  #closeUnlessRead(): void {
    const { writableLength } = this.socket;
    if (writableLength === 0 || writableLength === this.#unread) this.socket.destroy();
    this.#unread = writableLength;
  }

  #closeStreams(error: Error | undefined): void {
    for (const stream of this.streams.values()) stream.close(http2Codes.cancel, error);
  }

  #receive(chunk: Buffer): void {
    if (this.isDestroyed) return;
    this.listener.bytesReceived?.();
    try {
      const rest = this.#prefaceAt < clientPreface.length ? this.#readPreface(chunk) : chunk;
      if (rest.length > 0) this.#parser.push(rest);
    } catch (thrown) {
      if (!(thrown instanceof Http2Error)) throw thrown;
      this.#error ??= thrown;
      this.fail(thrown.http2Code, thrown.message);
    }
    this.sendReady();
    if (this.output.waitingBytes > maxUnsent) this.socket.pause();
  }

  #readPreface(chunk: Buffer): Buffer {
    const count = Math.min(chunk.length, clientPreface.length - this.#prefaceAt);
    const end = this.#prefaceAt + count;
    if (chunk.toString('latin1', 0, count) !== clientPreface.slice(this.#prefaceAt, end))
      throw new Http2Error(http2Codes.protocolError, 'the preface is wrong');
    this.#prefaceAt = end;
    return chunk.subarray(count);
  }

  #drained(): void {
    this.output.isCongested = false;
    this.sendReady();
    if (this.socket.isPaused() && this.output.waitingBytes <= maxUnsent) this.socket.resume();
  }

  #ended(): void {
    if (this.isDestroyed) this.socket.destroySoon();
    else this.listener.endReceived?.();
  }

  #closed(): void {
    clearInterval(this.#closingTimer);
    this.#isDestroyed = true;
    this.#closeStreams(this.#error ?? new Error('The connection was closed'));
    this.listener.closed(this.#error);
  }
}
