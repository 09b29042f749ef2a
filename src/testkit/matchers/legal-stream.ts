import { lint } from '../../protocol/lint.ts';
import { brokenLine, eventLine } from './event-line.ts';
import { type Events, judged } from './gathered.ts';
import { verdict, type VerdictOn } from './verdict.ts';

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
