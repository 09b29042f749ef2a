/**
 * HTTP driver based on undici, and on HTTP/2 of our own for gRPC, for Node. Each is loaded with the first request.
 *
 * Responses are read from the dispatcher directly: a Node stream would cost more than the rest of a call.
 *
 * @module
 */
import type { Agent, Dispatcher } from 'undici';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import type { Http2Client } from '../http2/http2-client.ts';
import { egressConnector } from './egress-connector.ts';
import {
  clientClosedError,
  type HttpClient,
  type HttpDriverOptions,
  type HttpRequest,
  type HttpResponse,
} from './http-client.ts';
import { QueuedResponse } from './queued-response.ts';

/** Creates an HTTP client based on undici. Its idle connections do not keep the process alive. */
export function undiciHttpClient(options: HttpDriverOptions): HttpClient {
  let agent: Agent | undefined;
  /** Agents that enforce an egress policy. */
  const policyAgents = new Map<EgressPolicy, Agent>();
  let loading: Promise<typeof import('undici')> | undefined;
  let http2Loading: Promise<Http2Client> | undefined;
  let closed = false;
  const { verify = true, ...certificates } = options.tls ?? {};
  const tls = { ...certificates, ...(!verify && { rejectUnauthorized: false }) };

  function agentFor(undici: typeof import('undici'), egress: EgressPolicy | undefined): Agent {
    if (!egress)
      return (agent ??= createAgent(undici, {
        ...tls,
        timeout: options.connectTimeout,
        autoSelectFamily: true,
      }));
    let policyAgent = policyAgents.get(egress);
    if (!policyAgent) {
      policyAgent = createAgent(
        undici,
        egressConnector(undici.buildConnector, egress, { ...tls, timeout: options.connectTimeout }),
      );
      policyAgents.set(egress, policyAgent);
    }
    return policyAgent;
  }

  function createAgent(undici: typeof import('undici'), connect: Agent.Options['connect']): Agent {
    return new undici.Agent({
      connections: options.maxConnections,
      pipelining: 1,
      keepAliveTimeout: 10_000,
      // The callers of this client apply timeouts that depend on the operation.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect,
    });
  }

  async function requestHttp2(request: HttpRequest): Promise<HttpResponse> {
    http2Loading ??= import('../http2/http2-client.ts').then((module) => new module.Http2Client(options));
    const client = await http2Loading;
    if (closed) throw clientClosedError();
    return client.request(request);
  }

  async function loadAndDispatch(request: HttpRequest): Promise<HttpResponse> {
    const undici = await (loading ??= import('undici'));
    if (closed) throw clientClosedError();
    return dispatch(agentFor(undici, request.egress), request);
  }

  return {
    request(request) {
      if (closed) return Promise.reject(clientClosedError());
      if (request.http2) return requestHttp2(request);
      return agent && !request.egress ? dispatch(agent, request) : loadAndDispatch(request);
    },
    supportsHttp2: () => true,
    async close() {
      closed = true;
      const http2Client = await http2Loading?.catch(() => undefined);
      http2Client?.close();
      const agents = [...(agent ? [agent] : []), ...policyAgents.values()];
      await Promise.all(agents.map((each) => each.destroy()));
    },
  };
}

export { undiciHttpClient as createHttpDriver };

function dispatch(agent: Agent, request: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const response = new UndiciResponse(request.signal, resolve, reject);
    if (response.isOver) return;
    try {
      agent.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: request.method,
          headers: request.headers as Record<string, string>,
          body: request.body ?? null,
        },
        response,
      );
    } catch (thrown) {
      response.fail(thrown);
    }
  });
}

/** One exchange: undici calls the `on…` methods, the caller of the driver the others. */
class UndiciResponse extends QueuedResponse implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #sent = false;

  protected get wasSent(): boolean {
    return this.#sent;
  }

  protected pause(): void {
    this.#controller?.pause();
  }

  protected resume(): void {
    this.#controller?.resume();
  }

  protected cancel(reason: Error): void {
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isOver) controller.abort(new Error('aborted'));
    this.#sent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Informational responses are ignored.
    if (status >= 200) this.start(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.push(chunk);
  }

  onResponseEnd(): void {
    this.finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }
}
