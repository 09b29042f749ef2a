import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import type { TaskLog } from '../../store/task-store.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { copyJson } from '../../primitives/json.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { ProcessContext } from '../process-context.ts';
import type { ProcessFunction } from '../agent-definition.ts';
import type { ContextHistory } from '../messages/context-history.ts';
import {
  isMessage,
  toIterator,
  type AgentOutput,
  type AgentResult,
  type MessageContent,
} from '../agent-output.ts';
import type { TaskRun } from './task-run.ts';

/** Result of an agent with `allowDirectReply`: a direct message or the run of a task. */
export type DirectReply = { kind: 'message'; message: Message } | { kind: 'run'; run: TaskRun };

/** Collaborators of {@link runWithoutTask}, which create the task if it is needed. */
interface TaskFactory {
  history: ContextHistory;
  newId: () => string;
  ids: { taskId: string; contextId: string };
  create(ids: { taskId: string; contextId: string }): MaybePromise<TaskLog>;
  startRun(log: TaskLog): Promise<TaskRun>;
}

/** The first output of a process function and the iterator of the rest. */
interface FirstOutput {
  value: AgentResult;
  rest: AsyncIterator<AgentOutput> | Iterator<AgentOutput> | undefined;
}

/** Runs a process function without a task until its output needs one. */
export async function runWithoutTask(
  process: ProcessFunction,
  request: SendRequest,
  call: CallContext,
  factory: TaskFactory,
): Promise<DirectReply> {
  const host = new LazyTask(factory);
  const context = new ProcessContext(host, request.message, call, request, factory.history);
  const first = readFirstOutput(() => process(context));
  const outcome = await Promise.race([first.catch(() => undefined), host.inputRequested]);
  if (outcome && isMessage(outcome.value) && !host.isCreated) {
    closeQuietly(outcome.rest);
    return { kind: 'message', message: directMessage(outcome.value, factory) };
  }
  const run = await host.createRun();
  void continueWith(run, first);
  return { kind: 'run', run };
}

/** A task that is created on demand. */
class LazyTask {
  readonly taskId: string;
  readonly contextId: string;
  /** Resolves when the agent requests input, which creates the task. */
  readonly inputRequested: Promise<undefined>;
  readonly #factory: TaskFactory;
  #controller: AbortController | undefined = undefined;
  #creating: Promise<TaskRun> | undefined = undefined;
  #run: TaskRun | undefined = undefined;
  #resolveInputRequested: () => void = () => {};

  constructor(factory: TaskFactory) {
    this.#factory = factory;
    this.taskId = factory.ids.taskId;
    this.contextId = factory.ids.contextId;
    this.inputRequested = new Promise((resolve) => {
      this.#resolveInputRequested = () => resolve(undefined);
    });
  }

  get isCreated(): boolean {
    return this.#creating !== undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#run) this.#forwardAbort(this.#run, this.#controller);
    }
    return this.#controller.signal;
  }

  /** Forwards the abort of the run to a signal that was read before the task existed. */
  #forwardAbort({ signal }: TaskRun, controller: AbortController): void {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  }

  task(): ReturnType<TaskRun['task']> {
    if (this.#run) return this.#run.task();
    throw new A2AError(
      'UNSUPPORTED_OPERATION',
      'The task does not exist until the agent returns output other than a message',
    );
  }

  createRun(): Promise<TaskRun> {
    this.#creating ??= this.#createRun();
    return this.#creating;
  }

  async #createRun(): Promise<TaskRun> {
    const run = await this.#factory.startRun(await this.#factory.create(this.#factory.ids));
    this.#run = run;
    if (this.#controller) this.#forwardAbort(run, this.#controller);
    run.status('working');
    return run;
  }

  async ask(question: MessageContent, state: 'input-required' | 'auth-required'): Promise<Message> {
    const run = await this.createRun();
    this.#resolveInputRequested();
    return run.ask(question, state);
  }
}

async function readFirstOutput(start: () => ReturnType<ProcessFunction>): Promise<FirstOutput> {
  const output = start();
  const iterator = toIterator(output);
  if (!iterator) return { value: (await output) as AgentResult, rest: undefined };
  const step = await iterator.next();
  return { value: step.value as AgentResult, rest: step.done ? undefined : iterator };
}

async function continueWith(run: TaskRun, first: Promise<FirstOutput>): Promise<void> {
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

function directMessage(message: Message, { newId, ids }: TaskFactory): Message {
  return {
    ...copyJson(message),
    role: 'agent',
    messageId: message.messageId || newId(),
    contextId: message.contextId ?? ids.contextId,
  };
}

/** Lets a generator clean up. Its errors have no effect: the message is already its result. */
function closeQuietly(iterator: FirstOutput['rest']): void {
  try {
    Promise.resolve(iterator?.return?.()).catch(() => {});
  } catch {
    // See above.
  }
}
