import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { http2Codes } from '../../http2/http2-error.ts';
import { Http2Session } from '../../http2/http2-session.ts';
import type { Http2Stream } from '../../http2/http2-stream.ts';
import type { MessageHead } from '../../http2/message-head.ts';
import type { SessionListener, SessionOptions } from '../../http2/session-receiver.ts';
import { TokenBucket } from '../limits/token-bucket.ts';
import type { GrpcSettings } from './grpc-options.ts';

/** Pings and settings of a client that nothing sent to it has caused. */
const controlFrames = { perSecond: 1, burst: 100 };

/** Calls that a client may reset, and frames that have no effect. */
const resets = { perSecond: 33, burst: 1_000 };
const uselessFrames = { perSecond: 10, burst: 100 };

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

/** The server of a connection. */
export interface ConnectionOwner {
  readonly settings: GrpcSettings;
  readonly sessionOptions: SessionOptions;
  /** Called with each request, in a tick of its own. */
  requestReceived(connection: GrpcConnection, stream: Http2Stream, head: MessageHead): void;
  connectionClosed(connection: GrpcConnection): void;
}

/** A connection of HTTP/2: its address, its open calls, its pings and their limits. */
export class GrpcConnection implements SessionListener {
  readonly isSecure: boolean;
  readonly remoteAddress: string | undefined;
  readonly localAddress: string | undefined;
  readonly #session: Http2Session;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #calls = new Set<OpenCall>();
  readonly #controlFrames: TokenBucket;
  readonly #resets: TokenBucket;
  readonly #uselessFrames: TokenBucket;
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

  constructor(socket: Socket, owner: ConnectionOwner, now: number) {
    const { encrypted } = socket as Partial<TLSSocket>;
    this.isSecure = encrypted === true;
    this.remoteAddress = socket.remoteAddress;
    this.localAddress = socket.localAddress;
    this.#socket = socket;
    this.#owner = owner;
    this.#readAt = now;
    this.#idleSince = now;
    this.#controlFrames = new TokenBucket(controlFrames, now);
    this.#resets = new TokenBucket(resets, now);
    this.#uselessFrames = new TokenBucket(uselessFrames, now);
    this.#session = new Http2Session(socket, owner.sessionOptions, this);
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
    if (this.#hasEnded) this.#session.close();
  }

  /** Called when a message is sent. */
  sent(): void {
    this.#hasSent = true;
  }

  /** Checks the calls, pings a silent client, and closes a dead or unused connection. @param now - monotonic time */
  check(now: number): void {
    const { keepAliveInterval, keepAliveTimeout, idleTimeout } = this.#owner.settings;
    const session = this.#session;
    if (session.isDestroyed) return;
    for (const call of this.#calls) call.check(now);
    const { bytesRead } = this.#socket;
    if (bytesRead !== this.#bytesRead) {
      this.#bytesRead = bytesRead;
      this.#readAt = now;
      this.#pingedAt = 0;
    }
    if (this.#pingedAt > 0) {
      if (now - this.#pingedAt >= keepAliveTimeout) session.destroy();
    } else if (this.#calls.size === 0 && session.isClosing) {
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

  requestReceived(stream: Http2Stream, head: MessageHead): void {
    // Runs in its own tick, so that `AsyncLocalStorage` of one call does not leak into the next one.
    process.nextTick(startCall, this.#owner, this, stream, head);
  }

  pingReceived(): void {
    this.#countControlFrame();
  }

  settingsReceived(): void {
    this.#countControlFrame();
  }

  resetReceived(): void {
    if (this.#resets.take(performance.now()) > 0) this.#calm('too many resets');
  }

  uselessFrameReceived(): void {
    if (this.#uselessFrames.take(performance.now()) > 0) this.#calm('too many frames without effect');
  }

  /** Clients may not keep the server busy with frames that are no calls. */
  #countControlFrame(): void {
    const isExpected = this.#hasSent;
    this.#hasSent = false;
    if (!isExpected && this.#controlFrames.take(performance.now()) > 0) this.#calm('too_many_pings');
  }

  #calm(reason: string): void {
    this.#session.fail(http2Codes.enhanceYourCalm, reason);
  }

  /** Called when the client sends nothing more. It may still read. */
  endReceived(): void {
    this.#hasEnded = true;
    for (const call of this.#calls) call.clientEnded();
    this.close();
  }

  closed(): void {
    this.#owner.connectionClosed(this);
  }

  /** Accepts no more calls, and closes the connection after the last one. */
  close(): void {
    this.#session.close();
  }

  /** Closes the connection at once, without a status for its calls. */
  destroy(): void {
    this.#session.destroy();
  }

  /** Ends all calls with a status, and closes the connection. */
  interrupt(): void {
    const session = this.#session;
    if (session.isDestroyed) return;
    for (const call of this.#calls) call.interrupt();
    session.close();
    const timer = setTimeout(() => session.destroy(), closingTime);
    this.#socket.once('close', () => clearTimeout(timer));
  }
}

function startCall(
  owner: ConnectionOwner,
  connection: GrpcConnection,
  stream: Http2Stream,
  head: MessageHead,
): void {
  // The client may have reset it in the same tick.
  if (!stream.isClosed) owner.requestReceived(connection, stream, head);
}
