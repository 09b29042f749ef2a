import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Http2Acceptor } from '../fast-path/fast-path-server.ts';
import type { AgentHttpHandler } from '../http/agent-http-handler.ts';
import { GrpcExchange } from './grpc-exchange.ts';

/** Serves gRPC on HTTP/2 connections that another server has accepted. */
export class GrpcServer implements Http2Acceptor {
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(handlerFor: (path: string) => AgentHttpHandler | undefined, maxBodyBytes: number) {
    this.#server = createServer({
      settings: { maxConcurrentStreams: 1_000, initialWindowSize: 1 << 20, maxHeaderListSize: 64 * 1_024 },
      maxSessionInvalidFrames: 100,
      // Memory of one connection, in megabytes: frames and headers that wait.
      maxSessionMemory: 64,
    });
    this.#server.on('session', (session) => {
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      session.on('error', () => session.destroy());
    });
    this.#server.on('stream', (stream, headers) => {
      const handler = handlerFor(String(headers[':path']));
      if (headers[':method'] !== 'POST' || !/^application\/grpc\b/.test(headers['content-type'] ?? '')) {
        stream.on('error', () => {});
        stream.respond({ ':status': headers[':method'] === 'POST' ? 415 : 405 }, { endStream: true });
      } else if (handler) void new GrpcExchange(handler, stream, headers, maxBodyBytes).run();
      else stream.respond({ ':status': 404 }, { endStream: true });
    });
  }

  /** Takes over a connection whose first bytes are the preface of HTTP/2. */
  accept(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  /** Accepts no more calls, and closes each connection after its last call. */
  closeIdleConnections(): void {
    for (const session of this.#sessions) if (!session.closed) session.close();
  }

  closeAllConnections(): void {
    for (const session of this.#sessions) session.destroy();
  }
}
