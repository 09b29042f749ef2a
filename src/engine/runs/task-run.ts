import type { TaskLog } from '../../store/task-store.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { LogEntry } from '../../primitives/log.ts';
import type { Message } from '../../protocol/message.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { Metadata } from '../../protocol/part.ts';
import { isInterrupted, isTerminal, type Task, type TaskState } from '../../protocol/task.ts';
import { ChunkTracker } from './chunk-tracker.ts';
import { ProcessContext } from '../process-context.ts';
import type { ProcessFunction } from '../agent-definition.ts';
import {
  type ArtifactDraft,
  checkState,
  isMessage,
  invalidOutputError,
  type AgentOutput,
  draftParts,
  type AgentResult,
  type MessageContent,
  toParts,
} from '../agent-output.ts';

/** What a run needs of the engine around it. */
export interface TaskRunHost {
  now(): number;
  timestamp(): string;
  newId(): string;
  report(entry: LogEntry): void;
  /** Hears of every state that a task comes into, if anybody counts. */
  readonly entered: ((state: TaskState) => void) | undefined;
  /** The run is over, or rests until the caller speaks. */
  ended(run: TaskRun): void;
}

/** One go at a task: from a message until the task ends or needs something. */
export class TaskRun {
  readonly log: TaskLog;
  /** When it began, or went on after a question. */
  startedAt: number;
  /** When it last gave a sign of life. */
  get activeAt(): number {
    return this.startedAt + this.#active;
  }
  readonly #host: TaskRunHost;
  /** Milliseconds from the start until then: a small number takes no room of its own. */
  #active = 0;
  readonly #call: CallContext;
  #request: SendRequest | undefined;
  #isOver = false;
  #controller: AbortController | undefined = undefined;
  #iterator: AsyncIterator<AgentOutput> | Iterator<AgentOutput> | undefined = undefined;
  /** The artifact that yielded strings make up. */
  #textArtifact: string | undefined = undefined;
  #chunks: ChunkTracker | undefined = undefined;
  /** Who waits for the run to rest. */
  #waiters: ((task: Promise<Task> | Task) => void)[] | undefined = undefined;
  /** The question that waits for its answer. */
  #answer: { resolve: (message: Message) => void; reject: (reason: unknown) => void } | undefined = undefined;

  constructor(host: TaskRunHost, log: TaskLog, call: CallContext, request?: SendRequest) {
    this.#host = host;
    this.log = log;
    this.#call = call;
    this.#request = request;
    this.startedAt = host.now();
  }

  get taskId(): string {
    return this.log.id;
  }

  get contextId(): string {
    return this.log.contextId;
  }

  /** Made when somebody first looks, because most agents never do and a signal is heavy. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isOver) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  task(): Task {
    return this.log.task();
  }

  /** True while an answer of the caller is awaited inside the run. */
  get isAsking(): boolean {
    return this.#answer !== undefined;
  }

