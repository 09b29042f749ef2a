import { AsyncResource } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { type RequestListener, Server, type ServerOptions } from 'node:http';
import { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { BufferedRequestHandler } from './buffered-handler.ts';
import { FastPathConnection } from './connection.ts';
import type { RequestHeadLimits } from './parse-head.ts';

/**
 * A server with a lane for plain requests. Those that came whole and can be read in one way only are answered on their
 * sockets, which costs half of what Node's own way does. Everything else is left to Node, with its connection: odd heads,
 * long bodies, requests behind each other, upgrades, whatever is slow or wrong.
 */
export class FastPathServer extends Server {
  readonly limits: RequestHeadLimits;
  /** Whoever answers a plain request for a path and query; undefined where only Node knows. */
  readonly handlerFor: (target: string) => BufferedRequestHandler | undefined;
  /** The connections that were not left to Node. */
  readonly fastPathConnections = new Set<FastPathConnection>();
  /** What belongs to no request is done in here. */
  readonly own = new AsyncResource('LaneServer');
  readonly #toNode: (socket: Socket) => void;
  readonly #keepAlive: string;
  /** False once somebody else takes part in answering. */
  #isOpen = true;

  constructor(
    bounds: ServerOptions,
    listener: RequestListener,
    answererAt: (target: string) => BufferedRequestHandler | undefined,
    limits: RequestHeadLimits,
  ) {
    super(bounds, listener);
    this.limits = limits;
    this.handlerFor = answererAt;
    const seconds = Math.floor(this.keepAliveTimeout / 1_000);
    const hint = this.keepAliveTimeout > 0 ? `Keep-Alive: timeout=${seconds}\r\n` : '';
    this.#keepAlive = `Connection: keep-alive\r\n${hint}`;
    const [ofNode] = this.listeners('connection') as ((socket: Socket) => void)[];
    this.#toNode = (socket) => ofNode?.call(this, socket);
    this.removeAllListeners('connection');
    this.on('connection', (socket: Socket) => this.#accept(socket));
    this.on('newListener', (event) => this.#shut(event));
    this.on('removeListener', (event) => this.#shut(event));
    // More often than Node, whose limits begin when a connection is left to it.
    const interval = Math.max(50, (bounds.connectionsCheckingInterval ?? 30_000) / 4);
    let sweeper: NodeJS.Timeout | undefined;
    this.on('listening', () => {
      sweeper = setInterval(() => this.#sweep(interval), interval).unref();
    });
    this.on('close', () => clearInterval(sweeper));
  }

  /**
   * True while nobody else has to see the requests: other listeners, tools that watch the server of Node, and limits that
   * only Node keeps.
   */
  get isOpen(): boolean {
    return (
      this.#isOpen &&
      this.emit === EventEmitter.prototype.emit &&
      !isWatched() &&
      !this.timeout &&
      !this.maxRequestsPerSocket
    );
  }

  /** What a response says about its connection. */
  get keeping(): string {
    return this.listening ? this.#keepAlive : 'Connection: close\r\n';
  }

  #accept(socket: Socket): void {
    // Anybody may hand a connection to the server of Node, of any kind.
    const isPlain = socket instanceof Socket && !(socket as Partial<TLSSocket>).encrypted;
    if (isPlain && this.isOpen) this.fastPathConnections.add(new FastPathConnection(this, socket));
    else this.#toNode(socket);
  }

  #shut(event: string | symbol): void {
    if (event === 'request') this.#isOpen = false;
  }

  /** Leaves a connection to Node. */
  handOffToNode(socket: Socket): void {
    this.#toNode(socket);
  }

  #sweep(interval: number): void {
    const now = Date.now();
    const keptSince = this.keepAliveTimeout > 0 ? now - this.keepAliveTimeout - grace : 0;
    for (const connection of this.fastPathConnections) connection.sweep(now - interval, keptSince);
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

/** For how many milliseconds more than it was told a caller may count on its connection, as with Node. */
const grace = 1_000;

const channels = ['request.start', 'response.created', 'response.finish'].map((name) =>
  channel(`http.server.${name}`),
);

/** True where somebody wants to hear what the servers of Node do. */
function isWatched(): boolean {
  for (const each of channels) if (each.hasSubscribers) return true;
  return false;
}
