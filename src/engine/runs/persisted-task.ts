import type { Task } from '../../protocol/task.ts';
import type { TaskLog } from '../../store/task-store.ts';

/** Returns the task after all of its events are persisted. */
export function persistedTask(log: TaskLog): Promise<Task> | Task {
  const persisting = log.whenPersisted();
  return persisting ? Promise.resolve(persisting).then(() => log.task()) : log.task();
}
