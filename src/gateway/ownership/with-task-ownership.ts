import { LruMap } from '../../primitives/lru-map.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import { A2AError, taskNotFound } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { PushConfig } from '../../protocol/push.ts';
import type { ListTasksRequest, SendRequest, TaskPage } from '../../protocol/requests.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import { withInterceptor } from '../../protocol/composition/with-interceptor.ts';
import { listOwnedTasks } from './list-owned-tasks.ts';
import { memoryOwnershipRegister } from './memory-ownership-register.ts';
import { OwnerScope } from './owner-scope.ts';
import type { OwnershipRegister } from './ownership-register.ts';

/** Options of {@link withTaskOwnership}. All options are optional. */
export interface TaskOwnershipOptions {
  /** Remembers the owners. @defaultValue a register in memory */
  readonly register?: OwnershipRegister;
  /** Name of the upstream in the register. @defaultValue `''` */
  readonly name?: string;
  /** Returns the owner of a call. @defaultValue `owner` of the call */
  readonly ownerOf?: (call: CallContext) => string;
}

/**
 * Middleware that isolates the clients of an upstream, which sees one client: the gateway. A task or context belongs to
 * the owner that created it; all others, including unknown ones, are not found. Ids that clients choose (message,
 * context and 0.1 task ids) reach the upstream with a prefix of their owner, so that equal ids of two owners differ.
 */
export function withTaskOwnership<A extends Agent>(agent: A, options: TaskOwnershipOptions = {}): A {
  const { register = memoryOwnershipRegister(), name = '', ownerOf = (call) => call.owner ?? '' } = options;
  const scopes = new LruMap<string, OwnerScope>({ maxEntries: 10_000 });
  const enter = (call: CallContext): OwnedCalls => {
    const owner = ownerOf(call);
    let scope = scopes.get(owner);
    if (!scope) scopes.set(owner, (scope = new OwnerScope(owner)));
    return new OwnedCalls(register, name, scope);
  };
  /** Converts a request that names a task. */
  const withTask = async <R extends { id: string } | { taskId: string }, T>(
    request: R,
    call: CallContext,
    operate: (request: R, owned: OwnedCalls) => Promise<T>,
  ): Promise<T> => {
    const owned = enter(call);
    const upstreamRequest = await owned.toTaskRequest(request);
    return owned.orClientError(() => operate(upstreamRequest, owned));
  };
  return withInterceptor(agent, {
    async send(request, call, next) {
      const owned = enter(call);
      const upstreamRequest = await owned.toSendRequest(request);
      return owned.orClientError(async () => owned.toResult(await next(upstreamRequest, call)));
    },
    async *stream(request, call, next) {
      const owned = enter(call);
      yield* owned.toEvents(next(await owned.toSendRequest(request), call));
    },
    async *subscribe(request, call, next) {
      const owned = enter(call);
      yield* owned.toEvents(next(await owned.toTaskRequest(request), call));
    },
    getTask: (request, call, next) =>
      withTask(request, call, async (inner, owned) => owned.toTask(await next(inner, call))),
    cancelTask: (request, call, next) =>
      withTask(request, call, async (inner, owned) => owned.toTask(await next(inner, call))),
    listTasks(request, call, next) {
      const owned = enter(call);
      return owned.orClientError(() => owned.list(request, (inner) => next(inner, call)));
    },
    createPushConfig: (config, call, next) =>
      withTask(config, call, async (inner, owned) => owned.toPushConfig(await next(inner, call))),
    getPushConfig: (ref, call, next) =>
      withTask(ref, call, async (inner, owned) => owned.toPushConfig(await next(inner, call))),
    listPushConfigs: (request, call, next) =>
      withTask(request, call, async (inner, owned) => {
        const page = await next(inner, call);
        return { ...page, configs: page.configs.map((config) => owned.toPushConfig(config)) };
      }),
    deletePushConfig: (ref, call, next) => withTask(ref, call, (inner) => next(inner, call)),
  });
}

/** Calls of one owner: converts requests to the ids of the upstream and responses to those of the client. */
class OwnedCalls {
  readonly #register: OwnershipRegister;
  readonly #name: string;
  readonly #scope: OwnerScope;
  /** Last task that was found to belong to the owner. */
  #claimed: string | undefined;

  constructor(register: OwnershipRegister, name: string, scope: OwnerScope) {
    this.#register = register;
    this.#name = name;
    this.#scope = scope;
  }

