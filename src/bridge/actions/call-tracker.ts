import { type Clock, sleep } from '../../client/abortable-sleep.ts';
import { isAbortableStream } from '../../client/streaming/abortable-stream.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isInterrupted, isTask, isTerminal, type Task } from '../../protocol/task.ts';

/** What became of a call. */
export type CallOutcome =
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'running'; readonly task: Task }
  | { readonly kind: 'canceled'; readonly task: Task | undefined; readonly fault: A2AError | undefined }
  | { readonly kind: 'fault'; readonly error: A2AError; readonly task: Task | undefined };

/** What is asked, and how long it may take. */
export interface CallTrackerOptions {
  /** Whom. What is learned about its streams is noted there. */
  readonly bridged: { readonly agent: Agent; isAbortable: boolean | undefined };
  /** A message to send, or the task to wait for. */
  readonly ask: SendRequest | { readonly taskId: string };
  readonly owner: string | undefined;
  readonly waitBudget: number;
  /** For how many milliseconds a cancellation waits for the agent. */
  readonly cancelBudget: number;
  /** Milliseconds between two looks at a task that cannot be followed. */
  readonly pollInterval: number;
  readonly signal: AbortSignal | undefined;
  readonly hear: ((event: StreamEvent) => void) | undefined;
  /** Called when nothing more is heard. */
  readonly ended: () => void;
  readonly clock: Clock;
}

/** The agent cannot stream, or has nothing left to tell: the same can be had by asking. */
const cannotStream: ReadonlySet<string> = new Set(['METHOD_NOT_FOUND', 'UNSUPPORTED_OPERATION']);

/**
 * One call to an agent, followed until its task rests, its time is up or its caller gives up. Nothing is thrown.
 *
 * It is followed even where nobody listens: only the name of its task lets it be canceled, or waited for further, and
 * an answer that is merely waited for brings that name at the end.
 */
export class CallTracker {
  readonly #options: CallTrackerOptions;
  /** Ends what listens to a signal; made when something does. */
  #stopping: AbortController | undefined = undefined;
  /** Leaves the stream. */
  #leave: (() => void) | undefined = undefined;
  #isStopped = false;
  #fold: TaskReducer | undefined = undefined;
  #message: Message | undefined = undefined;
  /** True while all that is known of the task is how it was before it heard the message. */
  #isBefore = false;
  #why: 'budget' | 'canceled' | 'closed' | undefined = undefined;
  #stopTimer: () => void = () => {};

  constructor(options: CallTrackerOptions) {
    this.#options = options;
  }

  /** Ends the wait; the task goes on. */
  detach(): void {
    this.#stop('closed');
  }

  async run(): Promise<CallOutcome> {
    const { ask, signal, clock, waitBudget, ended } = this.#options;
    const onAbort = signal && ((): void => this.#cancel());
    try {
      if (signal?.aborted) return { kind: 'canceled', task: undefined, fault: undefined };
      if (onAbort) signal.addEventListener('abort', onAbort, { once: true });
      if (waitBudget !== Infinity) this.#stopTimer = clock.after(waitBudget, () => this.#stop('budget'));
      if ('taskId' in ask) await this.#wait(ask.taskId);
      else await this.#send(ask);
      return this.#message ? { kind: 'message', message: this.#message } : await this.#conclude(undefined);
    } catch (thrown) {
      return await this.#conclude(A2AError.from(thrown));
    } finally {
      this.#stopTimer();
      if (onAbort) signal.removeEventListener('abort', onAbort);
      ended();
    }
  }

  /** What goes with a request that ends when the wait does. */
  get #call(): CallContext {
    this.#stopping ??= new AbortController();
    if (this.#isStopped) this.#stopping.abort();
    return { ...this.#streamCall, signal: this.#stopping.signal };
  }

  /** What goes with a stream that can be left. */
  get #streamCall(): CallContext {
    const { owner } = this.#options;
    return owner === undefined ? {} : { owner };
  }

  /** The caller gave up. A task whose name is not known yet cannot be canceled, so that is waited for. */
  #cancel(): void {
    this.#stopTimer();
    this.#why = 'canceled';
    if (this.#fold) this.#end();
    else {
      const { clock, cancelBudget } = this.#options;
      this.#stopTimer = clock.after(cancelBudget, () => this.#end());
    }
  }

  #stop(why: 'budget' | 'closed'): void {
    this.#why ??= why;
    this.#end();
  }

