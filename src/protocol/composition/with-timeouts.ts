import { raceAbort } from '../../primitives/abort.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { Agent, CallContext } from '../agent.ts';
import { A2AError } from '../errors.ts';
import type { StreamEvent } from '../event.ts';
import { withInterceptor } from './with-interceptor.ts';

/** Options of {@link withTimeouts}. Timeouts are in milliseconds; 0 disables one. */
export interface TimeoutOptions {
  /** Maximum time without an event of a stream, or until the response to a send. */
  readonly idle?: number;
  /** Maximum duration of a stream or send, even if events still arrive. */
  readonly total?: number;
  /** @defaultValue all three */
  readonly operations?: readonly ('send' | 'stream' | 'subscribe')[];
  readonly clock: Clock;
  /** Returns the text of the error. */
  readonly describe: (timeout: 'idle' | 'total', milliseconds: number) => string;
}

/** Middleware that ends sends and streams with `TIMEOUT`, and aborts them at the agent. */
export function withTimeouts<A extends Agent>(agent: A, options: TimeoutOptions): A {
  const { idle = 0, total = 0, operations = ['send', 'stream', 'subscribe'] } = options;
  if (idle <= 0 && total <= 0) return agent;
  return withInterceptor(agent, {
    ...(operations.includes('send') && {
      send: async (request, call, next) => {
        const timers = new CallTimers(options, call);
        try {
          return await timers.race(next(request, timers.call));
        } finally {
          timers.stop();
        }
      },
    }),
    ...(operations.includes('stream') && {
      stream: (request, call, next) => limitStream(options, call, (limited) => next(request, limited)),
    }),
    ...(operations.includes('subscribe') && {
      subscribe: (request, call, next) => limitStream(options, call, (limited) => next(request, limited)),
    }),
  });
}

async function* limitStream(
  options: TimeoutOptions,
  call: CallContext,
  open: (call: CallContext) => AsyncIterable<StreamEvent>,
): AsyncGenerator<StreamEvent> {
  const timers = new CallTimers(options, call);
  const events = open(timers.call)[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await timers.race(events.next());
      isOver = done === true;
      if (done) return;
      timers.restartIdle();
      yield value;
    }
  } finally {
    timers.stop();
    if (!isOver) void Promise.resolve(events.return?.()).catch(() => {});
  }
}

/** Timers of one call. */
class CallTimers {
  readonly call: CallContext;
  readonly #options: TimeoutOptions;
  readonly #timeout = new AbortController();
  readonly #stopTotal: () => void;
  #stopIdle: () => void = () => {};

  constructor(options: TimeoutOptions, call: CallContext) {
    this.#options = options;
    const { signal } = this.#timeout;
    this.call = { ...call, signal: call.signal ? AbortSignal.any([call.signal, signal]) : signal };
    this.#stopTotal = this.#start('total', options.total);
    this.restartIdle();
  }

  restartIdle(): void {
    this.#stopIdle();
    this.#stopIdle = this.#start('idle', this.#options.idle);
  }

  /** Settles like a promise of the agent, or rejects with the timeout, also if the agent ignores the signal. */
  race<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this.#timeout;
    return raceAbort(promise, signal).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
  }

  stop(): void {
    this.#stopTotal();
    this.#stopIdle();
  }

  #start(timeout: 'idle' | 'total', milliseconds = 0): () => void {
    const { clock, describe } = this.#options;
    if (milliseconds <= 0) return () => {};
    return clock.after(milliseconds, () =>
      this.#timeout.abort(new A2AError('TIMEOUT', describe(timeout, milliseconds))),
    );
  }
}
