/**
 * Names that a caller made for tasks whose agent makes its own: both names of each, and the translation between them.
 *
 * @module
 */
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { Task } from '../protocol/task.ts';

/** A task by both of its names, and the context likewise. */
export interface TaskIdAlias {
  readonly claimedId: string;
  readonly claimedContext: string | undefined;
  taskId: string;
  contextId: string;
}

/** A name that is being given: whoever asks meanwhile waits for it. */
interface Pending {
  readonly settled: Promise<void>;
}

/** What a send that names its own task may do. */
export type AliasClaim =
  | { readonly known: TaskIdAlias }
  | {
      readonly known?: undefined;
      /** The agent gave the task this name. */
      given(taskId: string, contextId: string): TaskIdAlias;
      /** There is no task after all. */
      dropped(): void;
    };

/** Remembers the names of tasks; the oldest is forgotten first. */
export class TaskIdAliases {
  readonly #size: number;
  readonly #known = new Map<string, TaskIdAlias | Pending>();

  constructor(size = 10_000) {
    this.#size = size;
  }

  /** The other name of a task, if it has one. */
  find(owner: string | undefined, claimedId: string): TaskIdAlias | undefined {
    const entry = this.#known.get(keyOf(owner, claimedId));
    return entry && 'taskId' in entry ? entry : undefined;
  }

  /** Takes a name for a task that may or may not exist yet. */
  async claim(owner: string | undefined, claimedId: string, claimedContext?: string): Promise<AliasClaim> {
    const key = keyOf(owner, claimedId);
    for (;;) {
      const entry = this.#known.get(key);
      if (!entry) return this.#begin(key, claimedId, claimedContext);
      if ('taskId' in entry) return { known: entry };
      await entry.settled;
    }
  }

  #begin(key: string, claimedId: string, claimedContext: string | undefined): AliasClaim {
    let settle = (): void => {};
    const pending: Pending = {
      settled: new Promise((resolve) => {
        settle = resolve;
      }),
    };
    this.#put(key, pending);
    return {
      given: (taskId, contextId) => {
        const alias = { claimedId, claimedContext, taskId, contextId };
        this.#put(key, alias);
        settle();
        return alias;
      },
      dropped: () => {
        if (this.#known.get(key) === pending) this.#known.delete(key);
        settle();
      },
    };
  }

  #put(key: string, entry: TaskIdAlias | Pending): void {
    this.#known.delete(key);
    this.#known.set(key, entry);
    if (this.#known.size <= this.#size) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      break;
    }
  }
}

function keyOf(owner: string | undefined, claimedId: string): string {
  return `${owner ?? ''}\n${claimedId}`;
}

/** A message in the names that the caller made. */
function claimedMessage(message: Message, alias: TaskIdAlias): Message {
  const { claimedId, claimedContext, taskId, contextId } = alias;
  const renamed = { ...message };
  if (message.taskId === taskId) renamed.taskId = claimedId;
  if (claimedContext !== undefined && message.contextId === contextId) renamed.contextId = claimedContext;
  return renamed;
}

/** A task in the names that the caller made. Only callers of 0.1 make names, and expect answers in 0.1 from then on. */
export function applyAliasToTask(task: Task, alias: TaskIdAlias): Task {
  const renamed: Task = {
    ...task,
    id: alias.claimedId,
    contextId: alias.claimedContext ?? task.contextId,
    originVersion: '0.1',
  };
  if (task.status.message)
    renamed.status = { ...task.status, message: claimedMessage(task.status.message, alias) };
  if (task.history) renamed.history = task.history.map((each) => claimedMessage(each, alias));
  return renamed;
}

/** An event in the names that the caller made. */
export function applyAliasToEvent(event: StreamEvent, alias: TaskIdAlias): StreamEvent {
  switch (event.kind) {
    case 'task':
      return { ...event, task: applyAliasToTask(event.task, alias) };
    case 'message':
      return { ...event, message: claimedMessage(event.message, alias) };
    case 'artifact':
      return {
        ...event,
        taskId: alias.claimedId,
        contextId: alias.claimedContext ?? event.contextId,
      };
    case 'status': {
      const { message } = event.status;
      return {
        ...event,
        taskId: alias.claimedId,
        contextId: alias.claimedContext ?? event.contextId,
        status: message ? { ...event.status, message: claimedMessage(message, alias) } : event.status,
      };
    }
  }
}
