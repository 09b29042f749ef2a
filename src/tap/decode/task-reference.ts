import type { Loss } from '../../dialects/translation-loss.ts';
import type { TaskState } from '../../protocol/task.ts';

/** What task something of the model is about. */
export interface About {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state?: TaskState;
}

/** A request, an answer or an event, as far as it may name a task. */
interface Naming {
  readonly kind?: string;
  readonly id?: string;
  readonly taskId?: string;
  readonly claimedTaskId?: string;
  readonly contextId?: string;
  readonly status?: { readonly state: TaskState };
  readonly message?: Naming;
  readonly task?: Naming;
}

/** Says which task something of the model is about: a request, an answer or an event. */
export function aboutOf(model: unknown): About {
  const { kind, id, taskId, claimedTaskId, contextId, status, message, task } = (model ?? {}) as Naming;
  if (kind === 'task') return aboutOf(task);
  const inner = message && status === undefined ? message : undefined;
  // A push configuration has an id of its own beside that of its task.
  const about = taskId ?? claimedTaskId ?? inner?.taskId ?? id;
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
export function lost(losses: readonly Loss[]): { losses?: readonly Loss[] } {
  return losses.length === 0 ? {} : { losses };
}
