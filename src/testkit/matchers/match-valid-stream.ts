import { lintStream } from '../../protocol/lint-stream.ts';
import { formatStreamError, formatEvent } from './format-event.ts';
import { type EventInput, evaluateEvents } from './collect-events.ts';
import { matcherResult, type MatcherResultFor } from './matcher-result.ts';

/** Matcher: the events are a valid stream of one task. Lint warnings do not count. */
export function matchValidStream<Actual extends EventInput>(actual: Actual): MatcherResultFor<Actual> {
  return evaluateEvents(actual, 'toBeValidStream', ({ events, error }) => {
    const errors = lintStream(events).filter(({ level }) => level === 'error');
    const errorLines = (isShown: (index: number) => boolean): string[] =>
      errors.filter(({ index }) => isShown(index)).map(({ rule, message }) => `    ! ${rule}: ${message}`);
    return matcherResult(errors.length === 0 && !error, {
      failed: () => [
        'Expected a valid stream',
        ...events.flatMap((event, position) => [
          `  ${position} ${formatEvent(event)}`,
          ...errorLines((index) => index === position),
        ]),
        ...errorLines((index) => index >= events.length),
        ...(error ? [`    ! ${formatStreamError(error)}`] : []),
      ],
      passed: () => ['Expected an invalid stream', ...events.map((event) => `  ${formatEvent(event)}`)],
    });
  });
}
