import { raceAbort } from '../../primitives/abort.ts';
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
  type TaskState,
} from '../../protocol/task.ts';
import { disconnectedError, explainAgentError } from './error-mapping.ts';
import type { MeshReply, SentReply } from './mesh-reply.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';
import type { MeshTask, MeshTasks } from './mesh-tasks.ts';
import type { Semaphore } from './semaphore.ts';

/** Operation that a run calls at the agent. */
export type AgentOperation =
  | { readonly kind: 'send' | 'stream'; readonly request: SendRequest }
  | { readonly kind: 'subscribe' };

/** Collaborators of {@link RequestRun}. */
export interface RequestRunContext {
  readonly agent: Agent;
  readonly operation: AgentOperation;
  readonly task: MeshTask;
  readonly tasks: MeshTasks;
  readonly reply: MeshReply;
  /** True if the task was canceled before the request arrived. */
  readonly isCanceled: boolean;
  readonly call: Omit<CallContext, 'signal'>;
  readonly semaphore: Semaphore;
  readonly settings: MeshServerSettings;
}

/** Reason for the early end of a run whose task was canceled. */
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
  readonly #context: RequestRunContext;
  /** Ends the run early, with an error or {@link CanceledRun}. */
  readonly #end = new AbortController();
  /** Aborts the call of the agent. */
  readonly #abort = new AbortController();
  readonly #call: CallContext;
  #reducer: TaskReducer | undefined;
  #history: Message[] | undefined;
  #hasStarted = false;
  /** False if the latest state was received in a task snapshot only, which is not sent as an update. */
  #isStateSent = true;
  /** Pending result of the agent, for a cancellation before its first event. */
  #pending: Promise<StreamEvent | undefined> | undefined;
  /** True if the task was canceled before its id at the agent was known. */
  #cancelsWhenKnown = false;
  #isEnding = false;
  /** True if the response was final rather than a request for input. */
  #hasSentFinal = false;

  constructor(context: RequestRunContext) {
    this.#context = context;
    this.#call = { ...context.call, signal: this.#abort.signal };
  }

  /** Runs until the response is sent. Never rejects. */
  async run(): Promise<SentReply | undefined> {
    const { semaphore, task } = this.#context;
    const { signal } = this.#end;
    let release: (() => void) | undefined;
    try {
      release = await semaphore.acquire(signal);
      return await this.#respond(await this.#callWhenAvailable());
    } catch (thrown) {
      return thrown instanceof CanceledRun ? await this.#respond(thrown.task) : await this.#fail(thrown);
    } finally {
      task.runs.delete(this);
      await this.#cancelWhenKnown();
      // A run that ended by itself has closed its stream already.
      if (signal.aborted) this.#abort.abort(signal.reason);
      release?.();
    }
  }

  /** Ends the run early. @returns false if it is ending already. */
  end(reason: A2AError | CanceledRun): boolean {
    if (this.#isEnding || this.#end.signal.aborted) return false;
    this.#end.abort(reason);
    return true;
  }

  /** Cancels the task at the agent. If its id is not known yet, it is canceled here, and there once it is known. */
  async cancel(): Promise<CancelResult> {
    const { agent, task, settings, call } = this.#context;
    if (task.upstreamId === undefined) {
      const timestamp = new Date(settings.clock.now()).toISOString();
      const known = this.#reducer?.task() ?? { id: task.id, contextId: task.contextId };
      const canceled: Task = { ...known, status: { state: 'canceled', timestamp } };
      this.#cancelsWhenKnown = true;
      return { task: canceled, isReported: this.end(new CanceledRun(canceled)) };
    }
    const result = await agent.cancelTask({ id: task.upstreamId }, call);
    if (isTerminal(result.status.state)) {
      // The stream may have reported the end already; it is reported once.
      return { task: result, isReported: this.end(new CanceledRun(result)) || this.#hasSentFinal };
    }
    const message = 'The agent continues the task after the cancel request';
    settings.log({ level: 'info', message, taskId: task.id });
    return { task: result, isReported: true };
  }

  /** Waits while the agent has an outage. Meanwhile the message stays unacknowledged in its queue. */
  async #callWhenAvailable(): Promise<Task | Message> {
    for (;;) {
      const ended = this.#context.agent.outage?.()?.ended;
      if (ended) {
        await this.#untilEnded(Promise.resolve(ended));
        continue;
      }
      try {
        return await this.#callAgent();
      } catch (thrown) {
        // The agent has not received the request, for example because another one probes the circuit breaker.
        if (this.#hasStarted || !isOutageError(thrown)) throw thrown;
      }
    }
  }

  async #callAgent(): Promise<Task | Message> {
    const { agent, operation, task, isCanceled } = this.#context;
    if (operation.kind === 'subscribe')
      return this.#readEvents(agent.subscribe({ id: task.upstreamId ?? task.id }, this.#call));
    const { request } = operation;
    if (operation.kind === 'stream' && (await this.#untilEnded(this.#canStream())))
      return this.#readEvents(agent.stream(request, this.#call));
    const configuration = { ...request.configuration, returnImmediately: true };
    const sent = agent.send(isCanceled ? { ...request, configuration } : request, this.#call);
    return this.#readEvents(eventOf(sent), true);
  }

  /** An agent without a readable card may be able to stream. */
  async #canStream(): Promise<boolean> {
    const card = await this.#context.agent.card(this.#call).catch(() => undefined);
    return card === undefined || card.capabilities.streaming === true;
  }

  /** @param isSend - whether the result of a send is read, which ends the request in any state. */
  async #readEvents(events: AsyncIterable<StreamEvent>, isSend = false): Promise<Task | Message> {
    const iterator = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = iterator.next();
        this.#awaitEvent(next.then(({ done, value }) => (done ? undefined : value)));
        const step = await this.#untilEnded(next);
        this.#pending = undefined;
        if (step.done) break;
        const result = await this.#process(step.value);
        if (result) return result;
      }
    } finally {
      // A stream without events stays open until its first event contains the id of the task to cancel.
      if (!this.#cancelsWhenKnown) void Promise.resolve(iterator.return?.()).catch(() => {});
    }
    const task = this.#task();
    const isWaiting = task !== undefined && isInterrupted(task.status.state);
    if (!task || !(isWaiting || isSend)) throw disconnectedError(this.#context.reply.address.ids.agent);
    // Receivers display the status of an interrupted task from an update, not from the final task.
    if (isWaiting && !this.#isStateSent) {
      const { id: taskId, contextId, status } = task;
      await this.#context.reply.update({ kind: 'status', taskId, contextId, status });
    }
    return task;
  }

  /**
   * A task that was canceled before is started and canceled at the agent: if the request was delivered before, it may
   * have been started already.
   */
  #awaitEvent(pending: Promise<StreamEvent | undefined>): void {
    this.#pending = pending;
    pending.catch(() => {});
    if (this.#context.isCanceled && !this.#hasStarted) void this.cancel();
  }

  /** Processes an event. @returns the result if the event ends the request. */
  async #process(event: StreamEvent): Promise<Task | Message | undefined> {
    const { task, tasks } = this.#context;
    const { upstreamId } = task;
    this.#apply(event);
    if (task.upstreamId !== upstreamId) {
      const saving = tasks.save(task);
      // Another server may have received a cancel request before it could know the id.
      if (saving && (await saving.then(() => tasks.takeCancel(task)))) void this.#cancelInBackground();
    }
    if (event.kind === 'message') return event.message;
    const state = this.#reducer?.status.state ?? 'unknown';
    this.#isStateSent = event.kind !== 'task';
    if (event.kind !== 'task') await this.#context.reply.update(event);
    // A snapshot at the start may contain the input request that this message answers, so it does not end the run.
    const isOver = isTerminal(state) || (state === 'input-required' && event.kind === 'status');
    return isOver ? this.#task() : undefined;
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
    const { task, tasks } = this.#context;
    if (task.upstreamId !== ids.taskId) tasks.setUpstreamIds(task, ids);
    if (event.kind === 'task') this.#history = event.task.history;
    const stored = withoutProgressMessage(event);
    this.#reducer ??= startReducer(stored);
    this.#reducer?.apply(stored);
    task.state = this.#reducer?.status.state;
  }

  async #respond(result: Task | Message): Promise<SentReply | undefined> {
    const { reply, operation } = this.#context;
    const state = isTask(result) ? result.status.state : 'completed';
    this.#isEnding = true;
    this.#hasSentFinal = isTerminal(state);
    await this.#setState(state);
    if (!isTask(result) || operation.kind === 'subscribe') return reply.respond(result);
    return reply.respond(limitHistory(result, operation.request.configuration?.historyLength));
  }

  async #fail(thrown: unknown): Promise<SentReply | undefined> {
    const { reply, task, settings, operation } = this.#context;
    const known = this.#task();
    // An interrupted task waits for the client, so its silence is not an error.
    if (known && isInterrupted(known.status.state) && A2AError.from(thrown).reason === 'TIMEOUT')
      return this.#respond(known);
    const { agent } = reply.address.ids;
    this.#isEnding = true;
    this.#hasSentFinal = true;
    const error = explainAgentError(thrown, {
      agent,
      taskId: task.id,
      isStream: operation.kind !== 'send',
      hasStarted: this.#hasStarted,
    });
    await this.#setState('failed');
    const { message } = error;
    settings.log({ level: 'error', message, taskId: task.id, error: thrown, fields: { agent } });
    return reply.fail(error);
  }

  /** Stores the state of the task, before the response is sent. */
  async #setState(state: TaskState): Promise<void> {
    const { task, tasks, operation } = this.#context;
    if (operation.kind !== 'subscribe') delete task.request;
    tasks.setState(task, state);
    const saving = tasks.save(task);
    if (saving) await saving;
  }

  async #cancelInBackground(): Promise<void> {
    const { settings, task } = this.#context;
    try {
      await this.cancel();
    } catch (error) {
      settings.log({ level: 'warn', message: 'The agent failed to cancel the task', taskId: task.id, error });
    }
  }

  /** Cancels a task at the agent whose id was unknown when it was canceled here. */
  async #cancelWhenKnown(): Promise<void> {
    const { agent, task, settings, call } = this.#context;
    if (!this.#pending || !this.#cancelsWhenKnown) return;
    const timeout = new AbortController();
    const stopTimer = settings.clock.after(settings.timeouts.cancel, () => timeout.abort());
    try {
      const event = await raceAbort(this.#pending, timeout.signal).catch(() => undefined);
      if (!event || event.kind === 'message') return;
      if (event.kind === 'task' && isTerminal(event.task.status.state)) return;
      await agent.cancelTask({ id: event.kind === 'task' ? event.task.id : event.taskId }, call);
    } catch (error) {
      settings.log({ level: 'warn', message: 'The agent failed to cancel the task', taskId: task.id, error });
    } finally {
      stopTimer();
    }
  }

  #untilEnded<T>(promise: Promise<T>): Promise<T> {
    return raceAbort(promise, this.#end.signal);
  }
}

/** Returns the result of a send as the only event of a stream. */
async function* eventOf(sent: Promise<Task | Message>): AsyncGenerator<StreamEvent> {
  const result = await sent;
  yield isTask(result) ? { kind: 'task', task: result } : { kind: 'message', message: result };
}

/** Progress messages are sent as updates but not stored, because there may be one for each word. */
function withoutProgressMessage(event: StreamEvent): StreamEvent {
  if (event.kind !== 'status' || isTerminalOrInterrupted(event.status.state)) return event;
  const { message: _sent, ...status } = event.status;
  return { ...event, status };
}
