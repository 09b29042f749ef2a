import type { Clock } from '../../primitives/clock.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';

/** Middleware that ends streams with `TIMEOUT` after a total duration, even if events still arrive. */
export function withTotalTimeout<A extends Agent>(agent: A, milliseconds: number, clock: Clock): A {
  const withTimeout = (open: (call: CallContext) => AsyncIterable<StreamEvent>, call: CallContext = {}) => ({
    [Symbol.asyncIterator]: () => new TimedStream(open, call, { milliseconds, clock }),
  });
  return {
    ...agent,
    stream: (request, call) => withTimeout((own) => agent.stream(request, own), call),
    subscribe: (request, call) => withTimeout((own) => agent.subscribe(request, own), call),
  };
}

class TimedStream implements AsyncIterator<StreamEvent> {
  readonly #inner: AsyncIterator<StreamEvent>;
  readonly #timeout = new AbortController();
  readonly #milliseconds: number;
  readonly #start: () => () => void;
  #cancel: (() => void) | undefined;

  constructor(
    open: (call: CallContext) => AsyncIterable<StreamEvent>,
    call: CallContext,
    { milliseconds, clock }: { milliseconds: number; clock: Clock },
  ) {
    const { signal: timeout } = this.#timeout;
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    this.#milliseconds = milliseconds;
    this.#start = () => clock.after(milliseconds, () => this.#timeout.abort());
    this.#inner = open({ ...call, signal })[Symbol.asyncIterator]();
  }

  async next(): Promise<IteratorResult<StreamEvent>> {
    this.#cancel ??= this.#start();
    try {
      const next = await this.#inner.next();
      if (next.done) this.#cancel();
      return next;
    } catch (thrown) {
      this.#cancel();
      if (!this.#timeout.signal.aborted) throw thrown;
      const message = `The stream exceeded its total timeout of ${this.#milliseconds / 1000} s`;
      throw new A2AError('TIMEOUT', message, { cause: thrown });
    }
  }

  async return(): Promise<IteratorResult<StreamEvent>> {
    this.#cancel?.();
    await this.#inner.return?.();
    return { done: true, value: undefined };
  }
}
