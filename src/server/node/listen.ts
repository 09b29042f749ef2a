import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions as HttpOptions,
  type ServerResponse,
} from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Metrics } from '../../metrics/metrics.ts';
import {
  acceptAnyHeaderCount,
  nodeServerOptions,
  clientErrorResponse,
  observeConnectionBytes,
} from './connection-limits.ts';
import type { BufferedRequestHandler } from '../fast-path/buffered-handler.ts';
import type { GrpcAcceptor } from '../grpc/grpc-acceptor.ts';
import { type GrpcOptions, resolveGrpc } from '../grpc/grpc-options.ts';
import type { GrpcAgents } from '../grpc/grpc-agents.ts';
import { GrpcServer } from '../grpc/grpc-server.ts';
import type { AgentHttpHandler } from '../http/agent-http-handler.ts';
import { FastPathServer } from '../fast-path/fast-path-server.ts';
import { type Drainable, type DrainOptions, drain } from '../lifecycle/drain.ts';
import { defaultLimits } from '../limits/limits.ts';
import type { ServerOptions } from '../server-options.ts';
import { createTlsServer, type TlsOptions } from './tls.ts';

/** Options of {@link serve}. All options are optional. */
export interface ServeOptions extends ServerOptions {
  /** @defaultValue 0, any free port */
  port?: number;
  /** @defaultValue `127.0.0.1`; use `0.0.0.0` to accept connections from other hosts */
  host?: string;
  /** TLS options. @defaultValue no TLS, for use behind a proxy or on one host */
  tls?: TlsOptions;
  /**
   * Fast path: handles simple requests directly on the socket, in half the time. All other requests use `node:http`, as
   * do TLS connections and, if other code listens to the server or traces Node requests, all requests.
   * @defaultValue true, unless the environment variable `DRAGOMAN_FAST_PATH` is `0` or `false`
   */
  fastPath?: boolean;
  /**
   * Serves gRPC of 1.0 and 0.3 on the same port, in clear text and over TLS.
   * @defaultValue true, unless the environment variable `DRAGOMAN_GRPC` is `0` or `false`
   */
  grpc?: boolean | GrpcOptions;
}

/** A running HTTP server. */
export interface RunningServer extends AsyncDisposable {
  /** URL of the server, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  readonly port: number;
  /** The Node server, for additional listeners. */
  readonly server: Server | SecureServer;
  /**
   * Responds 503 at `/readyz`, stops accepting connections, waits for tasks and requests, and ends streams after their
   * current frame; clients resume them at another server. See the option `drain`.
   *
   * @param within - milliseconds after which the remaining connections are closed. @defaultValue 5,000
   */
  stop(within?: number): Promise<void>;
}

/** Collaborators of {@link listen}. */
export interface ListenerSetup extends Drainable {
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  readonly metrics: Metrics | undefined;
  /** Returns the fast-path handler for a path with query; undefined if `listener` must handle the request. */
  readonly handlerFor?: (target: string) => BufferedRequestHandler | undefined;
  /** Returns the handler for the path of a gRPC method. Without it, the server does not accept HTTP/2. */
  readonly grpcHandlerFor?: (path: string) => AgentHttpHandler | undefined;
  /** Finds the agent of a gRPC call on a server with several agents. */
  readonly grpcAgentFor?: GrpcAgents['agentFor'];
  /** Accepts HTTP/2 connections instead of `grpcHandlerFor`. */
  readonly grpc?: GrpcAcceptor;
  /** True while the server accepts calls, for the health service of gRPC. @defaultValue always */
  readonly isReady?: () => boolean;
}

/** Maximum body size on the fast path, in bytes. Larger bodies arrive in several chunks anyway. */
const maxFastPathBody = 64 * 1_024;

