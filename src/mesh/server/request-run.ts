import type { Agent, CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { isOutageError } from '../../protocol/outage.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import {
  isInterrupted,
  isTask,
  isTerminal,
  isTerminalOrInterrupted,
  limitHistory,
  type Task,
} from '../../protocol/task.ts';
import { disconnectedError, explainAgentError } from './error-mapping.ts';
import type { MeshReply, SentReply } from './mesh-reply.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';
import type { MeshTask, MeshTasks } from './mesh-tasks.ts';

/** Operation that a run calls at the agent. */
export type AgentOperation =
  | { readonly kind: 'send' | 'stream'; readonly request: SendRequest }
  | { readonly kind: 'subscribe' };

/** Collaborators of {@link RequestRun}. */
export interface RequestRunParts {
  readonly agent: Agent;
  readonly operation: AgentOperation;
  readonly task: MeshTask;
  readonly tasks: MeshTasks;
  readonly reply: MeshReply;
  /** True if the task was canceled before the request arrived. */
  readonly isCanceled: boolean;
  readonly call: Omit<CallContext, 'signal'>;
  readonly settings: MeshServerSettings;
}

/** Thrown to end a run without an error, because its task was canceled. */
class CanceledRun {
  readonly task: Task;

  constructor(task: Task) {
    this.task = task;
  }
}

/** Result of {@link RequestRun.cancel}. */
export interface CancelResult {
  readonly task: Task;
  /** False if the request already had its response, so that the cancellation was not reported. */
  readonly isReported: boolean;
}

/** One request in progress: sends events of the agent as updates, and exactly one response. */
export class RequestRun {
  readonly #parts: RequestRunParts;
  readonly #controller = new AbortController();
  readonly #call: CallContext;
  #reducer: TaskReducer | undefined;
  #history: Message[] | undefined;
  #hasStarted = false;
  /** False if the latest state was received in a task snapshot only, which is not sent as an update. */
  #isStateSent = true;
  /** Why the run ends early: an error or {@link CanceledRun}. */
  #reason: unknown;
  #interrupt: ((reason: unknown) => void) | undefined;
  /** Pending result of the agent, for a cancellation before its first event. */
  #pending: Promise<StreamEvent | undefined> | undefined;
  /** True if the task was canceled before its id at the agent was known. */
  #cancelsWhenKnown = false;
  #stopIdle: (() => void) | undefined;
  #isRunning = false;
  #isEnding = false;
  /** True if the response was final rather than a request for input. */
  #hasSentFinal = false;
  #onEarlyEnd: (() => void) | undefined;

  constructor(parts: RequestRunParts) {
    this.#parts = parts;
    this.#call = { ...parts.call, signal: this.#controller.signal };
  }

  /** Registers a callback for a run that ends before it was started. */
  onEarlyEnd(callback: () => void): void {
    this.#onEarlyEnd = callback;
  }

