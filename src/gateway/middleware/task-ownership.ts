import { LruMap } from '../../primitives/lru-map.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import { taskNotFound } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { Task } from '../../protocol/task.ts';
import { withInterceptors, type CallObserver, type CallInterceptor } from './interceptors.ts';

/** Fields by which requests refer to a task. */
type TaskReference = Partial<SendRequest> & { id?: string; taskId?: string };

/**
 * Middleware that isolates the tasks of clients in front of an upstream, which sees one client: the gateway. A task
 * belongs to the owner that created it; all other tasks, including unknown ones, are not found.
 *
 * @param maxTasks - capacity of the LRU map of owners.
 */
export function withTaskOwnership(agent: Agent, maxTasks = 100_000): Agent {
  const owners = new OwnerInterceptor(maxTasks);
  const intercepted = withInterceptors(agent, owners);
  return {
    ...intercepted,
    async listTasks(request, call = {}) {
      const page = await intercepted.listTasks(request, call);
      const tasks = page.tasks.filter(({ id }) => owners.owns(id, call));
      // totalSize must not disclose the number of tasks of other owners.
      return {
        ...page,
        tasks,
        totalSize: tasks.length === page.tasks.length ? page.totalSize : tasks.length,
      };
    },
  };
}

class OwnerInterceptor implements CallInterceptor {
  readonly #owners: LruMap<string, string>;

  constructor(maxEntries: number) {
    this.#owners = new LruMap({ maxEntries });
  }

  begin(operation: string, request: unknown, call: CallContext): CallObserver {
    const reference = request as TaskReference;
    const isSend = operation === 'send' || operation === 'stream';
    const { message, clientTaskId } = reference;
    if (isSend) {
      if (message?.taskId !== undefined) this.#check(message.taskId, call);
      // A task id without an owner may be claimed.
      if (clientTaskId !== undefined && this.#owners.has(clientTaskId)) this.#check(clientTaskId, call);
    } else {
      // The `id` of a push configuration is not a task id, so `taskId` takes precedence.
      const id = reference.taskId ?? reference.id;
      if (id !== undefined) this.#check(id, call);
    }
    let known: string | undefined;
    return {
      onResponse: (response) => {
        const id = isSend ? readTaskId(response as StreamEvent | Task | Message) : undefined;
        if (id !== undefined && id !== known) this.#owners.set((known = id), call.owner ?? '');
      },
      onEnd: () => undefined,
    };
  }

  owns(id: string, { owner = '' }: CallContext): boolean {
    return this.#owners.get(id) === owner;
  }

  #check(id: string, call: CallContext): void {
    if (!this.owns(id, call)) throw taskNotFound(id);
  }
}

function readTaskId(response: StreamEvent | Task | Message): string | undefined {
  if ('kind' in response) {
    if (response.kind === 'message') return undefined;
    return response.kind === 'task' ? response.task.id : response.taskId;
  }
  return 'status' in response ? response.id : undefined;
}
