import type { TaskChange } from '../../protocol/reduce.ts';
import type { Task } from '../../protocol/task.ts';

/** The ids that all changes of a task have in common. */
type TaskIds = Pick<Task, 'id' | 'contextId'>;

/** Serializes changes without the ids of their task, which are stored with the task: a quarter of a short change. */
export function serializeChanges(changes: readonly TaskChange[]): string {
  return JSON.stringify(
    changes.map((change) =>
      change.kind === 'status' || change.kind === 'artifact'
        ? { ...change, taskId: undefined, contextId: undefined }
        : change,
    ),
  );
}

/**
 * Restores the ids that {@link serializeChanges} left out.
 *
 * @param ids - the ids of the task; not needed if the first change contains the task.
 */
export function restoreIds(changes: TaskChange[], ids: TaskIds | undefined): TaskChange[] {
  for (const change of changes) {
    if (change.kind === 'task') ids ??= change.task;
    else if (ids && (change.kind === 'status' || change.kind === 'artifact')) {
      change.taskId = ids.id;
      change.contextId = ids.contextId;
    }
  }
  return changes;
}
