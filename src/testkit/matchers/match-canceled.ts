import { type Captured, capturedBy, timelineLines } from './request-capture.ts';
import { type Verdict, verdict } from './matcher-result.ts';

/** Finds whether somebody asked a test agent to cancel a task; any at all when none is named. */
export function beenCanceled(server: Captured, taskId?: string): Verdict {
  const captured = capturedBy(server, 'toHaveBeenCanceled');
  const { canceled } = captured;
  const what = taskId === undefined ? 'a task' : `task ${taskId}`;
  return verdict(taskId === undefined ? canceled.length > 0 : canceled.includes(taskId), {
    failed: () => [
      `Expected somebody to have canceled ${what}`,
      canceled.length === 0 ? 'Nobody canceled anything.' : `Canceled were: ${canceled.join(', ')}`,
      ...timelineLines(captured),
    ],
    passed: () => [`Expected nobody to have canceled ${what}`, ...timelineLines(captured)],
  });
}
