import { type Clock, systemClock } from '../../primitives/clock.ts';
import type { RemoteAgent } from '../../client/connect.ts';
import { abortableStream } from '../../client/streaming/abortable-stream.ts';
import { type CallContext, isStreamingOperation } from '../../protocol/agent.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { withInterceptor } from '../../protocol/composition/with-interceptor.ts';
import type { Supervised } from './supervise.ts';

/** Options of {@link supervisedAgent}. */
export interface SupervisedAgentOptions {
  /** Milliseconds that a call waits until the agent is ready. @defaultValue 30 000 */
  restartTimeout?: number;
  clock?: Clock;
}

/**
 * Middleware that delays calls until the supervised agent is ready, so that a restart looks like a slow response. Calls
 * that an exit of the process interrupts fail, because their progress is unknown.
 */
export function supervisedAgent(
  supervised: Supervised,
  agent: RemoteAgent,
  { restartTimeout = 30_000, clock = systemClock }: SupervisedAgentOptions = {},
): RemoteAgent {
  const ready = (call: CallContext | undefined): Promise<void> =>
    whenReady(supervised, call?.signal, { restartTimeout, clock });
  const open = new Set<(reason: unknown) => void>();
  /** A client that disconnects before the agent is ready does not call it. */
  function streamWhenReady<T>(
    events: (call: CallContext) => AsyncIterable<T>,
    call: CallContext,
  ): AsyncIterable<T> {
    if (supervised.state === 'ready') return events(call);
    return abortableStream({ signal: call.signal, open }, async (signal) => {
      const own = { ...call, signal };
      await ready(own);
      return toBatches(events(own));
    });
  }
  const waiting: RemoteAgent = {
    ...agent,
    describe: (call) => ready(call).then(() => agent.describe(call)),
    check: (call) => ready(call).then(() => agent.check(call)),
  };
  return withInterceptor(waiting, {
    async card(request, call, next) {
      await ready(call);
      return next(request, call);
    },
    '*'(operation, request, call, next) {
      if (isStreamingOperation(operation))
        return streamWhenReady((own) => next(request, own) as AsyncIterable<StreamEvent>, call);
      const callWhenReady = async (): Promise<unknown> => {
        await ready(call);
        return next(request, call);
      };
      return callWhenReady();
    },
  });
}

async function* toBatches<T>(events: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  for await (const event of events) yield [event];
}

async function whenReady(
  supervised: Supervised,
  signal: AbortSignal | undefined,
  { restartTimeout, clock }: Required<SupervisedAgentOptions>,
): Promise<void> {
  if (supervised.state === 'ready') return;
  const timedOut = new AbortController();
  const stopTimer = clock.after(restartTimeout, () => timedOut.abort());
  try {
    await supervised.whenReady(signal ? AbortSignal.any([signal, timedOut.signal]) : timedOut.signal);
  } catch (thrown) {
    if (signal?.aborted) throw canceledError(signal);
    if (!timedOut.signal.aborted) throw thrown;
    const why = supervised.error ? `: ${supervised.error.message}` : '';
    throw new A2AError('UNAVAILABLE', `The agent is still ${supervised.state}${why}`, {
      cause: supervised.error,
      hint: 'Try again later; the agent is restarting.',
    });
  } finally {
    stopTimer();
  }
}
