import type { TaskState } from '../../protocol/task.ts';
import { ExpiringMap } from '../expiring-map.ts';
import type { ReplyAddress } from './mesh-reply.ts';
import type { RequestRun } from './request-run.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';

/** A task by its name on the mesh, and by the one that its agent gave it. */
export interface MeshTask {
  readonly id: string;
  readonly user: string;
  readonly contextId: string;
  /** Where its newest request wants to be answered. */
  address: ReplyAddress;
  /** What works on it now. */
  readonly runs: Set<RequestRun>;
  /** Its name at the agent, once the agent has spoken. */
  downstreamId?: string;
  downstreamContextId?: string;
  state?: TaskState;
}

/** What is known of a context: its name at the agent, and which task of it waits for words. */
interface MeshContext {
  downstreamId?: string;
  waiting?: MeshTask;
}

/** The tasks that were asked for on the mesh, for a while. */
export class MeshTasks {
  readonly #tasks: ExpiringMap<MeshTask>;
  readonly #contexts: ExpiringMap<MeshContext>;

  constructor({ limits, clock }: MeshServerSettings) {
    const memory = { size: limits.tasks, age: limits.age, clock };
    this.#tasks = new ExpiringMap({ ...memory, isNeeded: ({ runs }) => runs.size > 0 });
    this.#contexts = new ExpiringMap(memory);
  }

  get size(): number {
    return this.#tasks.size;
  }

  find(id: string): MeshTask | undefined {
    return this.#tasks.get(id);
  }

  /** Puts a task, or puts it anew. */
  keep(task: MeshTask): void {
    this.#tasks.set(task.id, task);
  }

  /** The task of a context that waits for words. */
  waitingIn(user: string, contextId: string): MeshTask | undefined {
    return this.#contexts.get(keyOf(user, contextId))?.waiting;
  }

  /** How the agent calls a context. */
  contextOf(user: string, contextId: string): string | undefined {
    return this.#contexts.get(keyOf(user, contextId))?.downstreamId;
  }

  /** Notes how the agent calls a task and its context. */
  learn(task: MeshTask, ids: { taskId: string; contextId: string }): void {
    task.downstreamId = ids.taskId;
    if (ids.contextId === '') return;
    task.downstreamContextId = ids.contextId;
    if (ids.contextId !== task.contextId) this.#context(task).downstreamId = ids.contextId;
  }

  /** Notes in which state a task rests. */
  rest(task: MeshTask, state: TaskState, isWaiting: boolean): void {
    task.state = state;
    this.#tasks.set(task.id, task);
    if (isWaiting) this.#context(task).waiting = task;
    else {
      const known = this.#contexts.get(keyOf(task.user, task.contextId));
      if (known?.waiting?.downstreamId === task.downstreamId) delete known?.waiting;
    }
  }

  #context({ user, contextId }: MeshTask): MeshContext {
    const key = keyOf(user, contextId);
    const context = this.#contexts.get(key) ?? {};
    this.#contexts.set(key, context);
    return context;
  }
}

function keyOf(user: string, contextId: string): string {
  return JSON.stringify([user, contextId]);
}