  #end(): void {
    this.#isStopped = true;
    this.#stopping?.abort();
    this.#leave?.();
  }

  async #send(ask: SendRequest): Promise<void> {
    const { bridged } = this.#options;
    try {
      const call = bridged.isAbortable ? this.#streamCall : this.#call;
      await this.#hearAll(bridged.agent.stream(ask, call), ask.message.taskId !== undefined);
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (this.#fold || !cannotStream.has(error.reason)) throw error;
      const configuration = { ...ask.configuration, returnImmediately: true };
      const answer = await bridged.agent.send({ ...ask, configuration }, this.#call);
      this.#hear(isTask(answer) ? { kind: 'task', task: answer } : { kind: 'message', message: answer });
      if (isTask(answer)) await this.#poll(answer.id);
    }
  }

  /** Goes on with a task that was begun before. */
  async #wait(id: string): Promise<void> {
    const { agent } = this.#options.bridged;
    this.#hear({ kind: 'task', task: await agent.getTask({ id }, this.#call) });
    if (this.#isResting()) return;
    try {
      await this.#hearAll(agent.subscribe({ id }, this.#call));
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (!cannotStream.has(error.reason)) throw error;
      this.#hear({ kind: 'task', task: await agent.getTask({ id }, this.#call) });
      await this.#poll(id);
    }
  }

  async #poll(id: string): Promise<void> {
    const { bridged, clock, pollInterval } = this.#options;
    while (!this.#isResting()) {
      const call = this.#call;
      await sleep(clock, pollInterval, call.signal);
      this.#hear({ kind: 'task', task: await bridged.agent.getTask({ id }, call) });
    }
  }

  /** @param beginsBefore - true when the stream may begin with the task as it was before it heard the message */
  async #hearAll(events: AsyncIterable<StreamEvent>, beginsBefore = false): Promise<void> {
    this.#isBefore = beginsBefore;
    for await (const event of this.#leavable(events)) {
      this.#isBefore &&= event.kind === 'task';
      this.#hear(event);
      // A stream ends by itself with its task, and its connection can be used again; where the agent waits, it need not.
      const state = this.#fold?.status.state;
      const isAsked = !this.#isBefore && state !== undefined && isInterrupted(state);
      if (this.#isStopped || isAsked) return;
    }
    // If that was all, it is what the agent has to say.
    if (!this.#isStopped) this.#isBefore = false;
  }

  /** The same events, which end when the wait does. */
  #leavable(events: AsyncIterable<StreamEvent>): AsyncIterable<StreamEvent> {
    const { bridged } = this.#options;
    const iterator = events[Symbol.asyncIterator]();
    const canLeave = isAbortableStream(iterator);
    // One stream that needs a signal is enough to give one to all.
    bridged.isAbortable = canLeave && bridged.isAbortable !== false;
    if (canLeave) this.#leave = () => void iterator.return?.().catch(() => {});
    if (this.#isStopped) this.#leave?.();
    return { [Symbol.asyncIterator]: () => iterator };
  }

  #hear(event: StreamEvent): void {
    if (event.kind === 'message' && !this.#fold) {
      this.#message = event.message;
      return;
    }
    this.#fold ??= startReducer(event);
    // A task that is over does not come back, whatever its agent says then.
    if (!this.#fold || event.kind !== 'status' || !isTerminal(this.#fold.status.state))
      this.#fold?.apply(event);
    if (this.#why === 'canceled') this.#end();
    else this.#options.hear?.(event);
  }

  #isResting(): boolean {
    const state = this.#fold?.status.state;
    if (state === undefined) return false;
    return isTerminal(state) || (isInterrupted(state) && !this.#isBefore);
  }

  /** Says what became of it, with what is known. */
  #conclude(error: A2AError | undefined): CallOutcome | Promise<CallOutcome> {
    const task = this.#fold?.task();
    if (this.#why === 'canceled') {
      if (task && isTerminal(task.status.state)) return { kind: 'task', task };
      return this.#canceled(task);
    }
    if (task && this.#isResting()) return { kind: 'task', task };
    if (this.#why === 'closed') {
      const closed = new A2AError('UNAVAILABLE', 'The bridge was closed');
      return { kind: 'fault', error: closed, task };
    }
    if (this.#why === 'budget') {
      if (task) return { kind: 'running', task };
      const text = `The agent did not answer within ${this.#options.waitBudget} ms`;
      return { kind: 'fault', error: new A2AError('TIMEOUT', text), task };
    }
    if (error) return { kind: 'fault', error, task };
    if (task) return { kind: 'running', task };
    return { kind: 'fault', error: new A2AError('INVALID_AGENT_RESPONSE', 'The agent gave no answer'), task };
  }

  /** Cancels the task, and says why if it could not be. */
  async #canceled(task: Task | undefined): Promise<CallOutcome> {
    if (!task) return { kind: 'canceled', task, fault: undefined };
    const { bridged, clock, cancelBudget } = this.#options;
    const giveUp = new AbortController();
    const stop = clock.after(cancelBudget, () => giveUp.abort());
    try {
      await bridged.agent.cancelTask({ id: task.id }, { ...this.#streamCall, signal: giveUp.signal });
      return { kind: 'canceled', task, fault: undefined };
    } catch (thrown) {
      return { kind: 'canceled', task, fault: A2AError.from(thrown) };
    } finally {
      stop();
    }
  }
}
