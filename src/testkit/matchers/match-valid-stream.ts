import { lint } from '../../protocol/lint-stream.ts';
import { brokenLine, eventLine } from './format-event.ts';
import { type Events, judged } from './collect-events.ts';
import { verdict, type VerdictOn } from './matcher-result.ts';

/** Finds whether events are a legal story of one task; what is only seldom meant is legal. */
export function legalStream<Actual extends Events>(actual: Actual): VerdictOn<Actual> {
  return judged(actual, 'toBeLegalStream', ({ events, broken }) => {
    const errors = lint(events).filter(({ level }) => level === 'error');
    return verdict(errors.length === 0 && !broken, {
      failed: () => [
        'Expected a legal stream',
        ...events.flatMap((event, at) => [
          `  ${at} ${eventLine(event)}`,
          ...errors
            .filter(({ index }) => index === at)
            .map(({ rule, message }) => `    ! ${rule}: ${message}`),
        ]),
        ...errors
          .filter(({ index }) => index >= events.length)
          .map(({ rule, message }) => `    ! ${rule}: ${message}`),
        ...(broken ? [`    ! ${brokenLine(broken)}`] : []),
      ],
      passed: () => [
        'Expected a stream that is not legal',
        ...events.map((event) => `  ${eventLine(event)}`),
      ],
    });
  });
}
