import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
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

const sessionSettings = { enablePush: false, initialWindowSize: 1 << 20, maxHeaderListSize: 64 * 1_024 };

/** Headers that HTTP/2 does not permit. */
const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

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
export class Http2Connection {
  readonly #session: ClientHttp2Session;
  readonly #context: ConnectionContext;
  /** Streams above this id were not processed, because the server is closing the connection. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #streams = 0;
  #lastReceivedAt = 0;
  #cancelPing: (() => void) | undefined;
  #cancelClose: (() => void) | undefined;

  private constructor(session: ClientHttp2Session, context: ConnectionContext) {
    this.#session = session;
    this.#context = context;
    session.on('goaway', (code, lastStreamId) => {
      this.#lastStreamId = lastStreamId;
      if (code === constants.NGHTTP2_ENHANCE_YOUR_CALM) context.onTooManyPings();
      context.onChange();
    });
    session.once('close', () => {
      this.#cancelPing?.();
      this.#cancelClose?.();
      context.onChange();
    });
    this.#becomeUnused();
  }

  /**
   * Starts HTTP/2 on a connected socket. Resolves when the settings of the server have arrived: only then it is known that
   * it speaks HTTP/2.
   */
  static open(socket: Socket, context: ConnectionContext): Promise<Http2Connection> {
    const session = connect(context.origin, {
      createConnection: () => socket,
      settings: sessionSettings,
      // In megabytes: frames that wait, without bodies of streams.
      maxSessionMemory: 64,
    });
    return new Promise((resolve, reject) => {
      const fail = (cause?: Error): void => {
        cancelTimer();
        reject(cause ?? new Error('The server closed the connection'));
        session.destroy();
      };
      const noHttp2 = (): Error => withCode('The server does not speak HTTP/2', noHttp2Code);
      const cancelTimer = context.clock.after(context.responseTimeout, () => fail(noHttp2()));
      const onClose = (): void => fail();
      // Later errors end the streams, which report them.
      session.on('error', (error: NodeJS.ErrnoException) =>
        fail(error.code === 'ERR_HTTP2_ERROR' ? noHttp2() : error),
      );
      session.once('close', onClose);
      session.once('remoteSettings', () => {
        cancelTimer();
        session.off('close', onClose);
        session.setLocalWindowSize(16 << 20);
        resolve(new Http2Connection(session, context));
      });
    });
  }

  get isClosed(): boolean {
    return this.#session.destroyed;
  }

  /** True if another stream can be opened at once. */
  get hasCapacity(): boolean {
    const { closed, destroyed, remoteSettings } = this.#session;
    if (closed || destroyed || this.#lastStreamId !== Number.POSITIVE_INFINITY) return false;
    return this.#streams < Math.min(remoteSettings?.maxConcurrentStreams ?? maxStreams, maxStreams);
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
    const stream = this.openStream(
      { ':method': method, ':path': path, ...toHttp2Headers(headers) },
      body === undefined,
    );
    response.read(stream, this.#reading);
    if (body !== undefined) stream.end(body);
  }

  /** Uses a reserved stream. @throws if its headers are invalid */
  openStream(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    const stream = this.#session.request(headers, { endStream });
    stream.once('close', () => this.release());
    return stream;
  }

  close(): void {
    this.#session.destroy();
  }

  readonly #reading = {
    onReceived: (): void => {
      this.#lastReceivedAt = this.#context.clock.monotonic();
    },
    wasRefused: (stream: ClientHttp2Stream): boolean =>
      stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ||
      stream.id === undefined ||
      stream.id > this.#lastStreamId,
  };

  /** A connection without streams does not keep the process alive. */
  #becomeUnused(): void {
    this.#cancelPing?.();
    if (this.#session.destroyed) return;
    this.#session.unref();
    this.#cancelClose = this.#context.clock.after(maxUnused, () => this.#session.close());
  }

  #becomeUsed(): void {
    this.#cancelClose?.();
    this.#session.ref();
    this.#reading.onReceived();
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
    if (this.#session.destroyed) return;
    this.#cancelPing = clock.after(responseTimeout, () =>
      this.#session.destroy(withCode('The server does not answer', 'HTTP2_PING_TIMEOUT')),
    );
    this.#session.ping(() => {
      if (this.#streams === 0 || this.#session.destroyed) return;
      this.#cancelPing?.();
      this.#reading.onReceived();
      this.#schedulePing(this.#context.pingInterval());
    });
  }
}

function toHttp2Headers(headers: HttpRequest['headers']): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => !connectionHeaders.has(name));
  if (headers.host !== undefined) entries.push([':authority', headers.host]);
  return Object.fromEntries(entries);
}
