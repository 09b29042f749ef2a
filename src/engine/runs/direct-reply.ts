import type { TaskLog } from '../../store/task-store.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { ProcessContext } from '../process-context.ts';
import type { ProcessFunction } from '../agent-definition.ts';
import { isMessage, type AgentOutput, type AgentResult, type MessageContent } from '../agent-output.ts';
import { toIterator, type TaskRun } from './task-run.ts';

/** How an agent that may answer directly did answer. */
export type DirectReply = { kind: 'message'; message: Message } | { kind: 'run'; run: TaskRun };

/** What is needed to make a task after all. */
interface TaskMaking {
  newId: () => string;
  ids: { taskId: string; contextId: string };
  create(ids: { taskId: string; contextId: string }): TaskLog | Promise<TaskLog>;
  begin(log: TaskLog): Promise<TaskRun>;
}

/** The first thing a process gives, and what is left of it. */
interface First {
  value: AgentResult;
  rest: AsyncIterator<AgentOutput> | Iterator<AgentOutput> | undefined;
}

/** Runs an agent without a task until it gives something that needs one. */
export async function runWithoutTask(
  process: ProcessFunction,
  request: SendRequest,
  call: CallContext,
  making: TaskMaking,
): Promise<DirectReply> {
  const host = new LazyTask(making);
  const first = firstOf(() => process(new ProcessContext(host, request.message, call, request)));
  const outcome = await Promise.race([first.catch(() => undefined), host.asked]);
  if (outcome && isMessage(outcome.value) && !host.isMade) {
    void outcome.rest?.return?.();
    return { kind: 'message', message: directMessage(outcome.value, making) };
  }
  const run = await host.make();
  void continueWith(run, first);
  return { kind: 'run', run };
}

/** A task that exists only once somebody needs it. */
class LazyTask {
  readonly taskId: string;
  readonly contextId: string;
  /** Resolves when the agent asks something, which makes the task. */
  readonly asked: Promise<undefined>;
  readonly #making: TaskMaking;
  #controller: AbortController | undefined = undefined;
  #made: Promise<TaskRun> | undefined = undefined;
  #run: TaskRun | undefined = undefined;
  #tellAsked: () => void = () => {};

  constructor(making: TaskMaking) {
    this.#making = making;
    this.taskId = making.ids.taskId;
    this.contextId = making.ids.contextId;
    this.asked = new Promise((resolve) => {
      this.#tellAsked = () => resolve(undefined);
    });
  }

  get isMade(): boolean {
    return this.#made !== undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#run) this.#listen(this.#run, this.#controller);
    }
    return this.#controller.signal;
  }

  /** Whoever looked at the signal before there was a task must hear of its end too. */
  #listen({ signal }: TaskRun, controller: AbortController): void {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  }

  task(): ReturnType<TaskRun['task']> {
    if (this.#run) return this.#run.task();
    throw new A2AError('UNSUPPORTED_OPERATION', 'There is no task until the agent gives more than a message');
  }

  make(): Promise<TaskRun> {
    this.#made ??= this.#make();
    return this.#made;
  }

  async #make(): Promise<TaskRun> {
    const run = await this.#making.begin(await this.#making.create(this.#making.ids));
    this.#run = run;
    if (this.#controller) this.#listen(run, this.#controller);
    run.status('working');
    return run;
  }

  async ask(question: MessageContent, state: 'input-required' | 'auth-required'): Promise<Message> {
    const run = await this.make();
    this.#tellAsked();
    return run.ask(question, state);
  }
}

async function firstOf(begin: () => ReturnType<ProcessFunction>): Promise<First> {
  const given = begin();
  const iterator = toIterator(given);
  if (!iterator) return { value: (await given) as AgentResult, rest: undefined };
  const step = await iterator.next();
  return { value: step.value as AgentResult, rest: step.done ? undefined : iterator };
}

async function continueWith(run: TaskRun, first: Promise<First>): Promise<void> {
  try {
    const { value, rest } = await first;
    if (!rest) run.finish(value);
    else {
      run.emit(value as AgentOutput);
      run.consume({ [Symbol.asyncIterator]: () => rest as AsyncIterator<AgentOutput> });
    }
  } catch (error) {
    run.fail(error);
  }
}

function directMessage(message: Message, { newId, ids }: TaskMaking): Message {
  return {
    ...message,
    role: 'agent',
    messageId: message.messageId || newId(),
    contextId: message.contextId ?? ids.contextId,
  };
}
