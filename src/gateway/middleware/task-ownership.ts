import type { Agent, CallContext } from '../../protocol/agent.ts';
import { taskNotFound } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { Task } from '../../protocol/task.ts';
import { withInterceptors, type CallObserver, type CallInterceptor } from './interceptors.ts';

/** What a request may say about the task that it means. */
type Meant = Partial<SendRequest> & { id?: string; taskId?: string };

/**
 * Keeps the tasks of callers apart in front of an agent to which all of them are one: the gateway. A task belongs to
 * whoever it was begun for. Of tasks that nobody here remembers nothing is said.
 *
 * @param size - how many tasks are remembered; the one that was not used for longest is forgotten first.
 */
export function withTaskOwnership(agent: Agent, size = 100_000): Agent {
  const register = new Register(size);
  const guarded = withInterceptors(agent, register);
  return {
    ...guarded,
    async listTasks(request, call = {}) {
      const page = await guarded.listTasks(request, call);
      const tasks = page.tasks.filter(({ id }) => register.owns(id, call));
      // How many others have is nobody's business either.
      return {
        ...page,
        tasks,
        totalSize: tasks.length === page.tasks.length ? page.totalSize : tasks.length,
      };
    },
  };
}

class Register implements CallInterceptor {
  readonly #size: number;
  readonly #owners = new Map<string, string>();

  constructor(size: number) {
    this.#size = size;
  }

  begin(operation: string, request: unknown, call: CallContext): CallObserver {
    const meant = request as Meant;
    const isSend = operation === 'send' || operation === 'stream';
    const { message, clientTaskId } = meant;
    if (isSend) {
      if (message?.taskId !== undefined) this.#check(message.taskId, call);
      // A name that nobody has may be claimed.
      if (clientTaskId !== undefined && this.#owners.has(clientTaskId)) this.#check(clientTaskId, call);
    } else {
      // A push configuration has an id of its own beside that of its task.
      const id = meant.taskId ?? meant.id;
      if (id !== undefined) this.#check(id, call);
    }
    let known: string | undefined;
    return {
      answered: (answer) => {
        const id = isSend ? taskIn(answer as StreamEvent | Task | Message) : undefined;
        if (id !== undefined && id !== known) this.#own((known = id), call);
      },
      ended: () => undefined,
    };
  }

  owns(id: string, { owner = '' }: CallContext): boolean {
    return this.#owners.get(id) === owner;
  }

  #check(id: string, call: CallContext): void {
    if (!this.owns(id, call)) throw taskNotFound(id);
    this.#own(id, call);
  }

  #own(id: string, { owner = '' }: CallContext): void {
    this.#owners.delete(id);
    this.#owners.set(id, owner);
    if (this.#owners.size <= this.#size) return;
    for (const oldest of this.#owners.keys()) {
      this.#owners.delete(oldest);
      break;
    }
  }
}

/** The task that an answer or an event speaks of, if it does. */
function taskIn(answer: StreamEvent | Task | Message): string | undefined {
  if ('kind' in answer) {
    if (answer.kind === 'message') return undefined;
    return answer.kind === 'task' ? answer.task.id : answer.taskId;
  }
  return 'status' in answer ? answer.id : undefined;
}
