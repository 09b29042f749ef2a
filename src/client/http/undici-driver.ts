/**
 * HTTP driver based on undici, for Node. The library is loaded with the first request.
 *
 * Responses are read from the dispatcher directly: a Node stream would cost more than the rest of a call.
 *
 * @module
 */
import type { Agent, Dispatcher } from 'undici';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { A2AError } from '../../protocol/errors.ts';
import { egressConnector } from './egress-connector.ts';
import {
  BodyTooLargeError,
  clientClosedError,
  type HttpClient,
  type HttpDriverOptions,
  HttpTransportError,
  type HttpRequest,
  type HttpResponse,
} from './http-client.ts';

/** Number of unread bytes above which reading is paused (backpressure). */
const highWaterMark = 256 * 1024;

/** Creates an HTTP client based on undici. Its idle connections do not keep the process alive. */
export function undiciHttpClient(options: HttpDriverOptions): HttpClient {
  let agent: Agent | undefined;
  /** Agents that enforce an egress policy. */
  const policyAgents = new Map<EgressPolicy, Agent>();
  let loading: Promise<typeof import('undici')> | undefined;
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

  async function loadAndDispatch(request: HttpRequest): Promise<HttpResponse> {
    const undici = await (loading ??= import('undici'));
    if (closed) throw clientClosedError();
    return dispatch(agentFor(undici, request.egress), request);
  }

  return {
    request(request) {
      if (closed) return Promise.reject(clientClosedError());
      return agent && !request.egress ? dispatch(agent, request) : loadAndDispatch(request);
    },
    async close() {
      closed = true;
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

type Resolve = (response: HttpResponse) => void;
type Reject = (failure: unknown) => void;

/** One exchange: undici calls the `on…` methods, the caller of the driver the others. */
class UndiciResponse implements HttpResponse, Dispatcher.DispatchHandler {
  status = 0;
  isOver = false;
  #headers: Record<string, string | string[] | undefined> = {};
  #resolve: Resolve | undefined;
  #reject: Reject | undefined;
  #signal: AbortSignal | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #sent = false;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #error: unknown;
  #wake: (() => void) | undefined;
  /** Set while the complete body is read, which disables backpressure. */
  #limit: number | undefined;

  constructor(signal: AbortSignal | undefined, resolve: Resolve, reject: Reject) {
    this.#resolve = resolve;
    this.#reject = reject;
    if (!signal) return;
    this.#signal = signal;
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort);
  }

  #onAbort = (): void => {
    this.#abort(this.#signal?.reason ?? new Error('aborted'));
  };

  #abort(reason: unknown): void {
    if (this.isOver) return;
    this.#finish(new HttpTransportError(reason, this.#sent));
    const error = reason instanceof Error ? reason : new Error('aborted');
    this.#controller?.abort(error);
  }

  #finish(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#error = error;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (error !== undefined) this.#reject?.(error);
    this.#resolve = undefined;
    this.#reject = undefined;
    this.#wake?.();
  }

  fail(thrown: unknown): void {
    // A denial of the egress policy is not a transport error.
    this.#finish(thrown instanceof A2AError ? thrown : new HttpTransportError(thrown, this.#sent));
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
    if (status < 200) return;
    this.status = status;
    this.#headers = headers;
    this.#resolve?.(this);
    this.#resolve = undefined;
    this.#reject = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (this.#limit !== undefined) {
      if (this.#queuedBytes > this.#limit) this.#abort(new BodyTooLargeError());
      return;
    }
    if (this.#queuedBytes > highWaterMark) controller.pause();
    this.#wake?.();
  }

  onResponseEnd(): void {
    this.#finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  async text(limit: number): Promise<string> {
    if (this.#queuedBytes > limit) this.discard();
    this.#limit = limit;
    this.#controller?.resume();
    if (!this.isOver) await this.#wait();
    if (this.#queuedBytes > limit) throw new BodyTooLargeError(`more than ${limit} bytes`);
    if (this.#error !== undefined) throw this.#error;
    const [first, ...more] = this.#queue;
    if (!first) return '';
    return more.length === 0 ? first.toString('utf8') : Buffer.concat(this.#queue).toString('utf8');
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        while (this.#queue.length > 0) {
          const queue = this.#queue;
          this.#queue = [];
          this.#queuedBytes = 0;
          this.#controller?.resume();
          // Chunks that arrived together are passed on together, because each step of the consumers costs more than the copy.
          yield queue.length === 1 ? (queue[0] as Buffer) : Buffer.concat(queue);
        }
        if (this.isOver) break;
        await this.#wait();
      }
      if (this.#error !== undefined) throw this.#error;
    } finally {
      this.discard();
    }
  }

  discard(): void {
    if (!this.isOver) this.#abort(new Error('The response was discarded'));
  }

  /** Waits for bytes or, while the complete body is read, for its end. */
  #wait(): Promise<void> {
    return new Promise((wake) => {
      this.#wake = () => {
        this.#wake = undefined;
        wake();
      };
    });
  }
}
