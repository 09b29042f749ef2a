import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import { truncate } from '../../primitives/text.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TaskState } from '../../protocol/task.ts';

/** Task that a request, result or event refers to. */
export interface TaskReference {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state?: TaskState;
}

/** Fields of requests, results and events that may refer to a task. */
interface TaskFields {
  readonly kind?: string;
  readonly id?: string;
  readonly taskId?: string;
  readonly clientTaskId?: string;
  readonly contextId?: string;
  readonly status?: { readonly state: TaskState };
  readonly message?: TaskFields;
  readonly task?: TaskFields;
}

/** Returns the task that a request, result or event refers to. */
export function findTaskReference(model: unknown): TaskReference {
  const { kind, id, taskId, clientTaskId, contextId, status, message, task } = (model ?? {}) as TaskFields;
  if (kind === 'task') return findTaskReference(task);
  const inner = message && status === undefined ? message : undefined;
  // A push configuration has an id in addition to the id of its task.
  const referencedId = taskId ?? clientTaskId ?? inner?.taskId ?? id;
  const context = contextId ?? inner?.contextId;
  // In a list request, `status` is a filter: a string, not a status object.
  const state = typeof status === 'object' ? status.state : undefined;
  return {
    ...(referencedId !== undefined && { taskId: referencedId }),
    ...(context !== undefined && { contextId: context }),
    ...(state !== undefined && { state }),
  };
}

/** Summarizes content that cannot be decoded. */
export function notReadable(what: string, thrown: unknown): string {
  return truncate(`${what}, not readable: ${A2AError.from(thrown).message}`, 160);
}

/** Returns an object with `losses`, or an empty object if there are none. */
export function nonEmptyLosses(losses: readonly TranslationLoss[]): { losses?: readonly TranslationLoss[] } {
  return losses.length === 0 ? {} : { losses };
}
