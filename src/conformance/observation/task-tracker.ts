import type {
  NormalizedArtifact,
  NormalizedEvent,
  TaskStateName,
  NormalizedTask,
} from '../drivers/normalized-views.ts';
import { partsToText } from '../drivers/normalized-views.ts';

/** States that nothing follows. */
export const terminalStates: ReadonlySet<TaskStateName> = new Set([
  'completed',
  'failed',
  'canceled',
  'rejected',
]);

/** States in which a task waits for its caller. */
export const interruptedStates: ReadonlySet<TaskStateName> = new Set(['input-required', 'auth-required']);

/** What is known of one task, from everything that was seen of it. */
export interface TrackedTask {
  readonly id: string;
  contextId: string | undefined;
  /** The newest state, and the newest timestamp. */
  state: TaskStateName;
  timestamp: string | undefined;
  /** Every state, as it was first seen. */
  readonly states: TaskStateName[];
  /** The text of each artifact once it was complete, by id. */
  readonly artifacts: Map<string, string>;
  /** How many messages we sent to it. */
  sentMessages: number;
  /** When we learned that it had ended, by the clock of `performance`. */
  endedAt: number | undefined;
}

/** What the suite knows of the tasks that it made. */
export class TaskTracker {
  readonly #tasks = new Map<string, TrackedTask>();

  get(id: string | undefined): TrackedTask | undefined {
    return id === undefined ? undefined : this.#tasks.get(id);
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Notes a task that was seen. Older news than what is known do not count, because answers overtake each other. */
  recordTask(task: NormalizedTask): void {
    if (task.id === undefined) return;
    const shadow = this.#shadow(task.id, task.contextId, task.state);
    this.#note(shadow, task.state, task.timestamp);
    if (terminalStates.has(task.state))
      for (const artifact of task.artifacts ?? [])
        shadow.artifacts.set(artifact.id, artifactContent(artifact));
  }

  /** Notes an event that was seen. */
  recordEvent(event: NormalizedEvent): void {
    if (event.kind === 'task') this.recordTask(event.task);
    if (event.kind === 'status' && event.taskId !== undefined)
      this.#note(this.#shadow(event.taskId, event.contextId, event.state), event.state, event.timestamp);
  }

  /** Notes that a message was sent to a task. */
  recordSentMessage(id: string | undefined): void {
    const shadow = this.get(id);
    if (shadow) shadow.sentMessages++;
  }

  #shadow(id: string, contextId: string | undefined, state: TaskStateName): TrackedTask {
    let shadow = this.#tasks.get(id);
    if (!shadow) {
      shadow = {
        id,
        contextId,
        state,
        timestamp: undefined,
        states: [],
        artifacts: new Map(),
        sentMessages: 1,
        endedAt: undefined,
      };
      this.#tasks.set(id, shadow);
    }
    shadow.contextId ??= contextId;
    return shadow;
  }

  #note(shadow: TrackedTask, state: TaskStateName, timestamp: string | undefined): void {
    if (!shadow.states.includes(state)) shadow.states.push(state);
    if (terminalStates.has(shadow.state)) return;
    shadow.state = state;
    if (terminalStates.has(state)) shadow.endedAt = performance.now();
    shadow.timestamp = timestamp ?? shadow.timestamp;
  }
}

/** What an artifact holds, as one text to compare. */
export function artifactContent({ parts }: NormalizedArtifact): string {
  const text = partsToText(parts);
  return text === '' ? JSON.stringify(parts) : text;
}
