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
  setMaxHeaderCount,
  nodeServerOptions,
  clientErrorResponse,
  observeConnectionBytes,
} from './connection-limits.ts';
import type { ServerContext } from '../http/server-context.ts';
import type { BufferedRequestHandler } from '../fast-path/buffered-handler.ts';
import { FastPathServer } from '../fast-path/fast-path-server.ts';
import { defaultLimits } from '../limits/limits.ts';
import type { ServerOptions } from '../server-options.ts';
import { createTlsServer, type TlsOptions } from './tls.ts';

/** How an agent is served by Node. */
export interface ServeOptions extends ServerOptions {
  /** @defaultValue 0, any free port */
  port?: number;
  /** @defaultValue `127.0.0.1`; say `0.0.0.0` to be reached from elsewhere */
  host?: string;
  /** Encrypts connections. @defaultValue plain HTTP, for use behind a proxy or on one machine */
  tls?: TlsOptions;
  /**
   * Answers plain requests on their sockets, in half the time. Whatever is not plain, and everything once somebody else
   * listens to the server or watches Node's requests, goes through `node:http`; with `false` all of it does. Encrypted
   * connections always do.
   * @defaultValue true
   */
  fastPath?: boolean;
}

/** An agent that is being served. */
export interface RunningServer extends AsyncDisposable {
  /** Where it is, such as `http://127.0.0.1:4000`. */
  readonly url: string;
  readonly port: number;
  /** The server of Node, for those who want to add to it. */
  readonly server: Server | SecureServer;
  /**
   * Stops: no more connections, running requests finish, streams end at the end of a frame.
   *
   * @param within - after how many milliseconds whatever is left is cut. @defaultValue 5,000
   */
  stop(within?: number): Promise<void>;
}

/** What takes requests in, and what has to be looked after meanwhile. */
export interface ListenerSetup {
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  /** Those whose streams are open. */
  readonly contexts: () => Iterable<ServerContext>;
  readonly metrics: Metrics | undefined;
  /** Whoever answers a plain request for a path and query without `listener`; undefined where nobody does. */
  readonly handlerFor?: (target: string) => BufferedRequestHandler | undefined;
}

/** What is larger than this comes in many pieces anyway. */
const mostInLane = 64 * 1_024;

/** Listens at a port for whoever receives. */
export async function listen(reception: ListenerSetup, options: ServeOptions): Promise<RunningServer> {
  const { metrics, contexts: faces, listener } = reception;
  const { limits = {}, heartbeat = 15_000, port = 0, host = '127.0.0.1' } = options;
  const bounds = nodeServerOptions(limits);
  const server = options.tls
    ? await createTlsServer(options.tls, listener, bounds)
    : plainServer(reception, options, bounds);
  setMaxHeaderCount(server, limits);
  if (metrics) observeConnectionBytes(server, metrics);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const limit = refuse(error, socket);
    if (limit !== undefined) metrics?.countLimitHit(limit);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const beat = setInterval(
    () => {
      for (const face of faces()) for (const stalled of face.sendHeartbeats(Date.now())) stalled.abort();
    },
    heartbeat > 0 ? heartbeat : 15_000,
  );
  beat.unref();
  const address = server.address() as AddressInfo;
  const stop = (within = 5_000): Promise<void> => {
    clearInterval(beat);
    return stopServer(server, faces, within);
  };
  return {
    url: urlOf(address, options.tls ? 'https' : 'http'),
    port: address.port,
    server,
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

function plainServer(
  { listener, handlerFor: answererAt }: ListenerSetup,
  { limits = {}, maxBodyBytes = defaultLimits.maxBodyBytes, fastPath: fastLane = true }: ServeOptions,
  bounds: HttpOptions,
): Server {
  if (!answererAt || !fastLane) return createServer(bounds, listener);
  const { headerBytes, headers } = { ...defaultLimits, ...limits };
  const bodyBytes = Math.min(maxBodyBytes, mostInLane);
  return new FastPathServer(bounds, listener, answererAt, { headerBytes, headers, bodyBytes });
}

function urlOf({ address, family, port }: AddressInfo, scheme: string): string {
  const host =
    address === '::' || address === '0.0.0.0' ? 'localhost' : family === 'IPv6' ? `[${address}]` : address;
  return `${scheme}://${host}:${port}`;
}

function stopServer(
  server: Server | SecureServer,
  faces: ListenerSetup['contexts'],
  within: number,
): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), within);
    // A connection whose request finishes from now on would be kept for the next one, which will not come.
    const sweep = setInterval(() => server.closeIdleConnections(), 20);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
    for (const face of faces()) face.endStreams();
    server.closeIdleConnections();
  });
}

/** Answers what is not HTTP in the words of HTTP, and closes. @returns the limit that was reached, if one was. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): string | undefined {
  const { status, limit } = clientErrorResponse(error.code);
  // Node keeps the response that is on its way here; another status line in its middle would be read as its body.
  const { _httpMessage: current } = socket as Socket & { _httpMessage?: ServerResponse };
  if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent) {
    socket.destroy();
    return limit;
  }
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  return limit;
}
