import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';

/** Hears how one call goes. */
export interface CallObserver {
  /** The agent gave its answer, or one event of a stream. */
  answered?(answer: unknown): void;
  /**
   * The call is over.
   *
   * @returns the error to give instead; undefined for the same.
   */
  ended(error: A2AError | undefined): A2AError | undefined;
}

/** Stands before an agent. */
export interface CallInterceptor {
  /** A call begins. What it throws is the answer, and those behind it never hear of the call. */
  begin(operation: Operation, request: unknown, call: CallContext): CallObserver;
}

/**
 * Puts hooks around the operations of an agent. The first is next to the agent; the last sees the call first and its
 * end last. The card passes by: it comes from memory as a rule.
 */
export function withInterceptors(agent: Agent, ...hooks: readonly CallInterceptor[]): Agent {
  async function ask<R, T>(
    operation: Operation,
    work: (request: R, call: CallContext) => Promise<T>,
    request: R,
    call: CallContext = {},
  ): Promise<T> {
    const passage = new InterceptedCall(hooks, operation, request, call);
    try {
      const answer = await work(request, call);
      passage.answered(answer);
      passage.end(undefined);
      return answer;
    } catch (thrown) {
      throw passage.end(A2AError.from(thrown));
    }
  }
  const follow = <R>(
    operation: Operation,
    open: (request: R, call: CallContext) => AsyncIterable<StreamEvent>,
    request: R,
    call: CallContext = {},
  ) => ({
    [Symbol.asyncIterator]: () =>
      new InterceptedStream(
        () => open(request, call),
        () => new InterceptedCall(hooks, operation, request, call),
      ),
  });
  return {
    card: (call) => agent.card(call),
    extendedCard: (call) => ask('extendedCard', (_none, own) => agent.extendedCard(own), {}, call),
    send: (request, call) => ask('send', (asked, own) => agent.send(asked, own), request, call),
    stream: (request, call) => follow('stream', (asked, own) => agent.stream(asked, own), request, call),
    getTask: (request, call) => ask('getTask', (asked, own) => agent.getTask(asked, own), request, call),
    listTasks: (request, call) =>
      ask('listTasks', (asked, own) => agent.listTasks(asked, own), request, call),
    cancelTask: (request, call) =>
      ask('cancelTask', (asked, own) => agent.cancelTask(asked, own), request, call),
    subscribe: (request, call) =>
      follow('subscribe', (asked, own) => agent.subscribe(asked, own), request, call),
    createPushConfig: (config, call) =>
      ask('createPushConfig', (asked, own) => agent.createPushConfig(asked, own), config, call),
    getPushConfig: (ref, call) =>
      ask('getPushConfig', (asked, own) => agent.getPushConfig(asked, own), ref, call),
    listPushConfigs: (request, call) =>
      ask('listPushConfigs', (asked, own) => agent.listPushConfigs(asked, own), request, call),
    deletePushConfig: (ref, call) =>
      ask('deletePushConfig', (asked, own) => agent.deletePushConfig(asked, own), ref, call),
    ...(agent.jwks && { jwks: agent.jwks.bind(agent) }),
    ...(agent.ready && { ready: agent.ready.bind(agent) }),
    ...(agent.close && { close: agent.close.bind(agent) }),
  };
}

/** One call on its way through the hooks. */
class InterceptedCall {
  /** From the outermost to the one next to the agent. */
  readonly #courses: CallObserver[] = [];

  constructor(hooks: readonly CallInterceptor[], operation: Operation, request: unknown, call: CallContext) {
    for (let i = hooks.length - 1; i >= 0; i--) {
      try {
        this.#courses.push((hooks[i] as CallInterceptor).begin(operation, request, call));
      } catch (thrown) {
        throw this.end(A2AError.from(thrown));
      }
    }
  }

  answered(answer: unknown): void {
    for (const course of this.#courses) course.answered?.(answer);
  }

  end(error: A2AError): A2AError;
  end(error: A2AError | undefined): A2AError | undefined;
  end(error: A2AError | undefined): A2AError | undefined {
    let told = error;
    for (let course = this.#courses.pop(); course; course = this.#courses.pop())
      told = course.ended(told) ?? told;
    return told;
  }
}

class InterceptedStream implements AsyncIterator<StreamEvent> {
  readonly #open: () => AsyncIterable<StreamEvent>;
  readonly #begin: () => InterceptedCall;
  #passage: InterceptedCall | undefined;
  #inner: AsyncIterator<StreamEvent> | undefined;

  constructor(open: () => AsyncIterable<StreamEvent>, begin: () => InterceptedCall) {
    this.#open = open;
    this.#begin = begin;
  }

  async next(): Promise<IteratorResult<StreamEvent>> {
    if (!this.#inner) {
      this.#passage = this.#begin();
      this.#inner = this.#open()[Symbol.asyncIterator]();
    }
    try {
      const next = await this.#inner.next();
      if (next.done) this.#end(undefined);
      else this.#passage?.answered(next.value);
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
    const passage = this.#passage;
    this.#passage = undefined;
    return passage ? passage.end(error) : error;
  }
}
