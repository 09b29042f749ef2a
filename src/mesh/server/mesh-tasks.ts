import { compositeKey } from '../../primitives/composite-key.ts';
import type { TaskState } from '../../protocol/task.ts';
import { LruMap, LruSet } from '../../primitives/lru-map.ts';
import type { ReplyAddress } from './mesh-reply.ts';
import type { RequestRun } from './request-run.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';

/** Ids of a task on the mesh and at its agent (upstream). */
export interface MeshTask {
  readonly id: string;
  readonly user: string;
  readonly contextId: string;
  /** Destination of the response to its latest request. */
  address: ReplyAddress;
  /** Requests in progress. */
  readonly runs: Set<RequestRun>;
  /** Id at the agent, once known. */
  upstreamId?: string;
  upstreamContextId?: string;
  state?: TaskState;
}

/** Context id at the agent, and the interrupted task of the context. */
interface MeshContext {
  upstreamId?: string;
  interrupted?: MeshTask;
}

/** Milliseconds for which a cancel request waits for the message that starts its task. */
const earlyCancelAge = 300_000;

/** Tasks of the mesh, with bounded number and age. */
export class MeshTasks {
  readonly #tasks: LruMap<string, MeshTask>;
  readonly #contexts: LruMap<string, MeshContext>;
  /** Tasks that were canceled before the message that starts them arrived. */
  readonly #canceledEarly: LruSet<string>;

  constructor({ limits, clock }: MeshServerSettings) {
    const options = { maxEntries: limits.tasks, maxAge: limits.age, clock };
    this.#tasks = new LruMap({ ...options, canEvict: ({ runs }) => runs.size === 0 });
    this.#contexts = new LruMap(options);
    this.#canceledEarly = new LruSet({ ...options, maxAge: Math.min(limits.age, earlyCancelAge) });
  }

  get size(): number {
    return this.#tasks.size;
  }

  find(id: string): MeshTask | undefined {
    return this.#tasks.get(id);
  }

  store(task: MeshTask): void {
    this.#tasks.set(task.id, task);
  }

  /** Remembers the cancellation of an unknown task. A cancel request may omit its user. */
  cancelEarly(user: string | undefined, id: string): void {
    this.#canceledEarly.add(compositeKey(user ?? '', id));
  }

  /** Returns true once for a task that was canceled before it was known. */
  takeEarlyCancel({ user, id, upstreamId }: MeshTask): boolean {
    if (this.#canceledEarly.size === 0 || upstreamId !== undefined) return false;
    for (const key of [compositeKey(user, id), compositeKey('', id)]) {
      if (!this.#canceledEarly.has(key)) continue;
      this.#canceledEarly.delete(key);
      return true;
    }
    return false;
  }

  /** Returns the interrupted task of a context. */
  findInterrupted(user: string, contextId: string): MeshTask | undefined {
    return this.#contexts.get(compositeKey(user, contextId))?.interrupted;
  }

  /** Returns the id of a context at the agent. */
  upstreamContext(user: string, contextId: string): string | undefined {
    return this.#contexts.get(compositeKey(user, contextId))?.upstreamId;
  }

  /** Stores the ids of a task and its context at the agent. */
  setUpstreamIds(task: MeshTask, ids: { taskId: string; contextId: string }): void {
    task.upstreamId = ids.taskId;
    if (ids.contextId === '') return;
    task.upstreamContextId = ids.contextId;
    if (ids.contextId !== task.contextId) this.#context(task).upstreamId = ids.contextId;
  }

  /** Stores the terminal or interrupted state of a task. */
  setState(task: MeshTask, state: TaskState, isTaskInterrupted: boolean): void {
    task.state = state;
    this.#tasks.set(task.id, task);
    if (isTaskInterrupted) this.#context(task).interrupted = task;
    else {
      const known = this.#contexts.get(compositeKey(task.user, task.contextId));
      if (known?.interrupted?.upstreamId === task.upstreamId) delete known?.interrupted;
    }
  }

  #context({ user, contextId }: MeshTask): MeshContext {
    const key = compositeKey(user, contextId);
    const context = this.#contexts.get(key) ?? {};
    this.#contexts.set(key, context);
    return context;
  }
}