/** Listens on a port. */
export async function listen(setup: ListenerSetup, options: ServeOptions): Promise<RunningServer> {
  const { metrics, listener } = setup;
  const { limits = {}, port = 0, host = '127.0.0.1' } = options;
  const nodeOptions = nodeServerOptions(limits);
  const grpc = setup.grpc ?? createGrpcServer(setup, options);
  const server = options.tls
    ? await createTlsServer(options.tls, listener, nodeOptions, grpc)
    : createHttpServer(setup, options, nodeOptions, grpc);
  acceptAnyHeaderCount(server);
  if (metrics) observeConnectionBytes(server, metrics);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const limit = rejectConnection(error, socket);
    if (limit !== undefined) metrics?.countLimitHit(limit);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const stop = (within = 5_000): Promise<void> =>
    stopServer(
      [server, ...(grpc ? [grpc] : [])],
      withReadiness(setup, grpc),
      within > 0 ? options.drain : undefined,
      within,
    );
  return {
    url: formatUrl(address, options.tls ? 'https' : 'http'),
    port: address.port,
    server,
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

function createGrpcServer(
  { grpcHandlerFor, grpcAgentFor, isReady = () => true }: ListenerSetup,
  options: ServeOptions,
): GrpcServer | undefined {
  const settings = grpcHandlerFor && resolveGrpc(options.grpc);
  if (!settings) return undefined;
  return new GrpcServer({ handlerFor: grpcHandlerFor, agentFor: grpcAgentFor, isReady }, settings, options);
}

function createHttpServer(
  { listener, handlerFor, metrics }: ListenerSetup,
  {
    limits = {},
    stallTimeout = defaultLimits.stallTimeout,
    maxBodyBytes = defaultLimits.maxBodyBytes,
    fastPath = isFastPathDefault(),
  }: ServeOptions,
  nodeOptions: HttpOptions,
  grpc: GrpcAcceptor | undefined,
): Server {
  const hasFastPath = handlerFor !== undefined && fastPath;
  if (!hasFastPath && !grpc) return createServer(nodeOptions, listener);
  const { headerBytes, headers } = { ...defaultLimits, ...limits };
  const bodyBytes = Math.min(maxBodyBytes, maxFastPathBody);
  const server = new FastPathServer(nodeOptions, listener, hasFastPath ? handlerFor : () => undefined, {
    headerBytes,
    headers,
    bodyBytes,
    stallTimeout,
    onStalled: () => metrics?.countLimitHit('stallTimeout'),
  });
  server.http2 = grpc;
  return server;
}

function isFastPathDefault(): boolean {
  return !/^(?:0|false)$/i.test(process.env.DRAGOMAN_FAST_PATH ?? '');
}

function formatUrl({ address, family, port }: AddressInfo, scheme: string): string {
  const host =
    address === '::' || address === '0.0.0.0' ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `${scheme}://${host}:${port}`;
}

/** Tells clients of gRPC when the server begins to stop. */
function withReadiness(setup: ListenerSetup, grpc: GrpcAcceptor | undefined): Drainable {
  if (!grpc) return setup;
  const onStopping = (): void => {
    setup.onStopping?.();
    grpc.readinessChanged();
  };
  return { ...setup, onStopping };
}

/** @param within - milliseconds after which the remaining connections are closed. */
async function stopServer(
  [server, ...others]: [Server | SecureServer, ...GrpcAcceptor[]],
  setup: Drainable,
  phases: DrainOptions = {},
  within: number,
): Promise<void> {
  let closed: Promise<void> | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  await drain(setup, phases, () => {
    closed = new Promise((resolve) => server.close(() => resolve()));
    // Closes keep-alive connections as soon as their last request has finished.
    for (const other of others) other.closeIdleConnections();
    idleTimer = setInterval(() => server.closeIdleConnections(), 20);
  });
  const closeTimer = setTimeout(() => {
    for (const each of [server, ...others]) each.closeAllConnections();
  }, within);
  server.closeIdleConnections();
  await closed;
  clearTimeout(closeTimer);
  clearInterval(idleTimer);
}

/** Responds to a malformed or late request and closes the connection. @returns the exceeded limit, if any. */
function rejectConnection(error: NodeJS.ErrnoException, socket: Socket): string | undefined {
  const { status, limit } = clientErrorResponse(error.code);
  // A client that reuses a silent connection would read this as the response to a request that is on its way.
  const isSilent = socket.bytesRead === 0;
  // A started response must not be followed by a second status line, which the client would read as its body.
  const { _httpMessage: current } = socket as Socket & { _httpMessage?: ServerResponse };
  if (isSilent || error.code === 'ECONNRESET' || !socket.writable || current?.headersSent) {
    socket.destroy();
    return limit;
  }
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  return limit;
}