  /** Runs until the response is sent. Never rejects. */
  async run(): Promise<SentReply | undefined> {
    const { settings, task } = this.#parts;
    const { total } = settings.timeouts;
    let stopTotal: (() => void) | undefined;
    this.#isRunning = true;
    try {
      for (;;) {
        await this.#waitUntilAvailable();
        stopTotal ??=
          total > 0 ? settings.clock.after(total, () => this.#timeOut('total', total)) : undefined;
        this.#resetIdleTimeout();
        try {
          return await this.#respond(await this.#callAgent());
        } catch (thrown) {
          // The agent has not received the request, for example because another one probes the circuit breaker.
          if (this.#hasStarted || !isOutageError(thrown)) throw thrown;
          this.#stopIdle?.();
        }
      }
    } catch (thrown) {
      return thrown instanceof CanceledRun ? await this.#respond(thrown.task) : await this.#fail(thrown);
    } finally {
      stopTotal?.();
      this.#stopIdle?.();
      task.runs.delete(this);
      await this.#cancelWhenKnown();
      // A run that ended by itself has closed its stream already.
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
  }

  /** Waits for the end of an outage of the agent. Meanwhile the message stays unacknowledged in its queue. */
  async #waitUntilAvailable(): Promise<void> {
    for (;;) {
      const ended = this.#parts.agent.outage?.()?.ended;
      if (!ended) return;
      await this.#untilInterrupted(Promise.resolve(ended));
    }
  }

  /** Ends the run with an error. */
  end(error: A2AError): void {
    this.#interruptWith(error);
  }

  /** Cancels the task at the agent. If its id is not known yet, it is canceled here, and there once it is known. */
  async cancel(): Promise<CancelResult> {
    const { agent, task, settings } = this.#parts;
    if (task.upstreamId === undefined) {
      const canceled = this.#canceledTask();
      this.#cancelsWhenKnown = true;
      return { task: canceled, isReported: this.#interruptWith(new CanceledRun(canceled)) };
    }
    const { signal: _ofTheRun, ...call } = this.#call;
    const result = await agent.cancelTask({ id: task.upstreamId }, call);
    if (isTerminal(result.status.state)) {
      // The stream may have reported the end already; it is reported once.
      const isReported = this.#interruptWith(new CanceledRun(result)) || this.#hasSentFinal;
      return { task: result, isReported };
    }
    settings.log({
      level: 'info',
      message: 'The agent continues the task after the cancel request',
      taskId: task.id,
    });
    return { task: result, isReported: true };
  }

  #canceledTask(): Task {
    const { task, settings } = this.#parts;
    const timestamp = new Date(settings.clock.now()).toISOString();
    const known = this.#reducer?.task() ?? { id: task.id, contextId: task.contextId };
    return { ...known, status: { state: 'canceled', timestamp } };
  }

  async #callAgent(): Promise<Task | Message> {
    const { agent, operation, task } = this.#parts;
    if (this.#reason !== undefined) throw this.#reason;
    if (operation.kind === 'subscribe') {
      return this.#readStream(agent.subscribe({ id: task.upstreamId ?? task.id }, this.#call));
    }
    if (operation.kind === 'stream' && (await this.#untilInterrupted(this.#canStream()))) {
      return this.#readStream(agent.stream(operation.request, this.#call));
    }
    const sending = agent.send(this.#sendRequest(operation.request), this.#call);
    this.#awaitEvent(
      sending.then((result) =>
        isTask(result) ? { kind: 'task', task: result } : { kind: 'message', message: result },
      ),
    );
    const result = await this.#untilInterrupted(sending);
    this.#pending = undefined;
    if (!isTask(result)) return result;
    this.#apply({ kind: 'task', task: result });
    if (isInterrupted(result.status.state)) await this.#sendStatus(result);
    return result;
  }

  /**
   * A task that was canceled before is started and canceled at the agent: if the request was delivered before, it may
   * have been started already.
   */
  #awaitEvent(pending: Promise<StreamEvent | undefined>): void {
    this.#pending = pending;
    pending.catch(() => {});
    if (this.#parts.isCanceled && !this.#hasStarted) void this.cancel();
  }

  #sendRequest(request: SendRequest): SendRequest {
    if (!this.#parts.isCanceled) return request;
    return { ...request, configuration: { ...request.configuration, returnImmediately: true } };
  }

  /** An agent without a readable card may be able to stream. */
  async #canStream(): Promise<boolean> {
    const card = await this.#parts.agent.card(this.#call).catch(() => undefined);
    return card === undefined || card.capabilities.streaming === true;
  }

  async #readStream(events: AsyncIterable<StreamEvent>): Promise<Task | Message> {
    const iterator = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = iterator.next();
        this.#awaitEvent(next.then(({ done, value }) => (done ? undefined : value)));
        const step = await this.#untilInterrupted(next);
        this.#pending = undefined;
        if (step.done) break;
        this.#resetIdleTimeout();
        const result = await this.#process(step.value);
        if (result) return result;
      }
    } finally {
      // A stream without events stays open until its first event contains the id of the task to cancel.
      if (!this.#cancelsWhenKnown) void Promise.resolve(iterator.return?.()).catch(() => {});
    }
    return this.#resultAtStreamEnd();
  }

