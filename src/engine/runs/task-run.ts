import type { TaskLog } from '../../store/task-store.ts';
import type { CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { copyJson } from '../../primitives/json.ts';
import type { LogEntry } from '../../primitives/log.ts';
import { isThenable } from '../../primitives/maybe-promise.ts';
import type { Message } from '../../protocol/message.ts';
import type { Outage } from '../../protocol/outage.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { Metadata } from '../../protocol/part.ts';
import { isInterrupted, isTerminal, type Task, type TaskState } from '../../protocol/task.ts';
import { ChunkTracker } from './chunk-tracker.ts';
import { isConflict, persistedTask } from './persisted-task.ts';
import { questionError } from './question-error.ts';
import { turnResult } from '../messages/turn.ts';
import { ProcessContext } from '../process-context.ts';
import type { ProcessFunction } from '../agent-definition.ts';
import type { ContextHistory } from '../messages/context-history.ts';
import {
  type ArtifactDraft,
  checkState,
  isMessage,
  invalidOutputError,
  type AgentOutput,
  draftParts,
  type AgentResult,
  type MessageContent,
  toAgentMessage,
  toIterator,
} from '../agent-output.ts';

/** Collaborators of {@link TaskRun}. */
export interface TaskRunHost extends ContextHistory {
  /** Returns milliseconds of the monotonic clock, as an integer. */
  elapsed(): number;
  timestamp(): string;
  readonly newId: () => string;
  report(entry: LogEntry): void;
  /** The current outage of the task store. */
  outage(): Outage | undefined;
  /** Called with every new task state, if metrics or tracing are enabled. */
  readonly onTaskState: ((state: TaskState, run?: TaskRun) => void) | undefined;
  /** Called when the run has ended, also when the task needs input. */
  ended(run: TaskRun): void;
}

/** One execution of the process function: from a message until the task reaches a terminal or interrupted state. */
export class TaskRun {
  readonly log: TaskLog;
  /** Start time by the monotonic clock, reset when a question is answered. */
  startedAt: number;
  /** Time of the check of the watchdog that last noticed output, for the idle timeout. */
  activeAt: number;
  /** True if there was output since the watchdog reset it. Reading the clock for each output takes longer. */
  hasNewOutput = false;
  /** True while the generator waits for the end of an outage of the task store. */
  isPaused = false;
  readonly #host: TaskRunHost;
  readonly #call: CallContext;
  #request: SendRequest | undefined;
  #isOver = false;
  /** Why the events of the run could not be stored. */
  #failure: A2AError | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #iterator: AsyncIterator<AgentOutput> | Iterator<AgentOutput> | undefined = undefined;
  /** Id of the artifact of yielded strings. */
  #textArtifact: string | undefined = undefined;
  #chunkTracker: ChunkTracker | undefined = undefined;
  /** Resolvers of {@link TaskRun.whenIdle}. */
  #waiters: ((task: Promise<Task> | Task) => void)[] | undefined = undefined;
  /** Resolvers of the pending question. */
  #pendingQuestion: { resolve: (message: Message) => void; reject: (reason: unknown) => void } | undefined =
    undefined;

  constructor(host: TaskRunHost, log: TaskLog, call: CallContext, request?: SendRequest) {
    this.#host = host;
    this.log = log;
    this.#call = call;
    this.#request = request;
    this.startedAt = host.elapsed();
    this.activeAt = this.startedAt;
  }

  get taskId(): string {
    return this.log.id;
  }

  get contextId(): string {
    return this.log.contextId;
  }

  /** Created on first access, because signals are expensive and most agents never read it. */
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

  /** True while the process function waits in `ask()`. */
  get isAsking(): boolean {
    return this.#pendingQuestion !== undefined;
  }

  start(process: ProcessFunction, message: Message): void {
    try {
      this.status('working');
    } catch (error) {
      if (!isConflict(error)) throw error;
      this.abandon(A2AError.from(error));
    }
    this.runProcess(process, message);
  }

  /** Calls the process function, unless the run has ended. */
  runProcess(process: ProcessFunction, message: Message): void {
    if (this.#isOver) return;
    const request = this.#request;
    this.#request = undefined;
    this.drive(process, new ProcessContext(this, message, this.#call, request, this.#host));
  }

  /** Calls the process function with an existing context. */
  drive(process: ProcessFunction, context: ProcessContext): void {
    let output: ReturnType<ProcessFunction>;
    try {
      output = process(context);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.consume(output);
  }

  /** Processes the output of a process function until it ends. */
  consume(output: ReturnType<ProcessFunction>): void {
    try {
      const iterator = toIterator(output);
      if (iterator) this.#consumeIterator(iterator);
      else void this.#awaitResult(output);
    } catch (error) {
      this.fail(error);
    }
  }

  async #awaitResult(output: ReturnType<ProcessFunction>): Promise<void> {
    try {
      this.finish((await output) as AgentResult);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Uses callbacks instead of an async loop: a task may wait here for hours, and this takes half the memory. */
  #consumeIterator(iterator: AsyncIterator<AgentOutput> | Iterator<AgentOutput>): void {
    this.#iterator = iterator;
    const fail = (error: unknown): void => this.fail(error);
    const advance = (): void => void Promise.resolve(iterator.next()).then(processStep, fail);
    const processStep = (step: IteratorResult<AgentOutput>): void => {
      try {
        if (!this.#processStep(step)) return;
        // During an outage the output would accumulate in memory.
        const outageEnd = this.#host.outage()?.ended;
        if (outageEnd) this.#pauseUntil(outageEnd, advance);
        else advance();
      } catch (error) {
        this.fail(error);
      }
    };
    advance();
  }

  #pauseUntil(end: PromiseLike<void>, advance: () => void): void {
    this.isPaused = true;
    Promise.resolve(end)
      .then(() => {
        this.isPaused = false;
        this.hasNewOutput = true;
        if (!this.#isOver) advance();
      })
      .catch((error: unknown) => this.fail(error));
  }

  /** @returns true if the iterator must be advanced. */
  #processStep(step: IteratorResult<AgentOutput>): boolean {
    if (this.#isOver) return false;
    if (step.done) {
      this.finish(step.value as AgentResult);
      return false;
    }
    this.emit(step.value);
    if (this.#isOver) this.#closeIterator();
    return !this.#isOver;
  }

  /** Converts output of the agent to events. */
  emit(output: AgentOutput): void {
    if (this.#isOver) return;
    this.hasNewOutput = true;
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
    this.#appendArtifact(this.#textArtifact, { parts: [{ text }] }, append, undefined);
  }

  /** Appends an artifact, or a chunk of one. */
  artifact(draft: ArtifactDraft, append: boolean, lastChunk: boolean | undefined, metadata?: Metadata): void {
    const artifactId = draft.artifactId ?? this.#host.newId();
    this.#chunkTracker ??= new ChunkTracker(this.log);
    const isAppended = this.#chunkTracker.add(artifactId, append, lastChunk ?? false);
    this.#appendArtifact(artifactId, draft, isAppended, lastChunk, metadata);
  }

  #appendArtifact(
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
      // All members are listed, so that all artifacts have the same hidden class. Objects are copied, because the process
      // function may modify or reuse them.
      artifact: {
        artifactId,
        name: draft.name,
        description: draft.description,
        parts: draftParts(draft),
        extensions: copyJson(draft.extensions),
        metadata: copyJson(draft.metadata),
      },
      append,
      lastChunk,
      metadata: copyJson(metadata),
      sequence: 0,
    });
  }

  /**
   * Appends a status. A terminal state and `input-required` end the run; `auth-required` does not, because the
   * authorization may arrive out of band.
   */
  status(state: TaskState, content?: MessageContent, metadata?: Metadata): void {
    this.log.append({
      kind: 'status',
      taskId: this.log.id,
      contextId: this.log.contextId,
      status: {
        state,
        message: content === undefined ? undefined : toAgentMessage(content, this, this.#host.newId),
        timestamp: this.#host.timestamp(),
      },
      metadata: copyJson(metadata),
      sequence: 0,
    });
    this.#host.onTaskState?.(state, this);
    if (isTerminal(state) || (state === 'input-required' && !this.isAsking)) this.#end();
    else if (isInterrupted(state)) this.#resolveWaiters();
  }

  /** Ends the run with the result of the process function. */
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

  /** Fails the task. The message of an {@link A2AError} is sent to the client; other errors are only logged. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#host.report({ level: 'error', message: 'Process function failed', taskId: this.log.id, error });
    const reason = error instanceof A2AError ? error.message : 'The agent could not finish this task.';
    this.stop('failed', reason);
  }

  /** Ends the task from outside and ignores later output. */
  stop(state: 'failed' | 'canceled', reason?: string): void {
    if (this.#isOver) return;
    try {
      this.status(state, reason);
    } catch (error) {
      // The task store rejected the status, so the task stays unchanged; waiting requests must fail.
      const message = 'The final status of a task could not be stored';
      if (!isConflict(error)) this.#host.report({ level: 'error', message, taskId: this.taskId, error });
      this.#end(A2AError.from(error));
    }
    this.#abort(reason);
  }

  /** Ends the run because its log was abandoned. */
  abandon(error: A2AError): void {
    if (this.#isOver) return;
    this.#end(error);
    this.#abort(error.message);
  }

  /** Ends the run without changing the task, so that another run can resume it. */
  detach(): void {
    if (this.#isOver) return;
    this.#end();
    this.#abort('The agent was shut down');
  }

  #abort(reason: string | undefined): void {
    this.#controller?.abort(new A2AError('CANCELED', reason ?? 'The task was canceled'));
    this.#closeIterator();
  }

  /** Lets the generator clean up. Errors are logged, because the run has already ended. */
  #closeIterator(): void {
    const iterator = this.#iterator;
    this.#iterator = undefined;
    try {
      const closing: unknown = iterator?.return?.();
      if (isThenable(closing)) closing.then(undefined, (error: unknown) => this.#reportLate(error));
    } catch (error) {
      this.#reportLate(error);
    }
  }

  #reportLate(error: unknown): void {
    const message = 'Process function failed after the end of its task';
    this.#host.report({ level: 'error', message, taskId: this.log.id, error });
  }

  #end(failure?: A2AError): void {
    this.#isOver = true;
    this.#failure = failure;
    this.#pendingQuestion?.reject(new A2AError('CANCELED', 'The task has ended'));
    this.#pendingQuestion = undefined;
    this.#host.ended(this);
    this.#resolveWaiters(failure);
  }

  ask(question: MessageContent, state: 'input-required' | 'auth-required'): Promise<Message> {
    const problem = questionError({ isOver: this.#isOver, isAsking: this.isAsking }, this.#call);
    if (problem) return Promise.reject(problem);
    const answer = new Promise<Message>((resolve, reject) => {
      this.#pendingQuestion = { resolve, reject };
      this.status(state, question);
    });
    // The end of the task rejects it, which must not end the process if the agent does not await the answer.
    answer.catch(() => {});
    return answer;
  }

  /** Resolves the pending question with a message. */
  answer(message: Message): void {
    const answer = this.#pendingQuestion;
    this.#pendingQuestion = undefined;
    this.startedAt = this.#host.elapsed();
    this.activeAt = this.startedAt;
    this.status('working');
    answer?.resolve(message);
  }

  /** Resolves to the task when it reaches a terminal or interrupted state. */
  whenIdle(): Promise<Task> {
    return new Promise((resolve) => {
      if (this.#isOver) resolve(turnResult(this.log, this.#failure));
      else if (isInterrupted(this.log.state)) resolve(persistedTask(this.log));
      else (this.#waiters ??= []).push(resolve);
    });
  }

  #resolveWaiters(failure?: A2AError): void {
    const waiters = this.#waiters;
    if (!waiters) return;
    this.#waiters = undefined;
    const task = turnResult(this.log, failure);
    for (const resolve of waiters) resolve(task);
  }
}
