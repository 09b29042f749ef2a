import type { Agent, CallContext } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import { isInterrupted, isTask, isTerminal, type Task, limitHistory } from '../../protocol/task.ts';
import { disconnectedError, explainAgentError } from './error-mapping.ts';
import type { MeshReply, SentReply } from './mesh-reply.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';
import type { MeshTask, MeshTasks } from './mesh-tasks.ts';

/** What a run asks of the agent. */
export type AgentOperation =
  | { readonly kind: 'send' | 'stream'; readonly request: SendRequest }
  | { readonly kind: 'subscribe' };

/** What a run works with. */
export interface RequestRunParts {
  readonly agent: Agent;
  readonly question: AgentOperation;
  readonly task: MeshTask;
  readonly tasks: MeshTasks;
  readonly reply: MeshReply;
  readonly call: Omit<CallContext, 'signal'>;
  readonly settings: MeshServerSettings;
}

/** The run is over for a reason that is no fault: somebody canceled the task. */
class Ended {
  readonly task: Task;

  constructor(task: Task) {
    this.task = task;
  }
}

/** What became of a cancel. */
export interface CancelResult {
  readonly task: Task;
  /** False when the request had its answer already, so that nobody was told the end. */
  readonly isTold: boolean;
}

/** One request at work: what the agent says goes back as updates, and ends with exactly one answer. */
export class RequestRun {
  readonly #parts: RequestRunParts;
  readonly #stop = new AbortController();
  readonly #call: CallContext;
  #fold: TaskReducer | undefined;
  #history: Message[] | undefined;
  #hasBegun = false;
  /** False when the newest state was shown by a picture of the task only. */
  #isTold = true;
  /** Why the run ends early; an error, or {@link Ended}. */
  #reason: unknown;
  #interrupt: ((reason: unknown) => void) | undefined;
  /** What the agent was asked for last, for a cancel that comes before its answer. */
  #pending: Promise<StreamEvent | undefined> | undefined;
  /** True when the task was canceled here before anybody knew its name at the agent. */
  #cancelsLate = false;
  #stopIdle: (() => void) | undefined;
  #hasStarted = false;
  #isEnding = false;
  /** True when the answer was an end, and not a question. */
  #hasToldEnd = false;
  #endedEarly: (() => void) | undefined;

  constructor(parts: RequestRunParts) {
    this.#parts = parts;
    this.#call = { ...parts.call, signal: this.#stop.signal };
  }

  /** Calls back when the run is over before its turn has come. */
  onEarlyEnd(ended: () => void): void {
    this.#endedEarly = ended;
  }

