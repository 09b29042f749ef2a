import { type RequestCapture, toRequestCapture, formatTimeline } from './request-capture.ts';
import { type MatcherResult, matcherResult } from './matcher-result.ts';

/** Finds whether somebody asked a test agent to cancel a task; any at all when none is named. */
export function matchCanceled(server: RequestCapture, taskId?: string): MatcherResult {
  const captured = toRequestCapture(server, 'toHaveBeenCanceled');
  const { canceledTaskIds: canceled } = captured;
  const what = taskId === undefined ? 'a task' : `task ${taskId}`;
  return matcherResult(taskId === undefined ? canceled.length > 0 : canceled.includes(taskId), {
    failed: () => [
      `Expected somebody to have canceled ${what}`,
      canceled.length === 0 ? 'Nobody canceled anything.' : `Canceled were: ${canceled.join(', ')}`,
      ...formatTimeline(captured),
    ],
    passed: () => [`Expected nobody to have canceled ${what}`, ...formatTimeline(captured)],
  });
}
