import type { Clock } from '../../primitives/clock.ts';
import { type Agent, isStreamingOperation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { withInterceptor } from '../../protocol/composition/with-interceptor.ts';
import { observeCalls } from './observe-calls.ts';

/** Middleware that ends streams with `TIMEOUT` after a total duration, even if events still arrive. */
export function withTotalTimeout<A extends Agent>(agent: A, milliseconds: number, clock: Clock): A {
  const message = `The stream exceeded its total timeout of ${milliseconds / 1000} s`;
  return withInterceptor(
    agent,
    observeCalls((operation, _request, call) => {
      if (!isStreamingOperation(operation)) return undefined;
      const timeout = new AbortController();
      const stopTimer = clock.after(milliseconds, () => timeout.abort());
      return {
        call: { ...call, signal: anySignal(timeout.signal, call.signal) },
        onEnd(error) {
          stopTimer();
          return error && timeout.signal.aborted
            ? new A2AError('TIMEOUT', message, { cause: error })
            : undefined;
        },
      };
    }),
  );
}

function anySignal(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other ? AbortSignal.any([other, signal]) : signal;
}
