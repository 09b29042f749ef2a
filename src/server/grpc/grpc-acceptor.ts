import type { Socket } from 'node:net';
import type { Http2Stream } from '../../http2/http2-stream.ts';
import type { MessageHead } from '../../http2/message-head.ts';
import type { SessionOptions } from '../../http2/session-receiver.ts';
import type { Http2Acceptor } from '../fast-path/fast-path-server.ts';
import { singleHeader } from '../http/http-message.ts';
import { defaultLimits } from '../limits/limits.ts';
import type { ServerOptions } from '../server-options.ts';
import { type ConnectionOwner, GrpcConnection } from './grpc-connection.ts';
import type { GrpcSettings } from './grpc-options.ts';

/** Bytes of a call that a client may send before the server has read them. */
const windowSize = 1 << 20;

/** Bytes of all calls of a connection. */
const sessionWindow = 8 << 20;

const grpcContentType = /^application\/grpc(?:\+proto)?\s*(?:;|$)/i;

/** Accepts calls of gRPC on HTTP/2 connections that another server has accepted. */
export abstract class GrpcAcceptor implements Http2Acceptor, ConnectionOwner {
  readonly settings: GrpcSettings;
  readonly sessionOptions: SessionOptions;
  readonly #connections = new Set<GrpcConnection>();
  readonly #checkInterval: number;
  #checkTimer: NodeJS.Timeout | undefined = undefined;

  /** @param timeouts - milliseconds after which calls must be checked; 0 for never */
  constructor(
    settings: GrpcSettings,
    limits: NonNullable<ServerOptions['limits']>,
    timeouts: readonly number[],
  ) {
    const { headerBytes, headers } = { ...defaultLimits, ...limits };
    this.settings = settings;
    this.#checkInterval = checkInterval([
      settings.keepAliveInterval,
      settings.keepAliveTimeout,
      settings.idleTimeout,
      ...timeouts,
    ]);
    this.sessionOptions = {
      isServer: true,
      maxConcurrentStreams: settings.callsPerConnection,
      initialWindowSize: windowSize,
      sessionWindow,
      maxHeaderListSize: headerBytes,
      maxHeaderFields: headers,
    };
  }

  /** Handles a call. */
  protected abstract onCall(connection: GrpcConnection, stream: Http2Stream, head: MessageHead): void;

  /** Takes over a connection whose first bytes are the preface of HTTP/2. */
  accept(socket: Socket): void {
    this.#connections.add(new GrpcConnection(socket, this, performance.now()));
    this.#checkTimer ??= setInterval(() => this.#check(), this.#checkInterval).unref();
  }

  connectionClosed(connection: GrpcConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    clearInterval(this.#checkTimer);
    this.#checkTimer = undefined;
  }

  requestReceived(connection: GrpcConnection, stream: Http2Stream, head: MessageHead): void {
    const status = head.method === 'POST' ? 415 : 405;
    if (status === 405 || !grpcContentType.test(singleHeader(head.fields, 'content-type') ?? ''))
      respondWithStatus(stream, status);
    else this.onCall(connection, stream, head);
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

  /** Closes all connections at once, without a status for their calls. */
  destroyAllConnections(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Ends all calls with a status, and closes all connections. */
  closeAllConnections(): void {
    for (const connection of this.#connections) connection.interrupt();
  }
}

/** Responds without a message. */
export function respondWithStatus(stream: Pick<Http2Stream, 'sendHead' | 'discard'>, status: number): void {
  stream.sendHead([':status', String(status)], true);
  stream.discard();
}

/** Returns the milliseconds between two checks of all connections, so that timeouts are met to a quarter. */
function checkInterval(timeouts: readonly number[]): number {
  const shortest = Math.min(...timeouts.filter((each) => each > 0), 20_000);
  return Math.max(20, shortest / 4);
}
