import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Http2Acceptor } from '../fast-path/fast-path-server.ts';
import { defaultLimits } from '../limits/limits.ts';
import type { ServerOptions } from '../server-options.ts';
import { GrpcConnection } from './grpc-connection.ts';
import type { GrpcSettings } from './grpc-options.ts';

/** Property of a session with its connection. */
const ownConnection = Symbol('connection');

interface GrpcSession extends ServerHttp2Session {
  [ownConnection]?: GrpcConnection;
}

/** Bytes of a call that a client may send before the server has read them. */
const windowSize = 1 << 20;

/** Megabytes of one connection for frames and headers that wait. */
const maxSessionMemory = 64;

const grpcContentType = /^application\/grpc(?:\+proto)?\s*(?:;|$)/i;

/** Accepts calls of gRPC on HTTP/2 connections that another server has accepted. */
export abstract class GrpcAcceptor implements Http2Acceptor {
  readonly #server: Http2Server;
  readonly #settings: GrpcSettings;
  readonly #connections = new Set<GrpcConnection>();
  readonly #checkInterval: number;
  #checkTimer: NodeJS.Timeout | undefined = undefined;
  #accepting: Socket | undefined = undefined;

  /** @param timeouts - milliseconds after which calls must be checked; 0 for never */
  constructor(
    settings: GrpcSettings,
    limits: NonNullable<ServerOptions['limits']>,
    timeouts: readonly number[],
  ) {
    const { headerBytes, headers } = { ...defaultLimits, ...limits };
    this.#settings = settings;
    this.#checkInterval = checkInterval([
      settings.keepAliveInterval,
      settings.keepAliveTimeout,
      settings.idleTimeout,
      ...timeouts,
    ]);
    this.#server = createServer({
      settings: {
        maxConcurrentStreams: settings.callsPerConnection,
        initialWindowSize: windowSize,
        maxHeaderListSize: headerBytes,
      },
      maxHeaderListPairs: Number.isFinite(headers) ? headers : 0xff_ff_ff_ff,
      maxSessionInvalidFrames: 100,
      maxSessionMemory,
    });
    this.#server.on('session', (session: GrpcSession) => this.#onSession(session));
    this.#server.on('stream', (stream, headers) => this.#onStream(stream, headers));
  }

  /** Handles a call. Errors of the stream are ignored. */
  protected abstract onCall(
    connection: GrpcConnection,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
  ): void;

  /** Takes over a connection whose first bytes are the preface of HTTP/2. */
  accept(socket: Socket): void {
    this.#accepting = socket;
    this.#server.emit('connection', socket);
    this.#accepting = undefined;
  }

  #onSession(session: GrpcSession): void {
    const socket = this.#accepting;
    if (!socket) return;
    const connection = new GrpcConnection(session, socket, this.#settings, performance.now());
    session[ownConnection] = connection;
    this.#connections.add(connection);
    this.#checkTimer ??= setInterval(() => this.#check(), this.#checkInterval).unref();
    session.once('close', () => {
      this.#connections.delete(connection);
      if (this.#connections.size > 0) return;
      clearInterval(this.#checkTimer);
      this.#checkTimer = undefined;
    });
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // Errors of clients, such as a reset, are not errors of the server.
    stream.on('error', ignoreError);
    // The client has reset it in the same turn of the event loop.
    if (stream.destroyed) return;
    const connection = (stream.session as GrpcSession | undefined)?.[ownConnection];
    const status = headers[':method'] === 'POST' ? 415 : 405;
    if (!connection || status === 405 || !grpcContentType.test(headers['content-type'] ?? ''))
      respondWithStatus(stream, status);
    else this.onCall(connection, stream, headers);
  }

  #check(): void {
    const now = performance.now();
    for (const connection of this.#connections) connection.check(now);
  }

  /** Called when the server becomes ready, or begins to stop. */
  readinessChanged(): void {}

  /** Accepts no more calls, and closes each connection after its last call. */
  closeIdleConnections(): void {
    for (const connection of this.#connections) connection.close();
  }

  /** Ends all calls with a status, and closes all connections. */
  closeAllConnections(): void {
    for (const connection of this.#connections) connection.interrupt();
  }
}

function ignoreError(): void {}

/** Responds without a message. */
export function respondWithStatus(stream: ServerHttp2Stream, status: number): void {
  stream.respond({ ':status': status }, { endStream: true });
}

/** Returns the milliseconds between two checks of all connections, so that timeouts are met to a quarter. */
function checkInterval(timeouts: readonly number[]): number {
  const shortest = Math.min(...timeouts.filter((each) => each > 0), 20_000);
  return Math.max(20, shortest / 4);
}