  /** Works until the answer is out. Never rejects. */
  async work(): Promise<SentReply | undefined> {
    const { settings, task } = this.#parts;
    const { total } = settings.timeouts;
    const stopTotal =
      total > 0 ? settings.clock.after(total, () => this.#timeOut('total', total)) : undefined;
    this.#hasStarted = true;
    this.#listen();
    try {
      return await this.#answer(await this.#ask());
    } catch (thrown) {
      return thrown instanceof Ended ? await this.#answer(thrown.task) : await this.#fail(thrown);
    } finally {
      stopTotal?.();
      this.#stopIdle?.();
      task.runs.delete(this);
      await this.#cancelLate();
      // Whatever the agent still does is of no use; a run that ended by itself has left it already.
      if (this.#reason !== undefined) this.#stop.abort(this.#reason);
    }
  }

  /** Ends the run with an error. */
  end(error: A2AError): void {
    this.#interruptWith(error);
  }

  /** Asks the agent to cancel the task; if nobody knows its name yet, it is canceled here and there as soon as it is. */
  async cancel(): Promise<CancelResult> {
    const { agent, task, settings } = this.#parts;
    if (task.downstreamId === undefined) {
      const canceled = this.#canceled();
      this.#cancelsLate = true;
      return { task: canceled, isTold: this.#interruptWith(new Ended(canceled)) };
    }
    const { signal: _ofTheRun, ...call } = this.#call;
    const answer = await agent.cancelTask({ id: task.downstreamId }, call);
    if (isTerminal(answer.status.state)) {
      // The stream may have told the end already; it is told once.
      const isTold = this.#interruptWith(new Ended(answer)) || this.#hasToldEnd;
      return { task: answer, isTold };
    }
    settings.log({ level: 'info', message: 'The agent goes on for now', taskId: task.id });
    return { task: answer, isTold: true };
  }

  #canceled(): Task {
    const { task, settings } = this.#parts;
    const timestamp = new Date(settings.clock.now()).toISOString();
    const known = this.#fold?.task() ?? { id: task.id, contextId: task.contextId };
    return { ...known, status: { state: 'canceled', timestamp } };
  }

  async #ask(): Promise<Task | Message> {
    const { agent, question, task } = this.#parts;
    if (this.#reason !== undefined) throw this.#reason;
    if (question.kind === 'subscribe') {
      return this.#follow(agent.subscribe({ id: task.downstreamId ?? task.id }, this.#call));
    }
    if (question.kind === 'stream' && (await this.#until(this.#streams()))) {
      return this.#follow(agent.stream(question.request, this.#call));
    }
    const sending = agent.send(question.request, this.#call);
    this.#pending = sending.then((answer) =>
      isTask(answer) ? { kind: 'task', task: answer } : { kind: 'message', message: answer },
    );
    this.#pending.catch(() => {});
    const answer = await this.#until(sending);
    this.#pending = undefined;
    if (!isTask(answer)) return answer;
    this.#learn({ kind: 'task', task: answer });
    if (isInterrupted(answer.status.state)) await this.#tellStatus(answer);
    return answer;
  }

  /** A card that cannot be read says nothing against streaming. */
  async #streams(): Promise<boolean> {
    const card = await this.#parts.agent.card(this.#call).catch(() => undefined);
    return card === undefined || card.capabilities.streaming === true;
  }

  async #follow(events: AsyncIterable<StreamEvent>): Promise<Task | Message> {
    const iterator = events[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = iterator.next();
        this.#pending = next.then(({ done, value }) => (done ? undefined : value));
        this.#pending.catch(() => {});
        const step = await this.#until(next);
        this.#pending = undefined;
        if (step.done) break;
        this.#listen();
        const end = await this.#take(step.value);
        if (end) return end;
      }
    } finally {
      // A stream that was left before its first event is still needed for the name of its task.
      if (!this.#cancelsLate) void Promise.resolve(iterator.return?.()).catch(() => {});
    }
    return this.#atEnd();
  }

  /** Takes an event. @returns the end, if it is one. */
  async #take(event: StreamEvent): Promise<Task | Message | undefined> {
    const { reply } = this.#parts;
    this.#learn(event);
    if (event.kind === 'message') return event.message;
    const state = this.#fold?.status.state ?? 'unknown';
    this.#isTold = event.kind !== 'task';
    if (event.kind !== 'task') await reply.update(event);
    // A picture at the beginning may show the question that is being answered just now, so it ends nothing.
    const isOver = isTerminal(state) || (state === 'input-required' && event.kind === 'status');
    return isOver ? this.#task() : undefined;
  }

