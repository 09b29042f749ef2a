import { compositeKey } from '../../primitives/composite-key.ts';
import { LruMap, LruSet } from '../../primitives/lru-map.ts';
import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isInterrupted, isTerminal, type TaskState } from '../../protocol/task.ts';
import type { ReplyAddress } from './mesh-reply.ts';
import type { RequestRun } from './request-run.ts';
import { MeshTaskRecords } from './sharing/task-records.ts';
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
  /** Key of the request in progress, in the register that servers share. */
  request?: string | undefined;
}

/** Context id at the agent, and the interrupted task of the context. */
interface MeshContext {
  upstreamId?: string;
  interrupted?: MeshTask;
}

/** Milliseconds for which a cancel request waits for the message that starts its task. */
const earlyCancelAge = 300_000;

/**
 * Tasks of the mesh and their ids at the agent, with bounded number and age. If several servers share them, they are loaded
 * before a request is processed and saved before its response is sent.
 */
export class MeshTasks {
  readonly #settings: MeshServerSettings;
  readonly #tasks: LruMap<string, MeshTask>;
  readonly #contexts: LruMap<string, MeshContext>;
  /** Tasks that were canceled before the message that starts them arrived. */
  readonly #canceledEarly: LruSet<string>;
  /** Context ids at the agent that were saved for other servers. */
  readonly #savedContexts: LruSet<string>;
  /** Undefined if this server does not share its tasks. */
  readonly #records: MeshTaskRecords | undefined;

  constructor(settings: MeshServerSettings) {
    this.#settings = settings;
    const { limits, clock, register } = settings;
    this.#savedContexts = new LruSet({ maxEntries: limits.tasks, maxAge: limits.age / 2, clock });
    this.#records = register && new MeshTaskRecords(register);
    const options = { maxEntries: limits.tasks, maxAge: limits.age, clock };
    this.#tasks = new LruMap({ ...options, canEvict: ({ runs }) => runs.size === 0 });
    this.#contexts = new LruMap(options);
    this.#canceledEarly = new LruSet({ ...options, maxAge: Math.min(limits.age, earlyCancelAge) });
  }

  /**
   * Loads tasks and a context that other servers may have changed.
   *
   * @returns undefined if this server does not share them.
   */
  load(
    ids: readonly (string | undefined)[],
    context?: { user: string; contextId: string | undefined },
  ): Promise<void> | undefined {
    return this.#records && this.#load(this.#records, ids, context);
  }

  async #load(
    records: MeshTaskRecords,
    ids: readonly (string | undefined)[],
    context: { user: string; contextId: string | undefined } | undefined,
  ): Promise<void> {
    for (const id of new Set(ids)) if (id !== undefined) await this.#loadTask(records, id);
    if (context?.contextId === undefined) return;
    const { user, contextId } = context;
    const key = compositeKey(user, contextId);
    const [upstreamId, interrupted] = [
      await records.readContextId(user, contextId),
      await records.readInterrupted(user, contextId),
    ];
    const task = interrupted && (await this.#loadTask(records, interrupted[0]));
    if (upstreamId === undefined && !task && !this.#contexts.has(key)) return;
    this.#contexts.set(key, {
      ...(upstreamId !== undefined && { upstreamId }),
      ...(task?.user === user && { interrupted: task }),
    });
  }

  async #loadTask(records: MeshTaskRecords, id: string): Promise<MeshTask | undefined> {
    const record = await records.readTask(id);
    const known = this.find(id);
    // Its runs in this process know more.
    if (!record || (known && known.runs.size > 0)) return known;
    const task: MeshTask = { ...record, id, runs: new Set() };
    this.store(task);
    return task;
  }

  /** Saves a task for other servers. @returns undefined if there are none. */
  save(task: MeshTask): Promise<void> | undefined {
    return this.#records && this.#save(this.#records, task);
  }

  async #save(records: MeshTaskRecords, task: MeshTask): Promise<void> {
    try {
      const { upstreamContextId, user, contextId, state } = task;
      if (upstreamContextId !== undefined && upstreamContextId !== contextId) {
        const key = compositeKey(user, contextId, upstreamContextId);
        if (!this.#savedContexts.has(key)) await records.writeContextId(task, upstreamContextId);
        this.#savedContexts.add(key);
      }
      await records.writeTask(task);
      if (state && isInterrupted(state)) await records.writeInterrupted(task);
      else if (state && isTerminal(state)) await this.#forgetInterrupted(records, task);
    } catch (error) {
      // The request is answered nevertheless; other servers do not find its task.
      const message = 'A task could not be saved for other servers';
      this.#settings.log({ level: 'error', message, taskId: task.id, error });
    }
  }

  /** A task may be continued under another id on the mesh. */
  async #forgetInterrupted(records: MeshTaskRecords, task: MeshTask): Promise<void> {
    const { user, contextId, upstreamId } = task;
    const [id, interruptedId] = (await records.readInterrupted(user, contextId)) ?? [];
    if (id !== undefined && interruptedId === upstreamId) await records.deleteInterrupted({ ...task, id });
  }

  /** Returns true while another server processes a request of a task. */
  async isRunningElsewhere(task: MeshTask): Promise<boolean> {
    return task.runs.size === 0 && ((await this.#records?.isRunning(task)) ?? false);
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

  /** Remembers the cancellation of a task that is not known, or whose id at the agent is not. A user may be omitted. */
  async cancelEarly(user: string | undefined, id: string): Promise<void> {
    this.#canceledEarly.add(compositeKey(user ?? '', id));
    await this.#records?.writeCancel(user ?? '', id);
  }

  /** Returns true once for a task that was canceled before its id at the agent was known. */
  takeEarlyCancel(task: MeshTask): MaybePromise<boolean> {
    return task.upstreamId === undefined && this.takeCancel(task);
  }

  /** Returns true once for a task that was canceled by {@link MeshTasks.cancelEarly}. */
  takeCancel(task: MeshTask): MaybePromise<boolean> {
    const { user, id } = task;
    if (this.#canceledEarly.size > 0) {
      const key = [user, '']
        .map((each) => compositeKey(each, id))
        .find((each) => this.#canceledEarly.has(each));
      if (key !== undefined) this.#canceledEarly.delete(key);
      if (key !== undefined && !this.#records) return true;
    }
    return this.#records?.takeCancel(task) ?? false;
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
