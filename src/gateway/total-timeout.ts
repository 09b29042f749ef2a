import type { Clock } from '../client/clock.ts';
import type { Agent, Call } from '../protocol/agent.ts';
import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';

/** Ends streams that take longer than they may in all, however lively they are. */
export function withTotalTimeout<A extends Agent>(agent: A, milliseconds: number, clock: Clock): A {
  async function* within(
    open: (call: Call) => AsyncIterable<StreamEvent>,
    call: Call = {},
  ): AsyncGenerator<StreamEvent> {
    const stop = new AbortController();
    const signal = call.signal ? AbortSignal.any([call.signal, stop.signal]) : stop.signal;
    const cancel = clock.after(milliseconds, () => stop.abort());
    try {
      yield* open({ ...call, signal });
    } catch (thrown) {
      if (!stop.signal.aborted || call.signal?.aborted) throw thrown;
      throw new A2AError('TIMEOUT', `The stream took longer than ${milliseconds / 1000} s`, {
        cause: thrown,
      });
    } finally {
      cancel();
    }
  }
  return {
    ...agent,
    stream: (request, call) => within((own) => agent.stream(request, own), call),
    subscribe: (request, call) => within((own) => agent.subscribe(request, own), call),
  };
}