  async toSendRequest(request: SendRequest): Promise<SendRequest> {
    const { message, clientTaskId } = request;
    const { taskId, contextId, referenceTaskIds } = message;
    const scoped: Message = { ...message, messageId: this.#scope.toUpstreamId(message.messageId) };
    if (taskId !== undefined) scoped.taskId = await this.#toUpstreamTaskId(taskId);
    if (contextId !== undefined) scoped.contextId = await this.#toUpstreamContextId(contextId);
    if (referenceTaskIds)
      scoped.referenceTaskIds = await Promise.all(referenceTaskIds.map((id) => this.#toUpstreamTaskId(id)));
    const scopedRequest: SendRequest = { ...request, message: scoped };
    if (request.idempotencyKey !== undefined)
      scopedRequest.idempotencyKey = this.#scope.toUpstreamId(request.idempotencyKey);
    if (clientTaskId === undefined) return scopedRequest;
    // A 0.1 client may choose an id, or continue a task whose id the upstream chose.
    const isOwned = await this.#owns(clientTaskId);
    const upstreamTaskId = isOwned ? clientTaskId : this.#scope.toUpstreamId(clientTaskId);
    return { ...scopedRequest, clientTaskId: upstreamTaskId };
  }

  async toTaskRequest<R extends { id: string } | { taskId: string }>(request: R): Promise<R> {
    // The `id` of a push configuration is not a task id, so `taskId` takes precedence.
    return 'taskId' in request
      ? { ...request, taskId: await this.#toUpstreamTaskId(request.taskId) }
      : { ...request, id: await this.#toUpstreamTaskId(request.id) };
  }

  async list(
    request: ListTasksRequest,
    list: (request: ListTasksRequest) => Promise<TaskPage>,
  ): Promise<TaskPage> {
    const { contextId: given } = request;
    const contextId = given === undefined ? undefined : await this.#toUpstreamContextId(given);
    const page = await listOwnedTasks(contextId === undefined ? request : { ...request, contextId }, {
      list,
      owns: ({ id }) => this.#owns(id),
      count: () => this.#register.countTasks(this.#name, this.#scope.owner, contextId),
    });
    return { ...page, tasks: page.tasks.map((task) => this.#scope.toClientTask(task)) };
  }

  async toResult(result: Task | Message): Promise<Task | Message> {
    if (isTask(result)) {
      await this.#claim(result.id, result.contextId);
      return this.toTask(result);
    }
    await this.#claimContext(result.contextId);
    return this.#scope.toClientMessage(result);
  }

  toTask(task: Task): Task {
    return this.#scope.toClientTask(task);
  }

  toPushConfig(config: PushConfig): PushConfig {
    return { ...config, taskId: this.#scope.toClientId(config.taskId) };
  }

  async *toEvents(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
    try {
      for await (const event of events) {
        if (event.kind === 'message') await this.#claimContext(event.message.contextId);
        else if (event.kind === 'task') await this.#claim(event.task.id, event.task.contextId);
        else await this.#claim(event.taskId, event.contextId);
        yield this.#scope.toClientEvent(event);
      }
    } catch (thrown) {
      throw this.#scope.toClientError(thrown);
    }
  }

  async orClientError<T>(operate: () => Promise<T>): Promise<T> {
    try {
      return await operate();
    } catch (thrown) {
      throw this.#scope.toClientError(thrown);
    }
  }

  /** Returns the id of an owned task at the upstream. Either of them chose it. */
  async #toUpstreamTaskId(id: string): Promise<string> {
    if (await this.#owns(id)) return id;
    const scoped = this.#scope.toUpstreamId(id);
    if (await this.#owns(scoped)) return scoped;
    throw taskNotFound(id);
  }

  /** A context that the upstream did not create for this owner is one that the client chose. */
  async #toUpstreamContextId(id: string): Promise<string> {
    const owner = await this.#register.contextOwner(this.#name, id);
    return owner === this.#scope.owner ? id : this.#scope.toUpstreamId(id);
  }

  async #owns(taskId: string): Promise<boolean> {
    return (await this.#register.taskOwner(this.#name, taskId)) === this.#scope.owner;
  }

  /** Records the owner before the client sees the task. A task never changes its owner. */
  async #claim(taskId: string, contextId: string): Promise<void> {
    if (taskId === this.#claimed) return;
    const owner = await this.#register.claimTask(this.#name, this.#scope.owner, { taskId, contextId });
    if (owner !== this.#scope.owner)
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent responded with a task of another client');
    this.#claimed = taskId;
  }

  async #claimContext(contextId: string | undefined): Promise<void> {
    if (contextId !== undefined && contextId !== '')
      await this.#register.claimContext(this.#name, this.#scope.owner, contextId);
  }
}
