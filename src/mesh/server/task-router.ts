import { A2AError } from '../../protocol/errors.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isTerminal } from '../../protocol/task.ts';
import type { MeshRpcRequest } from '../rpc-envelope.ts';
import type { MeshMessage } from '../brokers/broker-connection.ts';
import type { RequestProperties } from '../request-properties.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';
import type { MeshTask, MeshTasks } from './mesh-tasks.ts';

/** A request with its decoded envelope, properties and user. */
export interface MeshRequestContext {
  readonly message: MeshMessage;
  readonly rpc: MeshRpcRequest;
  readonly properties: RequestProperties;
  readonly user: string;
}

/** Assigns messages to tasks, and replaces their ids by those of the agent. */
export class TaskRouter {
  readonly #tasks: MeshTasks;
  readonly #name: string;
  readonly #settings: MeshServerSettings;

  constructor(tasks: MeshTasks, name: string, settings: MeshServerSettings) {
    this.#tasks = tasks;
    this.#name = name;
    this.#settings = settings;
  }

  /** Returns the task that a message continues, or a new one. */
  route(context: MeshRequestContext, request: SendRequest): MeshTask {
    const { rpc, user, properties } = context;
    const { message } = request;
    const id = request.clientTaskId ?? (rpc.id === null ? this.#settings.newId() : String(rpc.id));
    const known = this.#tasks.find(id);
    if (known && known.user !== user) {
      throw new A2AError('INVALID_REQUEST', 'The task id is used by another user');
    }
    const continued = this.#findContinued(context, request, known);
    if (continued && continued.id === id) return continued;
    const task: MeshTask = {
      id,
      user,
      contextId: message.contextId ?? continued?.contextId ?? known?.contextId ?? this.#settings.newId(),
      runs: new Set(),
      address: {
        id: rpc.id ?? id,
        dialect: rpc.dialect,
        operation: rpc.operation,
        ids: { taskId: id, contextId: '', agent: this.#name },
        replyTo: properties.replyTo,
        statusTopic: properties.statusTopic,
        responseId: '',
        properties: {},
      },
    };
    if (continued?.upstreamId !== undefined) {
      task.upstreamId = continued.upstreamId;
      task.upstreamContextId = continued.upstreamContextId;
    }
    return task;
  }

  /** Returns the task that a message continues: by its request id, by its task id, or the interrupted one of its context. */
  #findContinued(
    { user }: MeshRequestContext,
    { message }: SendRequest,
    sameId: MeshTask | undefined,
  ): MeshTask | undefined {
    if (sameId && (isOpen(sameId) || sameId.runs.size > 0)) return sameId;
    const sameTask = message.taskId === undefined ? undefined : this.#tasks.find(message.taskId);
    if (sameTask && sameTask.user === user && isOpen(sameTask)) return sameTask;
    if (message.taskId !== undefined || message.contextId === undefined || isRunBased(message))
      return undefined;
    const interrupted =
      this.#settings.resumeByContext && this.#tasks.findInterrupted(user, message.contextId);
    return interrupted && isOpen(interrupted) ? interrupted : undefined;
  }

  /** Replaces the ids of a request by those of the agent. An unknown task id starts a new task. */
  toUpstreamRequest({ clientTaskId: _local, ...request }: SendRequest, task: MeshTask): SendRequest {
    const { taskId: _mesh, contextId, ...rest } = request.message;
    const message: SendRequest['message'] = rest;
    const { upstreamId: downstreamId, upstreamContextId: downstreamContextId } = task;
    if (downstreamId !== undefined) {
      message.taskId = downstreamId;
      if (downstreamContextId !== undefined) message.contextId = downstreamContextId;
    } else if (contextId !== undefined && !isRunBased(message)) {
      message.contextId = this.#tasks.upstreamContext(task.user, contextId) ?? contextId;
    }
    if (message.referenceTaskIds) {
      message.referenceTaskIds = message.referenceTaskIds.map((id) => {
        const known = this.#tasks.find(id);
        return known?.user === task.user ? (known.upstreamId ?? id) : id;
      });
    }
    return { ...request, message };
  }
}

/** Returns true if the task at the agent may accept a message. */
function isOpen({ upstreamId: downstreamId, state }: MeshTask): boolean {
  return downstreamId !== undefined && !(state && isTerminal(state));
}

/** Delegating agents may request a run without context. */
function isRunBased({ metadata }: SendRequest['message']): boolean {
  return metadata?.sessionBehavior === 'RUN_BASED';
}
