import { A2AError } from '../../protocol/errors.ts';
import type { Task } from '../../protocol/task.ts';

/**
 * Rejects a message for another generation of a task.
 *
 * @param expected - undefined accepts every generation.
 * @throws {@link A2AError} `TASK_GENERATION_MISMATCH`.
 */
export function checkGeneration({ id, generation = 0 }: Task, expected: number | undefined): void {
  if (expected === undefined || expected === generation) return;
  throw new A2AError(
    'TASK_GENERATION_MISMATCH',
    `The task has generation ${generation}, and the message is for generation ${expected}`,
    {
      details: {
        taskId: id,
        expectedGeneration: String(expected),
        currentGeneration: String(generation),
      },
    },
  );
}
