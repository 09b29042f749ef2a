/**
 * HTTP by undici, for Node. The library is loaded with the first request.
 *
 * Answers are taken from the dispatcher as they come instead of through a Node stream, which would cost more than
 * everything else a call does.
 *
 * @module
 */
import type { Agent, Dispatcher } from 'undici';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { ClientTls } from '../connect-options.ts';
import { egressConnector } from './egress-connector.ts';
import {
  BodyTooLargeError,
  type HttpClient,
  HttpTransportError,
  type HttpRequest,
  type HttpResponse,
} from './http-client.ts';

/** How the connections of the undici driver behave. */
export interface UndiciOptions {
  /** Milliseconds to wait for a connection. */
  connectTimeout: number;
  /** Connections to one origin; further requests wait. */
  maxConnections: number;
  /** Certificates to trust and to show. */
  tls?: ClientTls | undefined;
}

/** Bytes that wait unread before the peer is asked to pause. */
const highWater = 256 * 1024;

/** Opens the undici driver. Its idle connections do not keep a process alive. */
export function undiciHttpClient(options: UndiciOptions): HttpClient {
  let agent: Agent | undefined;
  /** The agents that keep to a policy. */
  const guarded = new Map<EgressPolicy, Agent>();
  let loading: Promise<typeof import('undici')> | undefined;
  let closed = false;
  const { verify = true, ...certificates } = options.tls ?? {};
  const tls = { ...certificates, ...(!verify && { rejectUnauthorized: false }) };

  function agentFor(undici: typeof import('undici'), egress: EgressPolicy | undefined): Agent {
    if (!egress)
      return (agent ??= make(undici, { ...tls, timeout: options.connectTimeout, autoSelectFamily: true }));
    let ready = guarded.get(egress);
    if (!ready) {
      ready = make(
        undici,
        egressConnector(undici.buildConnector, egress, { ...tls, timeout: options.connectTimeout }),
      );
      guarded.set(egress, ready);
    }
    return ready;
  }

  function make(undici: typeof import('undici'), connect: Agent.Options['connect']): Agent {
    return new undici.Agent({
      connections: options.maxConnections,
      pipelining: 1,
      keepAliveTimeout: 10_000,
      // Time is kept above this port, where it is known what is being waited for.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect,
    });
  }

  async function load(request: HttpRequest): Promise<HttpResponse> {
    const undici = await (loading ??= import('undici'));
    if (closed) throw isClosed();
    return dispatch(agentFor(undici, request.egress), request);
  }

  return {
    request(request) {
      if (closed) return Promise.reject(isClosed());
      return agent && !request.egress ? dispatch(agent, request) : load(request);
    },
    async close() {
      closed = true;
      const open = [...(agent ? [agent] : []), ...guarded.values()];
      await Promise.all(open.map((each) => each.destroy()));
    },
  };
}

function isClosed(): HttpTransportError {
  return new HttpTransportError(new Error('The client is closed'), false);
}

function dispatch(agent: Agent, request: HttpRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const answer = new Answer(request.signal, resolve, reject);
    if (answer.over) return;
    try {
      agent.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: request.method,
          headers: request.headers as Record<string, string>,
          body: request.body ?? null,
        },
        answer,
      );
    } catch (thrown) {
      answer.fail(thrown);
    }
  });
}

type Resolve = (response: HttpResponse) => void;
type Reject = (failure: unknown) => void;

/** Both ends of one exchange: undici calls the `on…` methods, the reader the others. */
class Answer implements HttpResponse, Dispatcher.DispatchHandler {
  status = 0;
  over = false;
  #headers: Record<string, string | string[] | undefined> = {};
  #resolve: Resolve | undefined;
  #reject: Reject | undefined;
  #signal: AbortSignal | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #sent = false;
  #queue: Buffer[] = [];
  #waiting = 0;
  #error: unknown;
  #wake: (() => void) | undefined;
  /** Set while somebody wants the whole body, which is not held back then. */
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
    this.#stop(this.#signal?.reason ?? new Error('aborted'));
  };

  /** Ends the exchange from this side. */
  #stop(reason: unknown): void {
    if (this.over) return;
    this.#finish(new HttpTransportError(reason, this.#sent));
    const error = reason instanceof Error ? reason : new Error('aborted');
    this.#controller?.abort(error);
  }

  #finish(error: unknown): void {
    if (this.over) return;
    this.over = true;
    this.#error = error;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (error !== undefined) this.#reject?.(error);
    this.#resolve = undefined;
    this.#reject = undefined;
    this.#wake?.();
  }

  fail(thrown: unknown): void {
    // What a policy refuses is no accident of the network.
    this.#finish(thrown instanceof A2AError ? thrown : new HttpTransportError(thrown, this.#sent));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.over) controller.abort(new Error('aborted'));
    this.#sent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Interim answers say nothing.
    if (status < 200) return;
    this.status = status;
    this.#headers = headers;
    this.#resolve?.(this);
    this.#resolve = undefined;
    this.#reject = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.over) return;
    this.#queue.push(chunk);
    this.#waiting += chunk.length;
    if (this.#limit !== undefined) {
      if (this.#waiting > this.#limit) this.#stop(new BodyTooLargeError());
      return;
    }
    if (this.#waiting > highWater) controller.pause();
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
    if (this.#waiting > limit) this.discard();
    this.#limit = limit;
    this.#controller?.resume();
    if (!this.over) await this.#news();
    if (this.#waiting > limit) throw new BodyTooLargeError(`more than ${limit} bytes`);
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
          this.#waiting = 0;
          this.#controller?.resume();
          // Pieces that came together go on together: each step above costs more than the copy.
          yield queue.length === 1 ? (queue[0] as Buffer) : Buffer.concat(queue);
        }
        if (this.over) break;
        await this.#news();
      }
      if (this.#error !== undefined) throw this.#error;
    } finally {
      this.discard();
    }
  }

  discard(): void {
    if (!this.over) this.#stop(new Error('The reader left'));
  }

  /** Waits for bytes, or, while the whole body is wanted, for its end. */
  #news(): Promise<void> {
    return new Promise((wake) => {
      this.#wake = () => {
        this.#wake = undefined;
        wake();
      };
    });
  }
}
