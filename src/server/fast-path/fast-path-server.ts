import { AsyncResource } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { type RequestListener, Server, type ServerOptions } from 'node:http';
import { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { BufferedRequestHandler } from './buffered-handler.ts';
import { FastPathConnection } from './connection.ts';
import { startsHttp2 } from './http2-preface.ts';
import { type RequestHeadLimits, RequestHeadParser } from './request-head-parser.ts';

/** Settings of a {@link FastPathServer}. */
export interface FastPathSettings extends RequestHeadLimits {
  /** Milliseconds after which a connection is closed whose client does not read the response; 0 for never. */
  readonly stallTimeout: number;
  /** Called when such a connection is closed. */
  readonly onStalled: () => void;
}

/** Serves connections of HTTP/2. */
export interface Http2Acceptor {
  accept(socket: Socket): void;
}

/**
 * An HTTP server with a fast path. Complete, unambiguous requests are parsed and answered directly on the socket at half
 * the cost of `node:http`. All other connections are handed off to Node: unusual headers, large bodies, pipelining,
 * upgrades, slow or invalid requests.
 */
export class FastPathServer extends Server {
  readonly settings: FastPathSettings;
  readonly headParser: RequestHeadParser;
  /** Takes over connections that begin with the preface of HTTP/2. */
  http2: Http2Acceptor | undefined = undefined;
  /** Returns the handler for a path with query; undefined if Node must handle the request. */
  readonly handlerFor: (target: string) => BufferedRequestHandler | undefined;
  /** Connections that were not handed off to Node. */
  readonly fastPathConnections = new Set<FastPathConnection>();
  /** Async context of work that belongs to no request. */
  readonly asyncResource = new AsyncResource('FastPathServer');
  readonly #nodeListener: (socket: Socket) => void;
  readonly #keepAlive: string;
  /** False once another `request` listener was added. */
  #isEnabled = true;

  constructor(
    bounds: ServerOptions,
    listener: RequestListener,
    handlerFor: (target: string) => BufferedRequestHandler | undefined,
    settings: FastPathSettings,
  ) {
    super(bounds, listener);
    this.settings = settings;
    this.headParser = new RequestHeadParser(settings);
    this.handlerFor = handlerFor;
    const seconds = Math.floor(this.keepAliveTimeout / 1_000);
    const hint = this.keepAliveTimeout > 0 ? `Keep-Alive: timeout=${seconds}\r\n` : '';
    this.#keepAlive = `Connection: keep-alive\r\n${hint}`;
    const [nodeListener] = this.listeners('connection') as ((socket: Socket) => void)[];
    this.#nodeListener = (socket) => nodeListener?.call(this, socket);
    this.removeAllListeners('connection');
    this.on('connection', (socket: Socket) => this.#onConnection(socket));
    this.on('newListener', (event) => this.#disableFor(event));
    this.on('removeListener', (event) => this.#disableFor(event));
    // Checks more often than Node, because the timeouts of Node start at the handoff.
    const interval = Math.max(50, (bounds.connectionsCheckingInterval ?? 30_000) / 4);
    let checkTimer: NodeJS.Timeout | undefined;
    this.on('listening', () => {
      checkTimer = setInterval(() => this.#checkConnections(interval), interval).unref();
    });
    this.on('close', () => clearInterval(checkTimer));
  }

  /**
   * True while no other code depends on `node:http`: additional listeners, instrumentation (a replaced `emit`,
   * `diagnostics_channel`) or limits that only Node enforces.
   */
  get isEnabled(): boolean {
    return (
      this.#isEnabled &&
      this.emit === EventEmitter.prototype.emit &&
      !hasDiagnosticsSubscribers() &&
      !this.timeout &&
      !this.maxRequestsPerSocket
    );
  }

  /** Connection headers of responses. */
  get connectionHeaders(): string {
    return this.listening ? this.#keepAlive : 'Connection: close\r\n';
  }

  #onConnection(socket: Socket): void {
    // Other code may emit connections of any kind, such as TLS sockets.
    const isPlain = socket instanceof Socket && !(socket as Partial<TLSSocket>).encrypted;
    if (isPlain && (this.isEnabled || this.http2))
      this.fastPathConnections.add(new FastPathConnection(this, socket));
    else this.#nodeListener(socket);
  }

  #disableFor(event: string | symbol): void {
    if (event === 'request') this.#isEnabled = false;
  }

  /** Hands a paused connection off to Node. @param first - its first bytes */
  handOffToNode(socket: Socket, first: Buffer | undefined): void {
    if (this.http2 && first && startsHttp2(first)) {
      this.http2.accept(socket);
      return;
    }
    this.#nodeListener(socket);
    socket.resume();
  }

  #checkConnections(interval: number): void {
    const now = performance.now();
    const idleSince = this.keepAliveTimeout > 0 ? now - this.keepAliveTimeout - keepAliveTolerance : 0;
    const undecidedSince = this.headersTimeout > 0 ? now - this.headersTimeout : -Infinity;
    for (const connection of this.fastPathConnections)
      connection.checkTimeout(now - interval, idleSince, undecidedSince);
  }

  override closeIdleConnections(): void {
    super.closeIdleConnections();
    for (const connection of this.fastPathConnections) if (connection.isIdle) connection.destroy();
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const connection of this.fastPathConnections) connection.destroy();
  }
}

/** Milliseconds added to the announced keep-alive timeout, as Node does. */
const keepAliveTolerance = 1_000;

const channels = ['request.start', 'response.created', 'response.finish'].map((name) =>
  channel(`http.server.${name}`),
);

/** Returns true if `diagnostics_channel` has subscribers for server requests. */
function hasDiagnosticsSubscribers(): boolean {
  for (const each of channels) if (each.hasSubscribers) return true;
  return false;
}
