import { lintStream } from '../../protocol/lint-stream.ts';
import { formatStreamError, formatEvent } from './format-event.ts';
import { type EventInput, evaluateEvents } from './collect-events.ts';
import { matcherResult, type MatcherResultFor } from './matcher-result.ts';

/** Finds whether events are a legal story of one task; what is only seldom meant is legal. */
export function matchValidStream<Actual extends EventInput>(actual: Actual): MatcherResultFor<Actual> {
  return evaluateEvents(actual, 'toBeLegalStream', ({ events, broken }) => {
    const errors = lintStream(events).filter(({ level }) => level === 'error');
    return matcherResult(errors.length === 0 && !broken, {
      failed: () => [
        'Expected a legal stream',
        ...events.flatMap((event, at) => [
          `  ${at} ${formatEvent(event)}`,
          ...errors
            .filter(({ index }) => index === at)
            .map(({ rule, message }) => `    ! ${rule}: ${message}`),
        ]),
        ...errors
          .filter(({ index }) => index >= events.length)
          .map(({ rule, message }) => `    ! ${rule}: ${message}`),
        ...(broken ? [`    ! ${formatStreamError(broken)}`] : []),
      ],
      passed: () => [
        'Expected a stream that is not legal',
        ...events.map((event) => `  ${formatEvent(event)}`),
      ],
    });
  });
}
