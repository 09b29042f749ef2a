import { A2AError } from '../../protocol/errors.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isTerminal } from '../../protocol/task.ts';
import type { MeshRpcRequest } from '../rpc-envelope.ts';
import type { MeshMessage } from '../brokers/broker-connection.ts';
import type { RequestProperties } from '../request-properties.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';
import type { MeshTask, MeshTasks } from './mesh-tasks.ts';

/** A request that was read so far as to know whose it is. */
export interface MeshRequestContext {
  readonly delivery: MeshMessage;
  readonly requested: MeshRpcRequest;
  readonly properties: RequestProperties;
  readonly user: string;
}

/** Decides which task a message belongs to, and puts it into the names that the agent knows. */
export class TaskRouter {
  readonly #tasks: MeshTasks;
  readonly #name: string;
  readonly #settings: MeshServerSettings;

  constructor(tasks: MeshTasks, name: string, settings: MeshServerSettings) {
    this.#tasks = tasks;
    this.#name = name;
    this.#settings = settings;
  }

  /** The task that a message goes on with, or a new one. */
  taskOf(visit: MeshRequestContext, request: SendRequest): MeshTask {
    const { requested, user, properties } = visit;
    const { message } = request;
    const id =
      request.clientTaskId ?? (requested.id === null ? this.#settings.newId() : String(requested.id));
    const known = this.#tasks.find(id);
    if (known && known.user !== user) {
      throw new A2AError('INVALID_REQUEST', 'The id of the task is taken by somebody else');
    }
    const earlier = this.#earlier(visit, request, known);
    if (earlier && earlier.id === id) return earlier;
    const task: MeshTask = {
      id,
      user,
      contextId: message.contextId ?? earlier?.contextId ?? known?.contextId ?? this.#settings.newId(),
      runs: new Set(),
      address: {
        id: requested.id ?? id,
        dialect: requested.dialect,
        operation: requested.operation,
        names: { taskId: id, contextId: '', agent: this.#name },
        replyTo: properties.replyTo,
        statusTopic: properties.statusTopic,
        properties: {},
      },
    };
    if (earlier?.downstreamId !== undefined) {
      task.downstreamId = earlier.downstreamId;
      task.downstreamContextId = earlier.downstreamContextId;
    }
    return task;
  }

  /** The task that a message answers: the one it names, the one of its own id, or the one of its context that waits. */
  #earlier(
    { user }: MeshRequestContext,
    { message }: SendRequest,
    own: MeshTask | undefined,
  ): MeshTask | undefined {
    if (own && (isOpen(own) || own.runs.size > 0)) return own;
    const named = message.taskId === undefined ? undefined : this.#tasks.find(message.taskId);
    if (named && named.user === user && isOpen(named)) return named;
    if (message.taskId !== undefined || message.contextId === undefined || isRunBased(message))
      return undefined;
    const waiting = this.#settings.resumeByContext && this.#tasks.waitingIn(user, message.contextId);
    return waiting && isOpen(waiting) ? waiting : undefined;
  }

  /** A send in the names that the agent knows. A name that it does not know begins a new task. */
  downstream({ clientTaskId: _ours, ...request }: SendRequest, task: MeshTask): SendRequest {
    const { taskId: _mesh, contextId, ...rest } = request.message;
    const message: SendRequest['message'] = rest;
    const { downstreamId, downstreamContextId } = task;
    if (downstreamId !== undefined) {
      message.taskId = downstreamId;
      if (downstreamContextId !== undefined) message.contextId = downstreamContextId;
    } else if (contextId !== undefined && !isRunBased(message)) {
      message.contextId = this.#tasks.contextOf(task.user, contextId) ?? contextId;
    }
    if (message.referenceTaskIds) {
      message.referenceTaskIds = message.referenceTaskIds.map((id) => {
        const known = this.#tasks.find(id);
        return known?.user === task.user ? (known.downstreamId ?? id) : id;
      });
    }
    return { ...request, message };
  }
}

/** True when a message may still reach the task at its agent. */
function isOpen({ downstreamId, state }: MeshTask): boolean {
  return downstreamId !== undefined && !(state && isTerminal(state));
}

/** Delegating agents ask for a run without a past. */
function isRunBased({ metadata }: SendRequest['message']): boolean {
  return metadata?.sessionBehavior === 'RUN_BASED';
}
