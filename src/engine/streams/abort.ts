import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';

/**
 * The signal that a caller in this process gave. Faces have one for whoever looks, and making it costs; they end what
 * they have opened by themselves.
 */
function signalOf(call: CallContext): AbortSignal | undefined {
  return Object.hasOwn(call, 'signal') ? call.signal : undefined;
}

function canceled({ reason }: AbortSignal): A2AError {
  return reason instanceof A2AError ? reason : new A2AError('CANCELED', undefined, { cause: reason });
}

/** Ends the wait for an answer when the caller leaves; what was asked for goes on. */
export function rejectOnAbort<T>(answering: Promise<T>, call: CallContext): Promise<T> {
  const signal = signalOf(call);
  return signal ? left(answering, signal) : answering;
}

function left<T>(answering: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(canceled(signal));
    if (signal.aborted) {
      answering.catch(() => {});
      leave();
      return;
    }
    signal.addEventListener('abort', leave, { once: true });
    answering.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

/** Ends the following of a stream when the caller leaves; the task goes on. */
export function endOnAbort<T>(events: AsyncIterable<T>, call: CallContext): AsyncIterable<T> {
  const signal = signalOf(call);
  return signal ? followed(events, signal) : events;
}

async function* followed<T>(
  events: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await left(iterator.next(), signal);
      if (step.done) return;
      yield step.value;
    }
  } finally {
    // A follower that waits for its next event lets go of it when it is told to.
    void iterator.return?.();
  }
}
