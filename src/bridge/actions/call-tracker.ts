import { type Clock, sleep } from '../../primitives/clock.ts';
import { isAbortableStream } from '../../client/streaming/abortable-stream.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isInterrupted, isTask, isTerminal, type Task } from '../../protocol/task.ts';

/** Outcome of a call. */
export type CallOutcome =
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'running'; readonly task: Task }
  | { readonly kind: 'canceled'; readonly task: Task | undefined; readonly error: A2AError | undefined }
  /** The bridge was closed. */
  | { readonly kind: 'closed'; readonly task: Task | undefined }
  /** The agent could not be called, or it returned an error. */
  | { readonly kind: 'error'; readonly error: A2AError; readonly task: Task | undefined };

/** Options of {@link CallTracker}. */
export interface CallTrackerOptions {
  /** The agent; `isAbortable` is updated after each stream. */
  readonly bridged: { readonly agent: Agent; isAbortable: boolean | undefined };
  /** A message to send, or the task to wait for. */
  readonly request: SendRequest | { readonly taskId: string };
  readonly owner: string | undefined;
  readonly waitBudget: number;
  /** Milliseconds to wait for a cancellation. */
  readonly cancelBudget: number;
  /** Milliseconds between two polls of a task that cannot be subscribed to. */
  readonly pollInterval: number;
  readonly signal: AbortSignal | undefined;
  readonly onEvent: ((event: StreamEvent) => void) | undefined;
  /** Called after the last event. */
  readonly onEnd: () => void;
  readonly clock: Clock;
}

/** Errors of agents that cannot stream or of tasks that cannot be subscribed to; the tracker then polls. */
const cannotStream: ReadonlySet<string> = new Set(['METHOD_NOT_FOUND', 'UNSUPPORTED_OPERATION']);

/**
 * Tracks one call until its task reaches a terminal or interrupted state, the wait budget is used up or the client
 * aborts. Never rejects.
 *
 * It streams even without `onEvent`: a blocking send returns the task id only at the end, but the id is needed to cancel
 * the task or to wait for it later.
 */
export class CallTracker {
  readonly #options: CallTrackerOptions;
  /** Created only if a request needs a signal. */
  #abortController: AbortController | undefined = undefined;
  #closeStream: (() => void) | undefined = undefined;
  #isStopped = false;
  #reducer: TaskReducer | undefined = undefined;
  #message: Message | undefined = undefined;
  /** True while the known task state may be older than the sent message. */
  #isStale = false;
  #stopReason: 'budget' | 'canceled' | 'closed' | undefined = undefined;
  #stopTimer: () => void = () => {};

  constructor(options: CallTrackerOptions) {
    this.#options = options;
  }

  /** Stops waiting; the task continues. */
  detach(): void {
    this.#stop('closed');
  }

  async run(): Promise<CallOutcome> {
    const { request, signal, clock, waitBudget, onEnd } = this.#options;
    const onAbort = signal && ((): void => this.#cancel());
    try {
      if (signal?.aborted) return { kind: 'canceled', task: undefined, error: undefined };
      if (onAbort) signal.addEventListener('abort', onAbort, { once: true });
      if (waitBudget !== Infinity) this.#stopTimer = clock.after(waitBudget, () => this.#stop('budget'));
      if ('taskId' in request) await this.#wait(request.taskId);
      else await this.#send(request);
      return this.#message ? { kind: 'message', message: this.#message } : await this.#conclude(undefined);
    } catch (thrown) {
      return await this.#conclude(A2AError.from(thrown));
    } finally {
      this.#stopTimer();
      if (onAbort) signal.removeEventListener('abort', onAbort);
      onEnd();
    }
  }

  /** Context of a request that is aborted when the wait ends. */
  get #call(): CallContext {
    this.#abortController ??= new AbortController();
    if (this.#isStopped) this.#abortController.abort();
    return { ...this.#streamCall, signal: this.#abortController.signal };
  }

  /** Context of a stream that can be closed without a signal. */
  get #streamCall(): CallContext {
    const { owner } = this.#options;
    return owner === undefined ? {} : { owner };
  }

  /** Waits for the task id if it is not known yet, because it is needed to cancel the task. */
  #cancel(): void {
    this.#stopTimer();
    this.#stopReason = 'canceled';
    if (this.#reducer) this.#stopWaiting();
    else {
      const { clock, cancelBudget } = this.#options;
      this.#stopTimer = clock.after(cancelBudget, () => this.#stopWaiting());
    }
  }

  #stop(reason: 'budget' | 'closed'): void {
    this.#stopReason ??= reason;
    this.#stopWaiting();
  }

