import type { X509Certificate } from 'node:crypto';
import { constants, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { TokenBucket } from '../limits/token-bucket.ts';
import type { GrpcSettings } from './grpc-options.ts';

/** Pings and settings of a client that nothing sent to it has caused. */
const controlFrames = { perSecond: 1, burst: 100 };

/** Milliseconds in which the last frames of a closed connection may be sent. */
const closingTime = 500;

/** A call that is not complete. */
export interface OpenCall {
  /** Ends the call because the server stops. */
  interrupt(): void;
  /** Called when the client sends nothing more. */
  clientEnded(): void;
  /** Ends the call if its client takes too long. @param now - monotonic time */
  check(now: number): void;
}

/** A connection of HTTP/2: its address, its open calls, its pings and their limits. */
export class GrpcConnection {
  readonly isSecure: boolean;
  readonly remoteAddress: string | undefined;
  readonly localAddress: string | undefined;
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #settings: GrpcSettings;
  readonly #calls = new Set<OpenCall>();
  readonly #controlFrames: TokenBucket;
  /** True if data was sent since the last ping of the client, which measures the connection with it. */
  #hasSent = false;
  /** True if the client sends nothing more. */
  #hasEnded = false;
  #bytesRead = 0;
  /** Time of the last received byte, in milliseconds of the monotonic clock. */
  #readAt: number;
  /** Start of the time without calls. */
  #idleSince: number;
  /** Time of the ping that the client has not answered; 0 if there is none. */
  #pingedAt = 0;

  constructor(session: ServerHttp2Session, socket: Socket, settings: GrpcSettings, now: number) {
    const { encrypted } = socket as Partial<TLSSocket>;
    this.isSecure = encrypted === true;
    this.remoteAddress = socket.remoteAddress;
    this.localAddress = socket.localAddress;
    this.#session = session;
    this.#socket = socket;
    this.#settings = settings;
    this.#readAt = now;
    this.#idleSince = now;
    this.#controlFrames = new TokenBucket(controlFrames, now);
    session.on('error', () => session.destroy());
    socket.once('end', () => this.#ended());
    session.on('ping', () => this.#countControlFrame());
    session.on('remoteSettings', () => this.#countControlFrame());
  }

  /** Verified certificate of the client. */
  get certificate(): X509Certificate | undefined {
    const socket = this.#socket as Partial<TLSSocket>;
    return socket.authorized ? socket.getPeerX509Certificate?.() : undefined;
  }

  callStarted(call: OpenCall): void {
    this.#calls.add(call);
  }

  callEnded(call: OpenCall): void {
    if (!this.#calls.delete(call) || this.#calls.size > 0) return;
    this.#idleSince = performance.now();
    if (this.#hasEnded) this.#session.destroy();
  }

  /** Called when a message is sent. */
  sent(): void {
    this.#hasSent = true;
  }

  /** Checks the calls, pings a silent client, and closes a dead or unused connection. @param now - monotonic time */
  check(now: number): void {
    const { keepAliveInterval, keepAliveTimeout, idleTimeout } = this.#settings;
    const session = this.#session;
    if (session.destroyed) return;
    for (const call of this.#calls) call.check(now);
    const { bytesRead } = this.#socket;
    if (bytesRead !== this.#bytesRead) {
      this.#bytesRead = bytesRead;
      this.#readAt = now;
      this.#pingedAt = 0;
    }
    if (this.#pingedAt > 0) {
      if (now - this.#pingedAt >= keepAliveTimeout) session.destroy();
    } else if (this.#calls.size === 0 && session.closed) {
      if (now - this.#idleSince >= closingTime) session.destroy();
    } else if (this.#calls.size === 0 && idleTimeout > 0 && now - this.#idleSince >= idleTimeout) {
      this.close();
    } else if (keepAliveInterval > 0 && now - this.#readAt >= keepAliveInterval) {
      this.#pingedAt = now;
      session.ping(() => {
        this.#pingedAt = 0;
      });
    }
  }

  /** Clients may not keep the server busy with frames that are no calls. */
  #countControlFrame(): void {
    const isExpected = this.#hasSent;
    this.#hasSent = false;
    const session = this.#session;
    if (isExpected || session.destroyed || this.#controlFrames.take(performance.now()) === 0) return;
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from('too_many_pings'));
    session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** Called when the client sends nothing more. It may still read. */
  #ended(): void {
    this.#hasEnded = true;
    for (const call of this.#calls) call.clientEnded();
    this.close();
    if (this.#calls.size === 0) this.#session.destroy();
  }

  /** Accepts no more calls, and closes the connection after the last one. */
  close(): void {
    if (!this.#session.closed) this.#session.close();
  }

  /** Ends all calls with a status, and closes the connection. */
  interrupt(): void {
    const session = this.#session;
    if (session.destroyed) return;
    for (const call of this.#calls) call.interrupt();
    this.close();
    const timer = setTimeout(() => session.destroy(), closingTime);
    session.once('close', () => clearTimeout(timer));
  }
}
