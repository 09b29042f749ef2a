import type { MessageHead } from '../../http2/message-head.ts';
import { defaultLimits } from '../limits/limits.ts';
import type { ServerOptions } from '../server-options.ts';
import { GrpcAcceptor, respondWithStatus } from './grpc-acceptor.ts';
import type { GrpcAgents } from './grpc-agents.ts';
import type { GrpcConnection } from './grpc-connection.ts';
import { GrpcExchange } from './grpc-exchange.ts';
import type { GrpcSettings } from './grpc-options.ts';
import { findServedMethod } from './served-method.ts';
import { type CallStream, ServerCall, type ServerCallLimits } from './server-call.ts';
import { maxServiceMessage, ServerServices } from './services/server-services.ts';

/** Serves the agents of a server over gRPC. */
export class GrpcServer extends GrpcAcceptor {
  readonly #agents: GrpcAgents;
  readonly #limits: ServerCallLimits;
  readonly #services: ServerServices;

  constructor(
    agents: GrpcAgents,
    settings: GrpcSettings,
    {
      limits = {},
      maxBodyBytes = defaultLimits.maxBodyBytes,
      stallTimeout = defaultLimits.stallTimeout,
    }: ServerOptions,
  ) {
    const { requestTimeout = defaultLimits.requestTimeout } = limits;
    super(settings, limits, [requestTimeout, stallTimeout]);
    this.#agents = agents;
    this.#services = new ServerServices(() => agents.isReady(), settings.reflection);
    this.#limits = { maxBodyBytes, requestTimeout, stallTimeout };
  }

  protected override onCall(connection: GrpcConnection, stream: CallStream, head: MessageHead): void {
    const { path } = head;
    const handler = this.#agents.handlerFor(path);
    if (this.#services.has(path)) {
      const limits = { ...this.#limits, maxBodyBytes: maxServiceMessage };
      void this.#services.run(new ServerCall(connection, stream, head, limits), handler);
    } else if (!handler) respondWithStatus(stream, 404);
    else {
      const call = new ServerCall(connection, stream, head, this.#limits);
      const { agentFor } = this.#agents;
      const method = findServedMethod(handler, path, agentFor !== undefined);
      void new GrpcExchange(handler, call, method, agentFor).run();
    }
  }

  override readinessChanged(): void {
    this.#services.readinessChanged();
  }

  override closeIdleConnections(): void {
    this.#services.close();
    super.closeIdleConnections();
  }
}
