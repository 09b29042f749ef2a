import { type RequestCapture, toRequestCapture, formatTimeline } from './request-capture.ts';
import { type MatcherResult, matcherResult } from './matcher-result.ts';

/** Matcher: a test agent has received a cancel request, for a task or for any task. */
export function matchCanceled(server: RequestCapture, taskId?: string): MatcherResult {
  const captured = toRequestCapture(server, 'toHaveBeenCanceled');
  const { canceledTaskIds } = captured;
  const task = taskId === undefined ? 'a task' : `task ${taskId}`;
  return matcherResult(taskId === undefined ? canceledTaskIds.length > 0 : canceledTaskIds.includes(taskId), {
    failed: () => [
      `Expected a cancel request for ${task}`,
      canceledTaskIds.length === 0
        ? 'There were no cancel requests.'
        : `Canceled tasks: ${canceledTaskIds.join(', ')}`,
      ...formatTimeline(captured),
    ],
    passed: () => [`Expected no cancel request for ${task}`, ...formatTimeline(captured)],
  });
}
