import { compositeKey } from '../../primitives/composite-key.ts';
import { LruMap, LruSet } from '../../primitives/lru-map.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isInterrupted, isTerminal, type TaskState } from '../../protocol/task.ts';
import type { ReplyAddress } from './mesh-reply.ts';
import type { RequestRun } from './request-run.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';

/** Ids of a task on the mesh and at its agent (upstream). */
export interface MeshTask {
  readonly id: string;
  readonly user: string;
  readonly contextId: string;
  /** Destination of the response to its latest request. */
  address?: ReplyAddress;
  /** Requests in progress. */
  readonly runs: Set<RequestRun>;
  /** Id at the agent, once known. */
  upstreamId?: string | undefined;
  upstreamContextId?: string | undefined;
  state?: TaskState | undefined;
}

/** Context id at the agent, and the interrupted task of the context. */
interface MeshContext {
  upstreamId?: string;
  interrupted?: MeshTask;
}

/** Milliseconds for which a cancel request waits for the message that starts its task. */
const earlyCancelAge = 300_000;

/** Tasks of the mesh and their ids at the agent, with bounded number and age. */
export class MeshTasks {
  readonly #settings: MeshServerSettings;
  readonly #tasks: LruMap<string, MeshTask>;
  readonly #contexts: LruMap<string, MeshContext>;
  /** Tasks that were canceled before the message that starts them arrived. */
  readonly #canceledEarly: LruSet<string>;

  constructor(settings: MeshServerSettings) {
    this.#settings = settings;
    const { limits, clock } = settings;
    const options = { maxEntries: limits.tasks, maxAge: limits.age, clock };
    this.#tasks = new LruMap({ ...options, canEvict: ({ runs }) => runs.size === 0 });
    this.#contexts = new LruMap(options);
    this.#canceledEarly = new LruSet({ ...options, maxAge: Math.min(limits.age, earlyCancelAge) });
  }

  find(id: string): MeshTask | undefined {
    return this.#tasks.get(id);
  }

  store(task: MeshTask): void {
    this.#tasks.set(task.id, task);
  }

  /** Returns the task that a message continues, or a new one with this id. */
  route(user: string, id: string, { message }: SendRequest): MeshTask {
    const known = this.find(id);
    if (known && known.user !== user) {
      throw new A2AError('INVALID_REQUEST', 'The task id is used by another user');
    }
    const continued = this.#findContinued(user, message, known);
    if (continued && continued.id === id) return continued;
    return {
      id,
      user,
      contextId: message.contextId ?? (continued ?? known)?.contextId ?? this.#settings.newId(),
      runs: new Set(),
      upstreamId: continued?.upstreamId,
      upstreamContextId: continued?.upstreamContextId,
    };
  }

  /** Replaces the ids of a request by those of the agent. An unknown task id starts a new task. */
  toUpstreamRequest({ clientTaskId: _local, ...request }: SendRequest, task: MeshTask): SendRequest {
    const { taskId: _mesh, contextId, ...message } = request.message;
    const { user, upstreamId, upstreamContextId } = task;
    const ids: Partial<SendRequest['message']> = {};
    if (upstreamId !== undefined) {
      ids.taskId = upstreamId;
      if (upstreamContextId !== undefined) ids.contextId = upstreamContextId;
    } else if (contextId !== undefined && !isRunBased(message)) {
      ids.contextId = this.#contexts.get(compositeKey(user, contextId))?.upstreamId ?? contextId;
    }
    if (message.referenceTaskIds) {
      ids.referenceTaskIds = message.referenceTaskIds.map((id) => {
        const known = this.find(id);
        return known?.user === user ? (known.upstreamId ?? id) : id;
      });
    }
    return { ...request, message: { ...message, ...ids } };
  }

  /** Remembers the cancellation of an unknown task. A cancel request may omit its user. */
  cancelEarly(user: string | undefined, id: string): void {
    this.#canceledEarly.add(compositeKey(user ?? '', id));
  }

  /** Returns true once for a task that was canceled before it was known. */
  takeEarlyCancel({ user, id, upstreamId }: MeshTask): boolean {
    if (this.#canceledEarly.size === 0 || upstreamId !== undefined) return false;
    const key = [user, '']
      .map((each) => compositeKey(each, id))
      .find((each) => this.#canceledEarly.has(each));
    return key !== undefined && this.#canceledEarly.delete(key);
  }

  /** Stores the ids of a task and its context at the agent. */
  setUpstreamIds(task: MeshTask, ids: { taskId: string; contextId: string }): void {
    task.upstreamId = ids.taskId;
    if (ids.contextId === '') return;
    task.upstreamContextId = ids.contextId;
    if (ids.contextId !== task.contextId) this.#context(task).upstreamId = ids.contextId;
  }

  /** Stores the terminal or interrupted state of a task. */
  setState(task: MeshTask, state: TaskState): void {
    task.state = state;
    this.store(task);
    if (isInterrupted(state)) {
      this.#context(task).interrupted = task;
      return;
    }
    const known = this.#contexts.get(compositeKey(task.user, task.contextId));
    if (known?.interrupted?.upstreamId === task.upstreamId) delete known?.interrupted;
  }

  /** Returns the task that a message continues: by its request id, by its task id, or the interrupted one of its context. */
  #findContinued(
    user: string,
    message: SendRequest['message'],
    sameId: MeshTask | undefined,
  ): MeshTask | undefined {
    const { taskId, contextId } = message;
    if (sameId && (isOpen(sameId) || sameId.runs.size > 0)) return sameId;
    const sameTask = taskId === undefined ? undefined : this.find(taskId);
    if (sameTask && sameTask.user === user && isOpen(sameTask)) return sameTask;
    if (taskId !== undefined || contextId === undefined || isRunBased(message)) return undefined;
    if (!this.#settings.resumeByContext) return undefined;
    const interrupted = this.#contexts.get(compositeKey(user, contextId))?.interrupted;
    return interrupted && isOpen(interrupted) ? interrupted : undefined;
  }

  #context({ user, contextId }: MeshTask): MeshContext {
    const key = compositeKey(user, contextId);
    const context = this.#contexts.get(key) ?? {};
    this.#contexts.set(key, context);
    return context;
  }
}

/** Returns true if the task at the agent may accept a message. */
function isOpen({ upstreamId, state }: MeshTask): boolean {
  return upstreamId !== undefined && !(state && isTerminal(state));
}

/** Delegating agents may request a run without context. */
function isRunBased({ metadata }: Pick<SendRequest['message'], 'metadata'>): boolean {
  return metadata?.sessionBehavior === 'RUN_BASED';
}
