import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Outage } from '../../protocol/outage.ts';

/** Observes one call. */
export interface CallObserver {
  /** Called with the result of the agent, or with each event of a stream. */
  onResponse?(response: unknown): void;
  /**
   * Called once when the call has ended.
   *
   * @returns an error that replaces `error`; undefined keeps it.
   */
  onEnd(error: A2AError | undefined): A2AError | undefined;
}

/** Intercepts the calls of an agent. */
export interface CallInterceptor {
  /** Called when a call starts. A thrown error rejects the call before inner interceptors and the agent see it. */
  begin(operation: Operation, request: unknown, call: CallContext): CallObserver;
  /** Returns the current outage, if `begin` would reject calls. */
  outage?(): Outage | undefined;
}

/**
 * Middleware that wraps an agent in interceptors. The last interceptor is the outermost: it sees the call first and the
 * result last. `card()` is not intercepted, because it usually comes from a cache.
 */
export function withInterceptors(agent: Agent, ...interceptors: readonly CallInterceptor[]): Agent {
  async function intercept<R, T>(
    operation: Operation,
    operate: (request: R, call: CallContext) => Promise<T>,
    request: R,
    call: CallContext = {},
  ): Promise<T> {
    const intercepted = new InterceptedCall(interceptors, operation, request, call);
    try {
      const response = await operate(request, call);
      intercepted.onResponse(response);
      intercepted.end(undefined);
      return response;
    } catch (thrown) {
      throw intercepted.end(A2AError.from(thrown));
    }
  }
  const interceptStream = <R>(
    operation: Operation,
    open: (request: R, call: CallContext) => AsyncIterable<StreamEvent>,
    request: R,
    call: CallContext = {},
  ) => ({
    [Symbol.asyncIterator]: () =>
      new InterceptedStream(
        () => open(request, call),
        () => new InterceptedCall(interceptors, operation, request, call),
      ),
  });
  return {
    card: (call) => agent.card(call),
    extendedCard: (call) => intercept('extendedCard', (_none, own) => agent.extendedCard(own), {}, call),
    send: (request, call) => intercept('send', (inner, own) => agent.send(inner, own), request, call),
    stream: (request, call) =>
      interceptStream('stream', (inner, own) => agent.stream(inner, own), request, call),
    getTask: (request, call) =>
      intercept('getTask', (inner, own) => agent.getTask(inner, own), request, call),
    listTasks: (request, call) =>
      intercept('listTasks', (inner, own) => agent.listTasks(inner, own), request, call),
    cancelTask: (request, call) =>
      intercept('cancelTask', (inner, own) => agent.cancelTask(inner, own), request, call),
    subscribe: (request, call) =>
      interceptStream('subscribe', (inner, own) => agent.subscribe(inner, own), request, call),
    createPushConfig: (config, call) =>
      intercept('createPushConfig', (inner, own) => agent.createPushConfig(inner, own), config, call),
    getPushConfig: (ref, call) =>
      intercept('getPushConfig', (inner, own) => agent.getPushConfig(inner, own), ref, call),
    listPushConfigs: (request, call) =>
      intercept('listPushConfigs', (inner, own) => agent.listPushConfigs(inner, own), request, call),
    deletePushConfig: (ref, call) =>
      intercept('deletePushConfig', (inner, own) => agent.deletePushConfig(inner, own), ref, call),
    ...(agent.jwks && { jwks: agent.jwks.bind(agent) }),
    ...(agent.ready && { ready: agent.ready.bind(agent) }),
    outage: () => firstOutage(interceptors) ?? agent.outage?.(),
    ...(agent.close && { close: agent.close.bind(agent) }),
  };
}

function firstOutage(interceptors: readonly CallInterceptor[]): Outage | undefined {
  for (const interceptor of interceptors) {
    const outage = interceptor.outage?.();
    if (outage) return outage;
  }
  return undefined;
}

class InterceptedCall {
  /** From the outermost to the innermost. */
  readonly #observers: CallObserver[] = [];

  constructor(
    interceptors: readonly CallInterceptor[],
    operation: Operation,
    request: unknown,
    call: CallContext,
  ) {
    for (let i = interceptors.length - 1; i >= 0; i--) {
      try {
        this.#observers.push((interceptors[i] as CallInterceptor).begin(operation, request, call));
      } catch (thrown) {
        throw this.end(A2AError.from(thrown));
      }
    }
  }

  onResponse(response: unknown): void {
    for (const observer of this.#observers) observer.onResponse?.(response);
  }

  end(error: A2AError): A2AError;
  end(error: A2AError | undefined): A2AError | undefined;
  end(error: A2AError | undefined): A2AError | undefined {
    let result = error;
    for (let observer = this.#observers.pop(); observer; observer = this.#observers.pop())
      result = observer.onEnd(result) ?? result;
    return result;
  }
}

class InterceptedStream implements AsyncIterator<StreamEvent> {
  readonly #open: () => AsyncIterable<StreamEvent>;
  readonly #begin: () => InterceptedCall;
  #call: InterceptedCall | undefined;
  #inner: AsyncIterator<StreamEvent> | undefined;

  constructor(open: () => AsyncIterable<StreamEvent>, begin: () => InterceptedCall) {
    this.#open = open;
    this.#begin = begin;
  }

  async next(): Promise<IteratorResult<StreamEvent>> {
    if (!this.#inner) {
      this.#call = this.#begin();
      this.#inner = this.#open()[Symbol.asyncIterator]();
    }
    try {
      const next = await this.#inner.next();
      if (next.done) this.#end(undefined);
      else this.#call?.onResponse(next.value);
      return next;
    } catch (thrown) {
      throw this.#end(A2AError.from(thrown)) ?? thrown;
    }
  }

  async return(): Promise<IteratorResult<StreamEvent>> {
    await this.#inner?.return?.();
    this.#end(undefined);
    return { done: true, value: undefined };
  }

  #end(error: A2AError | undefined): A2AError | undefined {
    const call = this.#call;
    this.#call = undefined;
    return call ? call.end(error) : error;
  }
}
