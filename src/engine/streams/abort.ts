import { raceAbort } from '../../primitives/abort.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';

/**
 * Returns the signal that a caller in this process passed. Server adapters define `signal` as a lazy getter on the
 * prototype, because creating it is expensive; they close their streams themselves.
 */
function ownSignal(call: CallContext): AbortSignal | undefined {
  return Object.hasOwn(call, 'signal') ? call.signal : undefined;
}

function abortReason(signal: AbortSignal): A2AError {
  return signal.reason instanceof A2AError ? signal.reason : canceledError(signal);
}

/** Rejects when the caller aborts; the operation itself continues. */
export function rejectOnAbort<T>(result: Promise<T>, call: CallContext): Promise<T> {
  const signal = ownSignal(call);
  return signal ? raceAbort(result, signal, abortReason) : result;
}

/** Ends a stream when the caller aborts; the task continues. */
export function endOnAbort<T>(events: AsyncIterable<T>, call: CallContext): AsyncIterable<T> {
  const signal = ownSignal(call);
  return signal ? streamUntilAbort(events, signal) : events;
}

/**
 * Ends a stream when the client of a server adapter disconnects, whose signal is inherited. For callers that wrap a local
 * agent: closing an async generator has no effect while it waits for an event.
 */
export function endOnDisconnect<T>(
  events: AsyncIterable<T>,
  call: CallContext | undefined,
): AsyncIterable<T> {
  const signal = call && !Object.hasOwn(call, 'signal') ? call.signal : undefined;
  return signal ? streamUntilAbort(events, signal) : events;
}

async function* streamUntilAbort<T>(
  events: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await raceAbort(iterator.next(), signal, abortReason);
      if (step.done) return;
      yield step.value;
    }
  } finally {
    // Not awaited: `return()` ends a pending `next()` of a log subscription.
    iterator.return?.().catch(() => {});
  }
}
