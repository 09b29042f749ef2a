import { Http2Client } from '../../../client/http2/http2-client.ts';
import type { Http2Stream } from '../../../http2/http2-stream.ts';
import type { MessageHead } from '../../../http2/message-head.ts';
import { GrpcAcceptor } from '../../../server/grpc/grpc-acceptor.ts';
import type { GrpcConnection } from '../../../server/grpc/grpc-connection.ts';
import type { GrpcSettings } from '../../../server/grpc/grpc-options.ts';
import { defaultLimits } from '../../../server/limits/limits.ts';
import type { ServerOptions } from '../../../server/server-options.ts';
import { type GrpcProxyContext, ProxiedCall } from './proxied-call.ts';

/** Connections to the agent; each has up to 100 calls. */
const upstreamConnections = { connectTimeout: 10_000, maxConnections: 500 };

/** Forwards calls of gRPC to the agent and records them. */
export class GrpcProxy extends GrpcAcceptor {
  readonly #context: GrpcProxyContext;
  readonly #client = new Http2Client(upstreamConnections);
  readonly #stallTimeout: number;
  readonly #calls = new Set<Promise<void>>();

  constructor(
    context: GrpcProxyContext,
    settings: GrpcSettings,
    {
      limits = {},
      stallTimeout = defaultLimits.stallTimeout,
    }: Pick<ServerOptions, 'limits' | 'stallTimeout'>,
  ) {
    super(settings, limits, [stallTimeout]);
    this.#context = context;
    this.#stallTimeout = stallTimeout;
  }

  protected override onCall(connection: GrpcConnection, stream: Http2Stream, head: MessageHead): void {
    const call = new ProxiedCall(this.#context, connection, stream, head, this.#stallTimeout);
    const ended = call.forward(this.#client);
    this.#calls.add(ended);
    void ended.then(() => this.#calls.delete(ended));
  }

  /** Waits for the end of all calls, and closes the connections to the agent. */
  async close(): Promise<void> {
    await Promise.all(this.#calls);
    this.#client.close();
  }
}
