import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { formatValue } from './format-value.ts';
import type { MatcherResult, MatcherResultFor } from './matcher-result.ts';

/** The events of a stream: a list of them, or the stream itself, which is read to its end. */
export type EventInput = Iterable<StreamEvent> | AsyncIterable<StreamEvent>;

/** Events, and what broke the stream that gave them. */
export interface CollectedEvents {
  readonly events: readonly StreamEvent[];
  /** Undefined for a stream that ended properly. */
  readonly broken: Error | undefined;
}

/** How many events a stream may have before it is taken for endless. */
const maxEvents = 100_000;

/** Judges events: at once where they are all there, else when the stream has ended or broken. */
export function evaluateEvents<Actual extends EventInput>(
  actual: Actual,
  matcher: string,
  judge: (gathered: CollectedEvents) => MatcherResult,
): MatcherResultFor<Actual> {
  if (isAsync(actual)) return gather(actual).then(judge) as MatcherResultFor<Actual>;
  if (typeof actual !== 'object' || actual === null || !(Symbol.iterator in actual))
    throw new A2AError(
      'INVALID_PARAMS',
      `${matcher} looks at the events of a stream, not at ${formatValue(actual)}`,
    );
  return judge({
    events: [...(actual as Iterable<StreamEvent>)],
    broken: undefined,
  }) as MatcherResultFor<Actual>;
}

function isAsync(actual: EventInput): actual is AsyncIterable<StreamEvent> {
  return typeof actual === 'object' && actual !== null && Symbol.asyncIterator in actual;
}

async function gather(stream: AsyncIterable<StreamEvent>): Promise<CollectedEvents> {
  const events: StreamEvent[] = [];
  try {
    for await (const event of stream) {
      if (events.length === maxEvents)
        throw new A2AError('RESOURCE_EXHAUSTED', `There are more than ${maxEvents} events`);
      events.push(event);
    }
  } catch (thrown) {
    return { events, broken: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }
  return { events, broken: undefined };
}
