import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { formatValue } from './format-value.ts';
import type { MatcherResult, MatcherResultFor } from './matcher-result.ts';

/** A list of events, or a stream, which is read to its end. */
export type EventInput = Iterable<StreamEvent> | AsyncIterable<StreamEvent>;

/** Events of a stream and the error that ended it. */
export interface CollectedEvents {
  readonly events: readonly StreamEvent[];
  /** Undefined if the stream ended regularly. */
  readonly error: Error | undefined;
}

/** Maximum number of events; a longer stream is considered endless. */
const maxEvents = 100_000;

/** Evaluates events: at once for a list, at the end of the stream for an async iterable. */
export function evaluateEvents<Actual extends EventInput>(
  actual: Actual,
  matcher: string,
  evaluate: (collected: CollectedEvents) => MatcherResult,
): MatcherResultFor<Actual> {
  if (isAsyncIterable(actual)) return collectEvents(actual).then(evaluate) as MatcherResultFor<Actual>;
  if (typeof actual !== 'object' || actual === null || !(Symbol.iterator in actual))
    throw new A2AError(
      'INVALID_PARAMS',
      `${matcher} expects the events of a stream, got ${formatValue(actual)}`,
    );
  return evaluate({
    events: [...(actual as Iterable<StreamEvent>)],
    error: undefined,
  }) as MatcherResultFor<Actual>;
}

function isAsyncIterable(actual: EventInput): actual is AsyncIterable<StreamEvent> {
  return typeof actual === 'object' && actual !== null && Symbol.asyncIterator in actual;
}

async function collectEvents(stream: AsyncIterable<StreamEvent>): Promise<CollectedEvents> {
  const events: StreamEvent[] = [];
  try {
    for await (const event of stream) {
      if (events.length === maxEvents)
        throw new A2AError('RESOURCE_EXHAUSTED', `The stream has more than ${maxEvents} events`);
      events.push(event);
    }
  } catch (thrown) {
    return { events, error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }
  return { events, error: undefined };
}
