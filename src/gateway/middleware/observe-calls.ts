import { type CallContext, isStreamingOperation, type Operation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { AgentInterceptor } from '../../protocol/composition/with-interceptor.ts';

/** Observes one call. */
export interface CallObserver {
  /** Replaces the context of the call. */
  readonly call?: CallContext;
  /** Called with the result of the agent, or with each event of a stream. */
  onResponse?(response: unknown): void;
  /**
   * Called once when the call has ended.
   *
   * @returns an error that replaces `error`; undefined keeps it.
   */
  onEnd(error: A2AError | undefined): A2AError | undefined;
}

/** Starts to observe a call; undefined if it is not observed. A thrown error rejects the call before the agent sees it. */
type BeginCall = (operation: Operation, request: unknown, call: CallContext) => CallObserver | undefined;

/** Creates an interceptor that observes all calls, those with a stream from the first read to the end of the stream. */
export function observeCalls(begin: BeginCall): AgentInterceptor {
  return {
    '*': (operation, request, call, next) =>
      isStreamingOperation(operation)
        ? {
            [Symbol.asyncIterator]: () =>
              new ObservedStream(
                () => begin(operation, request, call),
                (observer) => next(request, observer?.call ?? call) as unknown as AsyncIterable<StreamEvent>,
              ),
          }
        : observe(begin(operation, request, call), (observer) => next(request, observer?.call ?? call)),
  };
}

async function observe(
  observer: CallObserver | undefined,
  operate: (observer: CallObserver | undefined) => unknown,
): Promise<unknown> {
  try {
    const response = await operate(observer);
    observer?.onResponse?.(response);
    observer?.onEnd(undefined);
    return response;
  } catch (thrown) {
    const error = A2AError.from(thrown);
    throw observer?.onEnd(error) ?? error;
  }
}

class ObservedStream implements AsyncIterator<StreamEvent> {
  readonly #begin: () => CallObserver | undefined;
  readonly #open: (observer: CallObserver | undefined) => AsyncIterable<StreamEvent>;
  #observer: CallObserver | undefined;
  #inner: AsyncIterator<StreamEvent> | undefined;

  constructor(
    begin: () => CallObserver | undefined,
    open: (observer: CallObserver | undefined) => AsyncIterable<StreamEvent>,
  ) {
    this.#begin = begin;
    this.#open = open;
  }

  async next(): Promise<IteratorResult<StreamEvent>> {
    if (!this.#inner) {
      this.#observer = this.#begin();
      this.#inner = this.#open(this.#observer)[Symbol.asyncIterator]();
    }
    try {
      const next = await this.#inner.next();
      if (next.done) this.#end(undefined);
      else this.#observer?.onResponse?.(next.value);
      return next;
    } catch (thrown) {
      const error = A2AError.from(thrown);
      throw this.#end(error) ?? error;
    }
  }

  async return(): Promise<IteratorResult<StreamEvent>> {
    await this.#inner?.return?.();
    this.#end(undefined);
    return { done: true, value: undefined };
  }

  #end(error: A2AError | undefined): A2AError | undefined {
    const observer = this.#observer;
    this.#observer = undefined;
    return observer?.onEnd(error);
  }
}