  /** Processes an event. @returns the result if the event ends the request. */
  async #process(event: StreamEvent): Promise<Task | Message | undefined> {
    const { reply } = this.#parts;
    this.#apply(event);
    if (event.kind === 'message') return event.message;
    const state = this.#reducer?.status.state ?? 'unknown';
    this.#isStateSent = event.kind !== 'task';
    if (event.kind !== 'task') await reply.update(event);
    // A snapshot at the start may contain the input request that this message answers, so it does not end the run.
    const isOver = isTerminal(state) || (state === 'input-required' && event.kind === 'status');
    return isOver ? this.#task() : undefined;
  }

  /** Receivers display the status of an interrupted task from an update, not from the final task. */
  async #sendStatus({ id, contextId, status }: Task): Promise<void> {
    await this.#parts.reply.update({ kind: 'status', taskId: id, contextId, status });
  }

  async #resultAtStreamEnd(): Promise<Task> {
    const task = this.#task();
    if (task && isInterrupted(task.status.state)) {
      if (!this.#isStateSent) await this.#sendStatus(task);
      return task;
    }
    throw disconnectedError(this.#parts.reply.address.ids.agent);
  }

  /** Returns the task with the history that the agent sent, without the messages of updates. */
  #task(): Task | undefined {
    const task = this.#reducer?.task();
    if (!task) return undefined;
    const { history: _updates, ...rest } = task;
    return this.#history ? { ...rest, history: this.#history } : rest;
  }

  #apply(event: StreamEvent): void {
    this.#hasStarted = true;
    if (event.kind === 'message') return;
    const ids = event.kind === 'task' ? { taskId: event.task.id, contextId: event.task.contextId } : event;
    const { task, tasks } = this.#parts;
    if (task.upstreamId !== ids.taskId) tasks.setUpstreamIds(task, ids);
    if (event.kind === 'task') this.#history = event.task.history;
    const stored = withoutProgressMessage(event);
    if (this.#reducer) this.#reducer.apply(stored);
    else {
      this.#reducer = startReducer(stored);
      this.#reducer?.apply(stored);
    }
    task.state = this.#reducer?.status.state;
  }

  async #respond(result: Task | Message): Promise<SentReply | undefined> {
    const { reply, task, tasks, operation } = this.#parts;
    const state = isTask(result) ? result.status.state : 'completed';
    this.#isEnding = true;
    this.#hasSentFinal = isTerminal(state);
    tasks.setState(task, state, isInterrupted(state));
    if (!isTask(result)) return reply.respond(result);
    const length =
      operation.kind === 'subscribe' ? undefined : operation.request.configuration?.historyLength;
    return reply.respond(limitHistory(result, length));
  }

  async #fail(thrown: unknown): Promise<SentReply | undefined> {
    const { reply, task, tasks, settings, operation } = this.#parts;
    const known = this.#task();
    // An interrupted task waits for the client, so its silence is not an error.
    if (known && isInterrupted(known.status.state) && A2AError.from(thrown).reason === 'TIMEOUT') {
      return this.#respond(known);
    }
    const { agent } = reply.address.ids;
    const context = {
      agent,
      taskId: task.id,
      isStream: operation.kind !== 'send',
      hasStarted: this.#hasStarted,
    };
    this.#isEnding = true;
    this.#hasSentFinal = true;
    const error = explainAgentError(thrown, context);
    tasks.setState(task, 'failed', false);
    settings.log({
      level: 'error',
      message: error.message,
      taskId: task.id,
      error: thrown,
      fields: { agent },
    });
    return reply.fail(error);
  }

  /** Cancels a task at the agent whose id was unknown when it was canceled here. */
  async #cancelWhenKnown(): Promise<void> {
    const { agent, task, settings } = this.#parts;
    const pending = this.#pending;
    if (!pending || !this.#cancelsWhenKnown) return;
    let stopTimer = (): void => {};
    const timeout = new Promise<undefined>((resolve) => {
      stopTimer = settings.clock.after(settings.timeouts.cancel, () => resolve(undefined));
    });
    try {
      const event = await Promise.race([pending.catch(() => undefined), timeout]);
      if (!event || event.kind === 'message') return;
      const id = event.kind === 'task' ? event.task.id : event.taskId;
      if (event.kind === 'task' && isTerminal(event.task.status.state)) return;
      const { signal: _ofTheRun, ...call } = this.#call;
      await agent.cancelTask({ id }, call);
    } catch (error) {
      settings.log({ level: 'warn', message: 'The agent failed to cancel the task', taskId: task.id, error });
    } finally {
      stopTimer();
    }
  }

  #resetIdleTimeout(): void {
    const { clock, timeouts } = this.#parts.settings;
    this.#stopIdle?.();
    if (timeouts.idle > 0) {
      this.#stopIdle = clock.after(timeouts.idle, () => this.#timeOut('idle', timeouts.idle));
    }
  }

  #timeOut(which: 'idle' | 'total', milliseconds: number): void {
    const { agent } = this.#parts.reply.address.ids;
    const what = which === 'idle' ? 'sent nothing for' : 'did not end the task within';
    this.#interruptWith(new A2AError('TIMEOUT', `Remote agent '${agent}' ${what} ${milliseconds} ms`));
  }

  /** @returns true if the run ends for this reason. */
  #interruptWith(reason: unknown): boolean {
    if (this.#isEnding || this.#reason !== undefined) return false;
    this.#reason = reason;
    this.#interrupt?.(reason);
    if (!this.#isRunning) this.#onEarlyEnd?.();
    return true;
  }

  /** Waits for a promise or the interruption of the run. */
  #untilInterrupted<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#reason !== undefined) reject(this.#reason);
      this.#interrupt = reject;
      promise.then(resolve, reject);
    });
  }
}

/** Progress messages are sent as updates but not stored, because there may be one for each word. */
function withoutProgressMessage(event: StreamEvent): StreamEvent {
  if (event.kind !== 'status' || isTerminalOrInterrupted(event.status.state)) {
    return event;
  }
  const { message: _sent, ...status } = event.status;
  return { ...event, status };
}
