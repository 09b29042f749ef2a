/**
 * Names that a caller made for tasks whose agent makes its own: both names of each, and the translation between them.
 *
 * @module
 */
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { Task } from '../protocol/task.ts';

/** A task by both of its names, and the context likewise. */
export interface Alias {
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
export type Claim =
  | { readonly known: Alias }
  | {
      readonly known?: undefined;
      /** The agent gave the task this name. */
      given(taskId: string, contextId: string): Alias;
      /** There is no task after all. */
      dropped(): void;
    };

/** Remembers the names of tasks; the oldest is forgotten first. */
export class Aliases {
  readonly #size: number;
  readonly #known = new Map<string, Alias | Pending>();

  constructor(size = 10_000) {
    this.#size = size;
  }

  /** The other name of a task, if it has one. */
  find(owner: string | undefined, claimedId: string): Alias | undefined {
    const entry = this.#known.get(keyOf(owner, claimedId));
    return entry && 'taskId' in entry ? entry : undefined;
  }

  /** Takes a name for a task that may or may not exist yet. */
  async claim(owner: string | undefined, claimedId: string, claimedContext?: string): Promise<Claim> {
    const key = keyOf(owner, claimedId);
    for (;;) {
      const entry = this.#known.get(key);
      if (!entry) return this.#begin(key, claimedId, claimedContext);
      if ('taskId' in entry) return { known: entry };
      await entry.settled;
    }
  }

  #begin(key: string, claimedId: string, claimedContext: string | undefined): Claim {
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

  #put(key: string, entry: Alias | Pending): void {
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
function claimedMessage(message: Message, alias: Alias): Message {
  const { claimedId, claimedContext, taskId, contextId } = alias;
  const renamed = { ...message };
  if (message.taskId === taskId) renamed.taskId = claimedId;
  if (claimedContext !== undefined && message.contextId === contextId) renamed.contextId = claimedContext;
  return renamed;
}

/** A task in the names that the caller made. Only callers of 0.1 make names, and expect answers in 0.1 from then on. */
export function claimedTask(task: Task, alias: Alias): Task {
  const renamed: Task = {
    ...task,
    id: alias.claimedId,
    contextId: alias.claimedContext ?? task.contextId,
    origin: '0.1',
  };
  if (task.status.message)
    renamed.status = { ...task.status, message: claimedMessage(task.status.message, alias) };
  if (task.history) renamed.history = task.history.map((each) => claimedMessage(each, alias));
  return renamed;
}

/** An event in the names that the caller made. */
export function claimedEvent(event: StreamEvent, alias: Alias): StreamEvent {
  switch (event.kind) {
    case 'task':
      return { ...event, task: claimedTask(event.task, alias) };
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
