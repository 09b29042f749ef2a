import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import type { TaskState } from '../../protocol/task.ts';

/** What task something of the model is about. */
export interface TaskReference {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state?: TaskState;
}

/** A request, an answer or an event, as far as it may name a task. */
interface Naming {
  readonly kind?: string;
  readonly id?: string;
  readonly taskId?: string;
  readonly clientTaskId?: string;
  readonly contextId?: string;
  readonly status?: { readonly state: TaskState };
  readonly message?: Naming;
  readonly task?: Naming;
}

/** Says which task something of the model is about: a request, an answer or an event. */
export function findTaskReference(model: unknown): TaskReference {
  const { kind, id, taskId, clientTaskId, contextId, status, message, task } = (model ?? {}) as Naming;
  if (kind === 'task') return findTaskReference(task);
  const inner = message && status === undefined ? message : undefined;
  // A push configuration has an id of its own beside that of its task.
  const about = taskId ?? clientTaskId ?? inner?.taskId ?? id;
  const context = contextId ?? inner?.contextId;
  // The state that somebody asks for in a list is only a word.
  const state = typeof status === 'object' ? status.state : undefined;
  return {
    ...(about !== undefined && { taskId: about }),
    ...(context !== undefined && { contextId: context }),
    ...(state !== undefined && { state }),
  };
}

/** What was lost when something was read, where that was anything. */
export function nonEmptyLosses(losses: readonly TranslationLoss[]): { losses?: readonly TranslationLoss[] } {
  return losses.length === 0 ? {} : { losses };
}