  /** Receivers show what a task waits for from an update; a task alone would only end it. */
  async #tellStatus({ id, contextId, status }: Task): Promise<void> {
    await this.#parts.reply.update({ kind: 'status', taskId: id, contextId, status });
  }

  async #atEnd(): Promise<Task> {
    const task = this.#task();
    if (task && isInterrupted(task.status.state)) {
      if (!this.#isTold) await this.#tellStatus(task);
      return task;
    }
    throw disconnectedError(this.#parts.reply.address.names.agent);
  }

  /** The task as it stands, with the history that the agent gave and not with every word of an update. */
  #task(): Task | undefined {
    const task = this.#fold?.task();
    if (!task) return undefined;
    const { history: _words, ...rest } = task;
    return this.#history ? { ...rest, history: this.#history } : rest;
  }

  /** Keeps what matters of an event. */
  #learn(event: StreamEvent): void {
    this.#hasBegun = true;
    if (event.kind === 'message') return;
    const ids = event.kind === 'task' ? { taskId: event.task.id, contextId: event.task.contextId } : event;
    const { task, tasks } = this.#parts;
    if (task.downstreamId !== ids.taskId) tasks.learn(task, ids);
    if (event.kind === 'task') this.#history = event.task.history;
    const kept = keptOf(event);
    if (this.#fold) this.#fold.apply(kept);
    else {
      this.#fold = startReducer(kept);
      this.#fold?.apply(kept);
    }
    task.state = this.#fold?.status.state;
  }

  async #answer(result: Task | Message): Promise<SentReply | undefined> {
    const { reply, task, tasks, question } = this.#parts;
    const state = isTask(result) ? result.status.state : 'completed';
    this.#isEnding = true;
    this.#hasToldEnd = isTerminal(state);
    tasks.rest(task, state, isInterrupted(state));
    if (!isTask(result)) return reply.answer(result);
    const length = question.kind === 'subscribe' ? undefined : question.request.configuration?.historyLength;
    return reply.answer(limitHistory(result, length));
  }

  async #fail(thrown: unknown): Promise<SentReply | undefined> {
    const { reply, task, tasks, settings, question } = this.#parts;
    const known = this.#task();
    // Whoever waits for a permission is not silent, it waits.
    if (known && isInterrupted(known.status.state) && A2AError.from(thrown).reason === 'TIMEOUT') {
      return this.#answer(known);
    }
    const { agent } = reply.address.names;
    const scene = {
      agent,
      taskId: task.id,
      isStream: question.kind !== 'send',
      hasBegun: this.#hasBegun,
    };
    this.#isEnding = true;
    this.#hasToldEnd = true;
    const error = explainAgentError(thrown, scene);
    tasks.rest(task, 'failed', false);
    settings.log({
      level: 'error',
      message: error.message,
      taskId: task.id,
      error: thrown,
      fields: { agent },
    });
    return reply.fail(error);
  }

  /** Cancels a task whose name nobody knew when it was canceled here. */
  async #cancelLate(): Promise<void> {
    const { agent, task, settings } = this.#parts;
    const pending = this.#pending;
    if (!pending || !this.#cancelsLate) return;
    let stop = (): void => {};
    const tooLate = new Promise<undefined>((resolve) => {
      stop = settings.clock.after(settings.timeouts.cancel, () => resolve(undefined));
    });
    try {
      const event = await Promise.race([pending.catch(() => undefined), tooLate]);
      if (!event || event.kind === 'message') return;
      const id = event.kind === 'task' ? event.task.id : event.taskId;
      if (event.kind === 'task' && isTerminal(event.task.status.state)) return;
      const { signal: _ofTheRun, ...call } = this.#call;
      await agent.cancelTask({ id }, call);
    } catch (error) {
      settings.log({ level: 'warn', message: 'The agent could not cancel', taskId: task.id, error });
    } finally {
      stop();
    }
  }

  #listen(): void {
    const { clock, timeouts } = this.#parts.settings;
    this.#stopIdle?.();
    if (timeouts.idle > 0) {
      this.#stopIdle = clock.after(timeouts.idle, () => this.#timeOut('idle', timeouts.idle));
    }
  }

  #timeOut(which: 'idle' | 'total', milliseconds: number): void {
    const { agent } = this.#parts.reply.address.names;
    const what = which === 'idle' ? 'sent nothing for' : 'did not end the task within';
    this.#interruptWith(new A2AError('TIMEOUT', `Remote agent '${agent}' ${what} ${milliseconds} ms`));
  }

  /** @returns whether the run ends for this reason. */
  #interruptWith(reason: unknown): boolean {
    if (this.#isEnding || this.#reason !== undefined) return false;
    this.#reason = reason;
    this.#interrupt?.(reason);
    if (!this.#hasStarted) this.#endedEarly?.();
    return true;
  }

  /** Waits for the agent, but no longer than the run lasts. */
  #until<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#reason !== undefined) reject(this.#reason);
      this.#interrupt = reject;
      promise.then(resolve, reject);
    });
  }
}

/** Words on the way are told as updates and not kept: there may be one for each word. */
function keptOf(event: StreamEvent): StreamEvent {
  if (event.kind !== 'status' || isTerminal(event.status.state) || isInterrupted(event.status.state)) {
    return event;
  }
  const { message: _told, ...status } = event.status;
  return { ...event, status };
}
