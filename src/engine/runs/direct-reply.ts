import type { TaskLog } from '../../store/task-store.ts';
import type { Call } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { ProcessContext } from '../process-context.ts';
import type { Process } from '../agent-definition.ts';
import { isMessage, type Output, type Result, type Saying } from '../agent-output.ts';
import { iteratorOf, type Run } from './task-run.ts';

/** How an agent that may answer directly did answer. */
export type DirectAnswer = { kind: 'message'; message: Message } | { kind: 'run'; run: Run };

/** What is needed to make a task after all. */
interface TaskMaking {
  newId: () => string;
  ids: { taskId: string; contextId: string };
  create(ids: { taskId: string; contextId: string }): TaskLog | Promise<TaskLog>;
  begin(log: TaskLog): Promise<Run>;
}

/** The first thing a process gives, and what is left of it. */
interface First {
  value: Result;
  rest: AsyncIterator<Output> | Iterator<Output> | undefined;
}

/** Runs an agent without a task until it gives something that needs one. */
export async function tryDirectly(
  process: Process,
  request: SendRequest,
  call: Call,
  making: TaskMaking,
): Promise<DirectAnswer> {
  const host = new PendingTask(making);
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
class PendingTask {
  readonly taskId: string;
  readonly contextId: string;
  /** Resolves when the agent asks something, which makes the task. */
  readonly asked: Promise<undefined>;
  readonly #making: TaskMaking;
  #controller: AbortController | undefined = undefined;
  #made: Promise<Run> | undefined = undefined;
  #run: Run | undefined = undefined;
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
  #listen({ signal }: Run, controller: AbortController): void {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  }

  task(): ReturnType<Run['task']> {
    if (this.#run) return this.#run.task();
    throw new A2AError('UNSUPPORTED_OPERATION', 'There is no task until the agent gives more than a message');
  }

  make(): Promise<Run> {
    this.#made ??= this.#make();
    return this.#made;
  }

  async #make(): Promise<Run> {
    const run = await this.#making.begin(await this.#making.create(this.#making.ids));
    this.#run = run;
    if (this.#controller) this.#listen(run, this.#controller);
    run.status('working');
    return run;
  }

  async ask(question: Saying, state: 'input-required' | 'auth-required'): Promise<Message> {
    const run = await this.make();
    this.#tellAsked();
    return run.ask(question, state);
  }
}

async function firstOf(begin: () => ReturnType<Process>): Promise<First> {
  const given = begin();
  const iterator = iteratorOf(given);
  if (!iterator) return { value: (await given) as Result, rest: undefined };
  const step = await iterator.next();
  return { value: step.value as Result, rest: step.done ? undefined : iterator };
}

async function continueWith(run: Run, first: Promise<First>): Promise<void> {
  try {
    const { value, rest } = await first;
    if (!rest) run.finish(value);
    else {
      run.emit(value as Output);
      run.follow({ [Symbol.asyncIterator]: () => rest as AsyncIterator<Output> });
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
