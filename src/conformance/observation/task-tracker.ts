import type {
  NormalizedArtifact,
  NormalizedEvent,
  TaskStateName,
  NormalizedTask,
} from '../drivers/normalized-views.ts';
import { partsToText } from '../drivers/normalized-views.ts';

/** Terminal task states. */
export const terminalStates: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled', 'rejected']);

/** States in which the agent does not work on the task: terminal and interrupted ones. */
export const restingStates: ReadonlySet<string> = new Set([
  ...terminalStates,
  'input-required',
  'auth-required',
]);

/** State of one task, collected from all observations of it. */
export interface TrackedTask {
  contextId: string | undefined;
  /** The latest state. A terminal state is never replaced. */
  state: TaskStateName;
  /** Content of each artifact of the finished task, by artifact id. */
  readonly artifacts: Map<string, string>;
  /** `performance.now()` when the task was observed to become terminal; undefined if it was terminal from the start. */
  endedAt: number | undefined;
}

/** Tracks the tasks that the suite created. */
export class TaskTracker {
  readonly #tasks = new Map<string, TrackedTask>();

  get(id: string | undefined): TrackedTask | undefined {
    return id === undefined ? undefined : this.#tasks.get(id);
  }

  /** Records a task. A state after a terminal one is ignored, because responses can arrive out of order. */
  recordTask(task: NormalizedTask): void {
    if (task.id === undefined) return;
    const trackedTask = this.#recordState(task.id, task.contextId, task.state);
    if (terminalStates.has(task.state))
      for (const artifact of task.artifacts ?? [])
        trackedTask.artifacts.set(artifact.id, artifactContent(artifact));
  }

  recordEvent(event: NormalizedEvent): void {
    if (event.kind === 'task') this.recordTask(event.task);
    if (event.kind === 'status' && event.taskId !== undefined)
      this.#recordState(event.taskId, event.contextId, event.state);
  }

  #recordState(id: string, contextId: string | undefined, state: TaskStateName): TrackedTask {
    let trackedTask = this.#tasks.get(id);
    if (!trackedTask) {
      trackedTask = { contextId, state, artifacts: new Map(), endedAt: undefined };
      this.#tasks.set(id, trackedTask);
    }
    trackedTask.contextId ??= contextId;
    if (!terminalStates.has(trackedTask.state)) {
      trackedTask.state = state;
      if (terminalStates.has(state)) trackedTask.endedAt = performance.now();
    }
    return trackedTask;
  }
}

/** Returns the content of an artifact as one comparable text. */
export function artifactContent({ parts }: NormalizedArtifact): string {
  const text = partsToText(parts);
  return text === '' ? JSON.stringify(parts) : text;
}
