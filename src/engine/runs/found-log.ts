import { taskNotFound } from '../../protocol/errors.ts';
import type { TaskLog } from '../../store/task-store.ts';

/** Returns the log of a task. @throws `A2AError` `TASK_NOT_FOUND` if there is none. */
export function found(log: TaskLog | undefined, id: string): TaskLog {
  if (log) return log;
  throw taskNotFound(id);
}
