import type { Socket } from 'node:net';
import { Http2Error, http2Codes } from '../../http2/http2-error.ts';
import type { HeaderList } from '../../http2/hpack/header-encoder.ts';
import { Http2Session } from '../../http2/http2-session.ts';
import type { Http2Stream, StreamHandler } from '../../http2/http2-stream.ts';
import { connectionHeaders } from '../../http2/message-head.ts';
import type { SessionListener, SessionOptions } from '../../http2/session-receiver.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { HttpRequest } from '../http/http-client.ts';
import { withCode } from './http2-connector.ts';
import type { Http2Response } from './http2-response.ts';

/** The code of errors of servers that do not speak HTTP/2. */
const noHttp2Code = 'HTTP2_NOT_SUPPORTED';

/** Streams per connection at most, even if the server allows more: further calls use another connection. */
const maxStreams = 100;

/** Milliseconds after which a connection without streams is closed. */
const maxUnused = 30_000;

const sessionOptions: SessionOptions = {
  isServer: false,
  initialWindowSize: 1 << 20,
  sessionWindow: 16 << 20,
  maxHeaderListSize: 64 * 1_024,
  maxHeaderFields: 1_000,
};

/** What a connection needs from its pool. */
export interface ConnectionContext {
  readonly origin: string;
  readonly clock: Clock;
  /** Milliseconds that the server has to send its settings or to answer a ping. */
  readonly responseTimeout: number;
  /** Returns the milliseconds without any byte after which the connection is tested; 0 disables the test. */
  pingInterval(): number;
  /** Called if the server complains about pings. */
  onTooManyPings(): void;
  /** Called when a stream ends or the connection closes. */
  onChange(): void;
}

/** One HTTP/2 connection. */
export class Http2Connection implements SessionListener {
  readonly #session: Http2Session;
  readonly #context: ConnectionContext;
  readonly #scheme: string;
  readonly #authority: string;
  #streams = 0;
  #lastReceivedAt = 0;
  #cancelPing: (() => void) | undefined;
  #cancelClose: (() => void) | undefined;
  /** Called when it is known whether the server speaks HTTP/2. */
  #onOpened: ((error?: Error) => void) | undefined;

  private constructor(socket: Socket, context: ConnectionContext, onOpened: (error?: Error) => void) {
    const { protocol, host } = new URL(context.origin);
    this.#scheme = protocol.slice(0, -1);
    this.#authority = host;
    this.#context = context;
    this.#onOpened = onOpened;
    this.#session = new Http2Session(socket, sessionOptions, this);
  }

  /**
   * Starts HTTP/2 on a connected socket. Resolves when the settings of the server have arrived: only then it is known that
   * it speaks HTTP/2.
   */
  static open(socket: Socket, context: ConnectionContext): Promise<Http2Connection> {
    return new Promise((resolve, reject) => {
      const cancelTimer = context.clock.after(context.responseTimeout, () => connection.#opened(noHttp2()));
      const connection = new Http2Connection(socket, context, (error) => {
        cancelTimer();
        if (error) {
          connection.close();
          reject(error);
          return;
        }
        connection.#becomeUnused();
        resolve(connection);
      });
    });
  }

  #opened(error?: Error): void {
    const onOpened = this.#onOpened;
    this.#onOpened = undefined;
    onOpened?.(error);
  }

  settingsReceived(): void {
    this.#opened();
  }

  bytesReceived(): void {
    this.#lastReceivedAt = this.#context.clock.monotonic();
  }

  goawayReceived(code: number): void {
    if (code === http2Codes.enhanceYourCalm) this.#context.onTooManyPings();
    this.#context.onChange();
  }

  streamClosed(): void {
    this.release();
  }

  closed(error: Error | undefined): void {
    this.#opened(
      error instanceof Http2Error ? noHttp2() : (error ?? new Error('The server closed the connection')),
    );
    this.#cancelPing?.();
    this.#cancelClose?.();
    this.#context.onChange();
  }

  get isClosed(): boolean {
    return this.#session.isDestroyed;
  }

  /** True if another stream can be opened at once. */
  get hasCapacity(): boolean {
    const session = this.#session;
    return session.canOpen && this.#streams < Math.min(session.peer.maxConcurrentStreams, maxStreams);
  }

  /** Reserves a stream for a request that follows, or for `release`. */
  reserve(): void {
    this.#streams++;
    if (this.#streams === 1) this.#becomeUsed();
  }

  /** Ends a stream, or returns a reserved one. */
  release(): void {
    if (--this.#streams === 0) this.#becomeUnused();
    this.#context.onChange();
  }

  /** Sends a request on a reserved stream. @throws if its headers are invalid */
  request({ method, path, headers, body }: HttpRequest, response: Http2Response): void {
    const authority = headers.host ?? this.#authority;
    const list = [':method', method, ':scheme', this.#scheme, ':path', path, ':authority', authority];
    for (const name in headers)
      if (name !== 'host' && !connectionHeaders.has(name)) list.push(name, headers[name] as string);
    this.openStream(list, (stream) => {
      stream.end(typeof body === 'string' ? Buffer.from(body) : body);
      return response.read(stream);
    });
  }

  /** Uses a reserved stream. @throws if its headers are invalid */
  openStream(headers: HeaderList, connect: (stream: Http2Stream) => StreamHandler): void {
    const stream = this.#session.open(headers);
    stream.handler = connect(stream);
    stream.read();
  }

  close(): void {
    this.#session.destroy();
  }

  /** A connection without streams does not keep the process alive. */
  #becomeUnused(): void {
    this.#cancelPing?.();
    if (this.#session.isDestroyed) return;
    this.#session.socket.unref();
    this.#cancelClose = this.#context.clock.after(maxUnused, () => this.#session.close());
  }

  #becomeUsed(): void {
    this.#cancelClose?.();
    this.#session.socket.ref();
    this.bytesReceived();
    this.#schedulePing(this.#context.pingInterval());
  }

  /** Uses one timer per connection: when it fires, it checks when the last byte arrived. */
  #schedulePing(delay: number): void {
    if (delay <= 0) return;
    const { clock } = this.#context;
    this.#cancelPing = clock.after(delay, () => {
      const interval = this.#context.pingInterval();
      const remaining = this.#lastReceivedAt + interval - clock.monotonic();
      if (remaining > 0) this.#schedulePing(remaining);
      else this.#ping();
    });
  }

  /** Tests whether the server still answers. */
  #ping(): void {
    const { clock, responseTimeout } = this.#context;
    if (this.#session.isDestroyed) return;
    this.#cancelPing = clock.after(responseTimeout, () =>
      this.#session.destroy(withCode('The server does not answer', 'HTTP2_PING_TIMEOUT')),
    );
    this.#session.ping(() => {
      if (this.#streams === 0 || this.#session.isDestroyed) return;
      this.#cancelPing?.();
      this.#schedulePing(this.#context.pingInterval());
    });
  }
}

function noHttp2(): Error {
  return withCode('The server does not speak HTTP/2', noHttp2Code);
}