  /** Begins the work. */
  start(process: ProcessFunction, message: Message): void {
    this.status('working');
    const request = this.#request;
    this.#request = undefined;
    this.drive(process, new ProcessContext(this, message, this.#call, request));
  }

  /** Does the work with a context that exists already. */
  drive(process: ProcessFunction, context: ProcessContext): void {
    let given: ReturnType<ProcessFunction>;
    try {
      given = process(context);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.consume(given);
  }

  /** Takes what a process gives until it is done. */
  consume(given: ReturnType<ProcessFunction>): void {
    try {
      const iterator = toIterator(given);
      if (iterator) this.#pump(iterator);
      else void this.#await(given);
    } catch (error) {
      this.fail(error);
    }
  }

  async #await(given: ReturnType<ProcessFunction>): Promise<void> {
    try {
      this.finish((await given) as AgentResult);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Callbacks and not a loop that awaits, because a task may rest here for hours and this takes half the memory. */
  #pump(iterator: AsyncIterator<AgentOutput> | Iterator<AgentOutput>): void {
    this.#iterator = iterator;
    const fail = (error: unknown): void => this.fail(error);
    const take = (step: IteratorResult<AgentOutput>): void => {
      try {
        if (this.#take(step)) Promise.resolve(iterator.next()).then(take, fail);
      } catch (error) {
        this.fail(error);
      }
    };
    Promise.resolve(iterator.next()).then(take, fail);
  }

  /** @returns true when more is wanted. */
  #take(step: IteratorResult<AgentOutput>): boolean {
    if (this.#isOver) return false;
    if (step.done) {
      this.finish(step.value as AgentResult);
      return false;
    }
    this.emit(step.value);
    if (this.#isOver) this.#closeIterator();
    return !this.#isOver;
  }

  /** Makes events of what an agent gave. */
  emit(output: AgentOutput): void {
    if (this.#isOver) return;
    this.#active = this.#host.now() - this.startedAt;
    if (typeof output === 'string') this.#emitText(output);
    else if (typeof output !== 'object' || output === null) throw invalidOutputError(output);
    else if ('artifact' in output) {
      this.artifact(output.artifact, output.append ?? false, output.lastChunk, output.metadata);
    } else if (isMessage(output)) this.status(this.log.state, output);
    else if ('state' in output) this.status(checkState(output.state), output.message, output.metadata);
    else throw invalidOutputError(output);
  }

  #emitText(text: string): void {
    const append = this.#textArtifact !== undefined;
    this.#textArtifact ??= this.#host.newId();
    this.#append(this.#textArtifact, { parts: [{ text }] }, append, undefined);
  }

  /** Appends an artifact, or a chunk of one. */
  artifact(draft: ArtifactDraft, append: boolean, lastChunk: boolean | undefined, metadata?: Metadata): void {
    const artifactId = draft.artifactId ?? this.#host.newId();
    this.#chunks ??= new ChunkTracker(this.log);
    const isMore = this.#chunks.add(artifactId, append, lastChunk ?? false);
    this.#append(artifactId, draft, isMore, lastChunk, metadata);
  }

  #append(
    artifactId: string,
    draft: ArtifactDraft,
    append: boolean,
    lastChunk: boolean | undefined,
    metadata?: Metadata,
  ): void {
    this.log.append({
      kind: 'artifact',
      taskId: this.log.id,
      contextId: this.log.contextId,
      // Written out, so that all artifacts have one shape for the machine.
      artifact: {
        artifactId,
        name: draft.name,
        description: draft.description,
        parts: draftParts(draft),
        extensions: draft.extensions,
        metadata: draft.metadata,
      },
      append,
      lastChunk,
      metadata,
      sequence: 0,
    });
  }

  /**
   * Appends a status. One that ends the task or waits for the caller's words ends the run; one that waits for
   * authorization does not, because that may come by another way.
   */
  status(state: TaskState, said?: MessageContent, metadata?: Metadata): void {
    this.log.append({
      kind: 'status',
      taskId: this.log.id,
      contextId: this.log.contextId,
      status: {
        state,
        message: said === undefined ? undefined : this.#message(said),
        timestamp: this.#host.timestamp(),
      },
      metadata,
      sequence: 0,
    });
    this.#host.entered?.(state);
    if (isTerminal(state) || (state === 'input-required' && !this.isAsking)) this.#end();
    else if (isInterrupted(state)) this.#tellWaiters();
  }

  #message(said: MessageContent): Message {
    const ids = { contextId: this.log.contextId, taskId: this.log.id };
    if (isMessage(said) && said.parts.length > 0)
      return { ...said, role: 'agent', messageId: said.messageId || this.#host.newId(), ...ids };
    const parts = isMessage(said) ? said.parts : toParts(said);
    if (parts.length === 0) throw new A2AError('INVALID_AGENT_RESPONSE', 'The agent said nothing');
    return { messageId: this.#host.newId(), role: 'agent', parts, ...ids };
  }

  /** Ends the run with what the agent returned. */
  finish(result: AgentResult): void {
    if (this.#isOver) return;
    if (result !== undefined && result !== null) {
      if (isMessage(result)) {
        this.status('completed', result);
        return;
      }
      if (Array.isArray(result))
        for (const draft of result as ArtifactDraft[]) this.artifact(draft, false, true);
      else this.emit(result as AgentOutput);
    }
    if (this.#isOver) return;
    if (isInterrupted(this.log.state)) this.#end();
    else this.status('completed');
  }

  /** Ends the task as failed. The agent's own error is said, a stranger's is logged. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#host.report({ level: 'error', message: 'The agent failed', taskId: this.log.id, error });
    const reason = error instanceof A2AError ? error.message : 'The agent could not finish this task.';
    this.stop('failed', reason);
  }

  /** Ends the task from outside: what the agent gives from now on is not heard. */
  stop(state: 'failed' | 'canceled', reason?: string): void {
    if (this.#isOver) return;
    try {
      this.status(state, reason);
    } catch (error) {
      // The ledger does not take it, so the task stays as it is; whoever waits must hear of it.
      this.#host.report({
        level: 'error',
        message: 'The end of a task was not stored',
        taskId: this.taskId,
        error,
      });
      this.#end(A2AError.from(error));
    }
    this.#release(reason);
  }

  /** Ends the run and leaves the task as it is, for another run to take up. */
  detach(): void {
    if (this.#isOver) return;
    this.#end();
    this.#release('The agent was shut down');
  }

  #release(reason: string | undefined): void {
    this.#controller?.abort(new A2AError('CANCELED', reason ?? 'The task was canceled'));
    this.#closeIterator();
  }

  /** The run is over; what the agent does while it tidies up is its own affair. */
  #closeIterator(): void {
    const iterator = this.#iterator;
    this.#iterator = undefined;
    try {
      const closing = iterator?.return?.();
      if (closing instanceof Promise) closing.catch((error: unknown) => this.#reportLate(error));
    } catch (error) {
      this.#reportLate(error);
    }
  }

  #reportLate(error: unknown): void {
    this.#host.report({
      level: 'warn',
      message: 'The agent failed after its task was over',
      taskId: this.log.id,
      error,
    });
  }

  #end(fault?: A2AError): void {
    this.#isOver = true;
    this.#answer?.reject(new A2AError('CANCELED', 'The task is over'));
    this.#answer = undefined;
    this.#host.ended(this);
    this.#tellWaiters(fault);
  }

  ask(question: MessageContent, state: 'input-required' | 'auth-required'): Promise<Message> {
    if (this.#isOver) return Promise.reject(new A2AError('CANCELED', 'The task is over'));
    if (this.#answer)
      return Promise.reject(new A2AError('UNSUPPORTED_OPERATION', 'A question waits for its answer already'));
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
      this.status(state, question);
    });
  }

  /** Gives the caller's answer to the question that waits for it. */
  answer(message: Message): void {
    const answer = this.#answer;
    this.#answer = undefined;
    this.startedAt = this.#host.now();
    this.#active = 0;
    this.status('working');
    answer?.resolve(message);
  }

  /** Waits until the task ends or needs the caller, and gives it as it then stands. */
  whenIdle(): Promise<Task> {
    return new Promise((resolve) => {
      if (this.#isOver || isInterrupted(this.log.state)) resolve(persistedTask(this.log));
      else if (this.#waiters) this.#waiters.push(resolve);
      else this.#waiters = [resolve];
    });
  }

  #tellWaiters(fault?: A2AError): void {
    const waiters = this.#waiters;
    if (!waiters) return;
    this.#waiters = undefined;
    const task = fault ? Promise.reject<Task>(fault) : persistedTask(this.log);
    for (const resolve of waiters) resolve(task);
  }
}

/** The task once everything that happened to it is stored. */
export function persistedTask(log: TaskLog): Promise<Task> | Task {
  const settled = log.whenPersisted();
  return settled ? settled.then(() => log.task()) : log.task();
}

/** Gives the iterator of something that yields; lists and strings are values. */
export function toIterator(given: unknown): AsyncIterator<AgentOutput> | Iterator<AgentOutput> | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  if (Symbol.asyncIterator in given) return (given as AsyncIterable<AgentOutput>)[Symbol.asyncIterator]();
  if (Symbol.iterator in given && !Array.isArray(given))
    return (given as Iterable<AgentOutput>)[Symbol.iterator]();
  return undefined;
}
