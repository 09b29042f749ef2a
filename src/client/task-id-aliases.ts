/**
 * Aliases for task ids: a 0.1 client chooses the id of its task, while agents of later versions assign their own.
 *
 * @module
 */
import { compositeKey } from '../primitives/composite-key.ts';
import { LruMap } from '../primitives/lru-map.ts';
import type { MaybePromise } from '../primitives/maybe-promise.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { Task } from '../protocol/task.ts';

/** Ids of a task as the client and the agent know it. */
export interface TaskIdAlias {
  readonly clientTaskId: string;
  readonly clientContextId: string | undefined;
  taskId: string;
  contextId: string;
}

/** Keeps aliases beyond the lifetime of a client. */
export interface TaskIdAliasStore {
  get(key: string): MaybePromise<TaskIdAlias | undefined>;
  set(key: string, alias: TaskIdAlias): MaybePromise<void>;
}

/** An alias that is being assigned. Concurrent claims wait for it. */
interface PendingAlias {
  readonly settled: Promise<void>;
}

/** Result of {@link TaskIdAliases.claim}: the existing alias, or the right to assign it. */
export type AliasClaim =
  | { readonly known: TaskIdAlias }
  | {
      readonly known?: undefined;
      /** Assigns the id that the agent chose. */
      assign(taskId: string, contextId: string): Promise<TaskIdAlias>;
      /** Releases the claim because no task was created. */
      release(): void;
    };

/** Task id aliases per owner: an LRU map in front of a store. */
export class TaskIdAliases {
  readonly #aliases: LruMap<string, TaskIdAlias | PendingAlias>;
  readonly #byTaskId: LruMap<string, TaskIdAlias>;
  readonly #store: TaskIdAliasStore | undefined;

  constructor(maxEntries = 10_000, store?: TaskIdAliasStore) {
    this.#aliases = new LruMap({ maxEntries });
    this.#byTaskId = new LruMap({ maxEntries });
    this.#store = store;
  }

  find(owner: string | undefined, clientTaskId: string): MaybePromise<TaskIdAlias | undefined> {
    const key = compositeKey(owner ?? '', clientTaskId);
    const entry = this.#aliases.get(key);
    if (entry) return 'taskId' in entry ? entry : undefined;
    return this.#store?.get(key);
  }

  /** Finds the alias of a task of the agent, such as one in a list. */
  findByTaskId(owner: string | undefined, taskId: string): MaybePromise<TaskIdAlias | undefined> {
    const key = agentKey(owner, taskId);
    return this.#byTaskId.get(key) ?? this.#store?.get(key);
  }

  /** Claims a client task id. Waits for a concurrent claim of the same id. */
  async claim(
    owner: string | undefined,
    clientTaskId: string,
    clientContextId?: string,
  ): Promise<AliasClaim> {
    const key = compositeKey(owner ?? '', clientTaskId);
    const stored = this.#aliases.has(key) ? undefined : await this.#store?.get(key);
    if (stored && !this.#aliases.has(key)) this.#aliases.set(key, stored);
    for (;;) {
      const entry = this.#aliases.get(key);
      if (!entry) return this.#begin(owner, clientTaskId, clientContextId);
      if ('taskId' in entry) return { known: entry };
      await entry.settled;
    }
  }

  #begin(owner: string | undefined, clientTaskId: string, clientContextId: string | undefined): AliasClaim {
    const key = compositeKey(owner ?? '', clientTaskId);
    let settle = (): void => {};
    const pending: PendingAlias = {
      settled: new Promise((resolve) => {
        settle = resolve;
      }),
    };
    this.#aliases.set(key, pending);
    return {
      assign: async (taskId, contextId) => {
        const alias = { clientTaskId, clientContextId, taskId, contextId };
        this.#aliases.set(key, alias);
        settle();
        await this.#store?.set(key, alias);
        if (taskId !== clientTaskId) {
          this.#byTaskId.set(agentKey(owner, taskId), alias);
          await this.#store?.set(agentKey(owner, taskId), alias);
        }
        return alias;
      },
      release: () => {
        if (this.#aliases.get(key) === pending) this.#aliases.delete(key);
        settle();
      },
    };
  }
}

/** Key of an alias under the task id of the agent. It has one component more, so that it equals no client task id. */
function agentKey(owner: string | undefined, taskId: string): string {
  return compositeKey(owner ?? '', 'agent', taskId);
}

function applyAliasToMessage(message: Message, alias: TaskIdAlias): Message {
  const { clientTaskId, clientContextId, taskId, contextId } = alias;
  const renamed = { ...message };
  if (message.taskId === taskId) renamed.taskId = clientTaskId;
  if (clientContextId !== undefined && message.contextId === contextId) renamed.contextId = clientContextId;
  return renamed;
}

/** Replaces the ids of a task by those of the client. Only 0.1 clients choose ids, and expect the 0.1 format. */
export function applyAliasToTask(task: Task, alias: TaskIdAlias): Task {
  const renamed: Task = {
    ...task,
    id: alias.clientTaskId,
    contextId: alias.clientContextId ?? task.contextId,
    originVersion: '0.1',
  };
  if (task.status.message)
    renamed.status = { ...task.status, message: applyAliasToMessage(task.status.message, alias) };
  if (task.history) renamed.history = task.history.map((each) => applyAliasToMessage(each, alias));
  return renamed;
}

/** Replaces the ids of an event by those of the client. */
export function applyAliasToEvent(event: StreamEvent, alias: TaskIdAlias): StreamEvent {
  switch (event.kind) {
    case 'task':
      return { ...event, task: applyAliasToTask(event.task, alias) };
    case 'message':
      return { ...event, message: applyAliasToMessage(event.message, alias) };
    case 'artifact':
      return {
        ...event,
        taskId: alias.clientTaskId,
        contextId: alias.clientContextId ?? event.contextId,
      };
    case 'status': {
      const { message } = event.status;
      return {
        ...event,
        taskId: alias.clientTaskId,
        contextId: alias.clientContextId ?? event.contextId,
        status: message ? { ...event.status, message: applyAliasToMessage(message, alias) } : event.status,
      };
    }
  }
}
