import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import type { HeaderList } from '../../http2/hpack/header-encoder.ts';
import type { Http2Stream, StreamHandler } from '../../http2/http2-stream.ts';
import { raceAbort } from '../../primitives/abort.ts';
import { type Clock, unrefClock } from '../../primitives/clock.ts';
import { egressConnector } from '../http/egress-connector.ts';
import {
  clientClosedError,
  type HttpDriverOptions,
  type HttpRequest,
  type HttpResponse,
  HttpTransportError,
} from '../http/http-client.ts';
import { Http2Connection } from './http2-connection.ts';
import { buildHttp2Connector } from './http2-connector.ts';
import { Http2Response } from './http2-response.ts';
import { A2AError } from '../../protocol/errors.ts';

/** Sends requests over HTTP/2 on shared connections. */
export class Http2Client {
  readonly #options: HttpDriverOptions;
  /** Pools by origin, for URLs of the caller and for each egress policy. */
  readonly #pools = new Map<EgressPolicy | undefined, Map<string, ConnectionPool>>();
  #isClosed = false;

  constructor(options: HttpDriverOptions) {
    this.#options = options;
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const { signal } = request;
    const connection = await this.#pool(request).acquire(signal);
    return new Promise((resolve, reject) => {
      const response = new Http2Response(signal, resolve, reject);
      try {
        if (response.isOver) connection.release();
        else connection.request(request, response);
      } catch (thrown) {
        connection.release();
        response.fail(this.#isClosed ? clientClosedError() : thrown);
      }
    });
  }

  /** Opens a stream. @param connect - returns the handler of the stream, on which it sends the body */
  async openStream(
    origin: string,
    headers: HeaderList,
    signal: AbortSignal,
    connect: (stream: Http2Stream) => StreamHandler,
  ): Promise<void> {
    const connection = await this.#pool({ origin }).acquire(signal);
    try {
      connection.openStream(headers, connect);
    } catch (thrown) {
      connection.release();
      throw thrown;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const pools of this.#pools.values()) for (const pool of pools.values()) pool.close();
    this.#pools.clear();
  }

  #pool({ origin, egress }: Pick<HttpRequest, 'origin' | 'egress'>): ConnectionPool {
    let pools = this.#pools.get(egress);
    if (!pools) this.#pools.set(egress, (pools = new Map()));
    let pool = pools.get(origin);
    if (!pool) {
      const known = pools;
      pool = new ConnectionPool(origin, egress, this.#options, () => known.delete(origin));
      pools.set(origin, pool);
    }
    return pool;
  }
}

/** Factor by which pings become rarer after a complaint of the server. */
const pingBackoff = 2;

/** The connections to one origin. */
class ConnectionPool {
  readonly #origin: string;
  readonly #options: HttpDriverOptions;
  readonly #connector: buildConnector.connector;
  readonly #clock: Clock;
  readonly #onEmpty: () => void;
  readonly #connections = new Set<Http2Connection>();
  #opening: Promise<void> | undefined;
  #waiting: (() => void)[] = [];
  #pingInterval: number;
  #isClosed = false;

  constructor(
    origin: string,
    egress: EgressPolicy | undefined,
    options: HttpDriverOptions,
    onEmpty: () => void,
  ) {
    const { verify = true, ...certificates } = options.tls ?? {};
    const connecting = {
      ...certificates,
      ...(!verify && { rejectUnauthorized: false }),
      timeout: options.connectTimeout,
    };
    this.#origin = origin;
    this.#options = options;
    this.#clock = options.clock ?? unrefClock;
    this.#pingInterval = options.idleTimeout ?? 60_000;
    this.#onEmpty = onEmpty;
    this.#connector = egress
      ? egressConnector(buildHttp2Connector, egress, connecting)
      : buildHttp2Connector(connecting);
  }

  /** Returns a connection with a reserved stream. Waits if all are busy. */
  async acquire(signal: AbortSignal | undefined): Promise<Http2Connection> {
    for (;;) {
      if (this.#isClosed) throw clientClosedError();
      for (const connection of this.#connections) {
        if (!connection.hasCapacity) continue;
        connection.reserve();
        return connection;
      }
      const isFull = this.#connections.size >= this.#options.maxConnections;
      const change = isFull ? new Promise<void>((wake) => this.#waiting.push(wake)) : this.#open();
      await (signal
        ? raceAbort(change, signal, ({ reason }) => new HttpTransportError(reason, false))
        : change);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.close();
    this.#onChange();
  }

  /** Opens one connection for all requests that need one now. */
  #open(): Promise<void> {
    this.#opening ??= this.#connect()
      .then((connection) => {
        this.#connections.add(connection);
        if (this.#isClosed) connection.close();
      })
      .finally(() => {
        this.#opening = undefined;
        this.#removeIfEmpty();
      });
    return this.#opening;
  }

  async #connect(): Promise<Http2Connection> {
    const { hostname: host, protocol, port } = new URL(this.#origin);
    // A URL has brackets around an IPv6 address.
    const hostname = host.startsWith('[') ? host.slice(1, -1) : host;
    try {
      const socket = await new Promise<Socket>((resolve, reject) => {
        this.#connector({ hostname, protocol, port }, (error, opened) =>
          error ? reject(error) : resolve(opened),
        );
      });
      return await Http2Connection.open(socket, {
        origin: this.#origin,
        clock: this.#clock,
        responseTimeout: this.#options.connectTimeout,
        pingInterval: () => this.#pingInterval,
        onTooManyPings: () => (this.#pingInterval *= pingBackoff),
        onChange: () => this.#onChange(),
      });
    } catch (thrown) {
      // A denial of the egress policy is not a transport error.
      throw thrown instanceof A2AError ? thrown : new HttpTransportError(thrown, false);
    }
  }

  #onChange(): void {
    for (const connection of this.#connections) if (connection.isClosed) this.#connections.delete(connection);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
    if (waiting.length === 0) this.#removeIfEmpty();
  }

  #removeIfEmpty(): void {
    if (this.#connections.size === 0 && !this.#opening) this.#onEmpty();
  }
}
