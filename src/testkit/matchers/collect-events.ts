import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { shown } from './format-value.ts';
import type { Verdict, VerdictOn } from './matcher-result.ts';

/** The events of a stream: a list of them, or the stream itself, which is read to its end. */
export type Events = Iterable<StreamEvent> | AsyncIterable<StreamEvent>;

/** Events, and what broke the stream that gave them. */
export interface Gathered {
  readonly events: readonly StreamEvent[];
  /** Undefined for a stream that ended properly. */
  readonly broken: Error | undefined;
}

/** How many events a stream may have before it is taken for endless. */
const maxEvents = 100_000;

/** Judges events: at once where they are all there, else when the stream has ended or broken. */
export function judged<Actual extends Events>(
  actual: Actual,
  matcher: string,
  judge: (gathered: Gathered) => Verdict,
): VerdictOn<Actual> {
  if (isAsync(actual)) return gather(actual).then(judge) as VerdictOn<Actual>;
  if (typeof actual !== 'object' || actual === null || !(Symbol.iterator in actual))
    throw new A2AError(
      'INVALID_PARAMS',
      `${matcher} looks at the events of a stream, not at ${shown(actual)}`,
    );
  return judge({ events: [...(actual as Iterable<StreamEvent>)], broken: undefined }) as VerdictOn<Actual>;
}

function isAsync(actual: Events): actual is AsyncIterable<StreamEvent> {
  return typeof actual === 'object' && actual !== null && Symbol.asyncIterator in actual;
}

async function gather(stream: AsyncIterable<StreamEvent>): Promise<Gathered> {
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
