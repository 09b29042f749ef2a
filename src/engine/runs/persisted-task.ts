import { A2AError } from '../../protocol/errors.ts';
import type { Task } from '../../protocol/task.ts';
import type { TaskLog } from '../../store/task-store.ts';

/**
 * Waits until no event is pending: all are persisted, or discarded because another process has become the writer of the task.
 * The log then contains the events of that process.
 *
 * @returns undefined if no event is pending
 */
export function whenSettled(log: TaskLog): Promise<void> | undefined {
  const persisting = log.whenPersisted();
  return persisting && Promise.resolve(persisting).catch((error: unknown) => refreshLost(log, error));
}

async function refreshLost(log: TaskLog, error: unknown): Promise<void> {
  if (!isConflict(error)) throw error;
  await log.refresh?.();
}

/** Returns true if another process has become the writer of the task. */
export function isConflict(error: unknown): boolean {
  return A2AError.from(error).reason === 'CONFLICT';
}

/** Returns the task when no event is pending. */
export function persistedTask(log: TaskLog): Promise<Task> | Task {
  const settling = whenSettled(log);
  return settling ? settling.then(() => log.task()) : log.task();
}