  #stopWaiting(): void {
    this.#isStopped = true;
    this.#abortController?.abort();
    this.#closeStream?.();
  }

  async #send(request: SendRequest): Promise<void> {
    const { bridged } = this.#options;
    try {
      const call = bridged.isAbortable ? this.#streamCall : this.#call;
      await this.#consume(bridged.agent.stream(request, call), request.message.taskId !== undefined);
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (this.#reducer || !cannotStream.has(error.reason)) throw error;
      const configuration = { ...request.configuration, returnImmediately: true };
      const result = await bridged.agent.send({ ...request, configuration }, this.#call);
      this.#handle(isTask(result) ? { kind: 'task', task: result } : { kind: 'message', message: result });
      if (isTask(result)) await this.#poll(result.id);
    }
  }

  /** Waits for an existing task. */
  async #wait(id: string): Promise<void> {
    const { agent } = this.#options.bridged;
    this.#handle({ kind: 'task', task: await agent.getTask({ id }, this.#call) });
    if (this.#hasFinished()) return;
    try {
      await this.#consume(agent.subscribe({ id }, this.#call));
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (!cannotStream.has(error.reason)) throw error;
      this.#handle({ kind: 'task', task: await agent.getTask({ id }, this.#call) });
      await this.#poll(id);
    }
  }

  async #poll(id: string): Promise<void> {
    const { bridged, clock, pollInterval } = this.#options;
    while (!this.#hasFinished()) {
      const call = this.#call;
      await sleep(clock, pollInterval, call.signal, canceledError);
      this.#handle({ kind: 'task', task: await bridged.agent.getTask({ id }, call) });
    }
  }

  /** @param startsStale - true if the stream may start with a snapshot of the task before the message */
  async #consume(events: AsyncIterable<StreamEvent>, startsStale = false): Promise<void> {
    this.#isStale = startsStale;
    for await (const event of this.#closeable(events)) {
      this.#isStale &&= event.kind === 'task';
      this.#handle(event);
      // A stream ends with its task, which keeps its connection reusable. It need not end in an interrupted state.
      const state = this.#reducer?.status.state;
      const needsInput = !this.#isStale && state !== undefined && isInterrupted(state);
      if (this.#isStopped || needsInput) return;
    }
    // If the stream contained only the snapshot, it is the current state.
    if (!this.#isStopped) this.#isStale = false;
  }

  /** Makes the stream end when the wait ends. */
  #closeable(events: AsyncIterable<StreamEvent>): AsyncIterable<StreamEvent> {
    const { bridged } = this.#options;
    const iterator = events[Symbol.asyncIterator]();
    const isAbortable = isAbortableStream(iterator);
    // After one stream that needs a signal, all streams of this agent get one.
    bridged.isAbortable = isAbortable && bridged.isAbortable !== false;
    if (isAbortable) this.#closeStream = () => void iterator.return?.().catch(() => {});
    if (this.#isStopped) this.#closeStream?.();
    return { [Symbol.asyncIterator]: () => iterator };
  }

  #handle(event: StreamEvent): void {
    if (event.kind === 'message' && !this.#reducer) {
      this.#message = event.message;
      return;
    }
    this.#reducer ??= startReducer(event);
    // Ignores status updates after a terminal state.
    if (!this.#reducer || event.kind !== 'status' || !isTerminal(this.#reducer.status.state))
      this.#reducer?.apply(event);
    if (this.#stopReason === 'canceled') this.#stopWaiting();
    else this.#options.onEvent?.(event);
  }

  #hasFinished(): boolean {
    const state = this.#reducer?.status.state;
    if (state === undefined) return false;
    return isTerminal(state) || (isInterrupted(state) && !this.#isStale);
  }

  #conclude(error: A2AError | undefined): CallOutcome | Promise<CallOutcome> {
    const task = this.#reducer?.task();
    if (this.#stopReason === 'canceled') {
      if (task && isTerminal(task.status.state)) return { kind: 'task', task };
      return this.#cancelTask(task);
    }
    if (task && this.#hasFinished()) return { kind: 'task', task };
    if (this.#stopReason === 'closed') return { kind: 'closed', task };
    if (this.#stopReason === 'budget') {
      if (task) return { kind: 'running', task };
      const text = `No response from the agent within ${this.#options.waitBudget} ms`;
      return { kind: 'error', error: new A2AError('TIMEOUT', text), task };
    }
    if (error) return { kind: 'error', error, task };
    if (task) return { kind: 'running', task };
    const empty = new A2AError('INVALID_AGENT_RESPONSE', 'The agent returned no events');
    return { kind: 'error', error: empty, task };
  }

  async #cancelTask(task: Task | undefined): Promise<CallOutcome> {
    if (!task) return { kind: 'canceled', task, error: undefined };
    const { bridged, clock, cancelBudget } = this.#options;
    const timeout = new AbortController();
    const stopTimer = clock.after(cancelBudget, () => timeout.abort());
    try {
      await bridged.agent.cancelTask({ id: task.id }, { ...this.#streamCall, signal: timeout.signal });
      return { kind: 'canceled', task, error: undefined };
    } catch (thrown) {
      return { kind: 'canceled', task, error: A2AError.from(thrown) };
    } finally {
      stopTimer();
    }
  }
}
