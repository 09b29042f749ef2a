import { LruMap } from '../../primitives/lru-map.ts';
import { sharedViewOf } from '../../primitives/copies/shared-view.ts';
import type { CallContext } from '../../protocol/agent.ts';
import type { ListTasksRequest, SendRequest, TaskPage } from '../../protocol/requests.ts';
import { memoryTaskStore } from '../../store/memory-task-store.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { TestClock } from '../clock/test-clock.ts';
import type { TaskTimeline } from './task-timeline.ts';
import { ReplayedIds } from './replayed-ids.ts';
import { ReplayedTask, type ReplayTiming } from './replayed-task.ts';

/** Maximum number of tasks, contexts and messages of a replay. */
const maxEntries = 10_000;

/** Collaborators of {@link ReplayedTasks}. */
interface ReplayedTasksOptions {
  readonly clock: TestClock;
  readonly timing: ReplayTiming;
  readonly generateId: () => string;
}

/** The tasks and contexts of a replay by owner and id, and the recorded ones that they repeat. */
export class ReplayedTasks {
  readonly #options: ReplayedTasksOptions;
  readonly #tasks = new LruMap<string, ReplayedTask>({ maxEntries });
  /** Tasks by the id of their messages, for streams that are resumed. */
  readonly #byMessage = new LruMap<string, ReplayedTask>({ maxEntries });
  /** Recorded context ids. */
  readonly #contexts = new LruMap<string, string>({ maxEntries });
  readonly #store: TaskStore = sharedViewOf(memoryTaskStore({ maxTasks: maxEntries }));

  /** @param olderTasks - tasks that existed before the recording; they keep their ids. */
  constructor(options: ReplayedTasksOptions, olderTasks: readonly TaskTimeline[]) {
    this.#options = options;
    for (const recorded of olderTasks) {
      const { id, contextId } = recorded;
      const [first] = recorded.phases;
      this.#contexts.set(keyOf({}, contextId), contextId);
      if (first) this.#add(recorded, new ReplayedIds(), { id, contextId, call: {} }).start(first);
    }
  }

  async close(): Promise<void> {
    for (const task of this.#tasks.values()) task.close();
    await this.#store[Symbol.asyncDispose]();
  }

  find(call: CallContext, id: string | undefined): ReplayedTask | undefined {
    return id === undefined ? undefined : this.#tasks.get(keyOf(call, id));
  }

  findByMessage(call: CallContext, messageId: string): ReplayedTask | undefined {
    return this.#byMessage.get(keyOf(call, messageId));
  }

  addMessage(call: CallContext, messageId: string, task: ReplayedTask): void {
    this.#byMessage.set(keyOf(call, messageId), task);
  }

  async list(call: CallContext, request: ListTasksRequest): Promise<TaskPage> {
    return this.#store.list(call.owner ?? '', request);
  }

  /** Creates a task with the id of the client, the recorded id if it is free, or a new one. */
  create(
    recorded: TaskTimeline,
    ids: ReplayedIds,
    { message, clientTaskId }: SendRequest,
    call: CallContext,
  ): ReplayedTask {
    const contextId = this.openContext(recorded.contextId, message.contextId, call);
    const isFree = !this.#tasks.has(keyOf(call, recorded.id));
    const id = clientTaskId ?? (isFree ? recorded.id : this.#options.generateId());
    return this.#add(recorded, ids, { id, contextId, call });
  }

  /** Returns the id of a context: that of the client, the recorded one if it is free, or a new one. */
  openContext(recorded: string | undefined, received: string | undefined, call: CallContext): string {
    const isFree = recorded !== undefined && recorded !== '' && !this.#contexts.has(keyOf(call, recorded));
    const contextId = received ?? (isFree ? recorded : this.#options.generateId());
    if (recorded !== undefined) this.#contexts.set(keyOf(call, contextId), recorded);
    return contextId;
  }

  /** Returns the recorded id of a context. */
  recordedContext(contextId: string | undefined, call: CallContext): string | undefined {
    return contextId === undefined ? undefined : this.#contexts.get(keyOf(call, contextId));
  }

  #add(
    recorded: TaskTimeline,
    ids: ReplayedIds,
    { id, contextId, call }: { id: string; contextId: string; call: CallContext },
  ): ReplayedTask {
    const { clock, timing } = this.#options;
    ids.set(recorded.id, id);
    ids.set(recorded.contextId, contextId);
    const task = new ReplayedTask(recorded, {
      id,
      contextId,
      owner: call.owner ?? '',
      originVersion: call.version === '0.1' ? '0.1' : undefined,
      ids,
      clock,
      timing,
      store: this.#store,
    });
    this.#tasks.set(keyOf(call, id), task);
    return task;
  }
}

function keyOf({ owner = '' }: CallContext, id: string): string {
  return JSON.stringify([owner, id]);
}
