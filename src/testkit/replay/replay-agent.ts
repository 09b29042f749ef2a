import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError, taskNotFound } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { PushConfig } from '../../protocol/push.ts';
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  PushConfigPage,
  SendRequest,
  SubscribeRequest,
  TaskPage,
} from '../../protocol/requests.ts';
import { isTerminal, limitHistory, type Task } from '../../protocol/task.ts';
import { type SendInput, toSendRequest } from '../../protocol/user-message.ts';
import { captureAgentCall } from '../agent/call-capture.ts';
import type { NearMiss, ResponsePlan } from '../agent/response-plan.ts';
import type { TestClock } from '../clock/test-clock.ts';
import type { Fault } from '../faults/fault.ts';
import { withEventFaults } from '../faults/event-faults.ts';
import type { ExchangeCapture } from '../journal/exchange-capture.ts';
import type { Journal } from '../journal/journal.ts';
import { describeExchange, type ReplayMatching } from './compare-requests.ts';
import { RecordedRequests } from './recorded-requests.ts';
import type { RecordedExchange, Recording } from '../../tap/recording.ts';
import { ReplayedIds } from './replayed-ids.ts';
import type { ReplayedTask, ReplayTiming } from './replayed-task.ts';
import { ReplayedTasks } from './replayed-tasks.ts';

/** How a recording is replayed. */
export interface ReplayOptions {
  readonly recording: Recording;
  /** @defaultValue `'lenient'` */
  readonly matching?: ReplayMatching;
  /** @defaultValue `'none'` */
  readonly timing?: ReplayTiming;
  /** Called with a text about each request that matches no recorded one. */
  readonly onUnmatched?: (report: string) => void;
}

/** Collaborators of {@link ReplayAgent}. */
export interface ReplayAgentOptions extends ReplayOptions {
  readonly clock: TestClock;
  readonly journal: Journal;
  readonly generateId: (() => string) | undefined;
  /** Selects the faults of a response that are injected. */
  readonly selectFaults: (plan: ResponsePlan) => readonly Fault[];
}

/** A message with the recorded exchange that answers it. */
interface AnsweredMessage {
  readonly exchange: RecordedExchange;
  /** Undefined if the answer is a direct message. */
  readonly task: ReplayedTask | undefined;
  readonly ids: ReplayedIds;
  readonly faults: readonly Fault[];
  /** Events of a task that existed before the message. */
  readonly events?: AsyncIterable<StreamEvent>;
}

type PushOperation = Extract<Operation, `${string}Push${string}`>;

/** Agent that answers like a recorded one, in terms of the model, so that a server can replay it in every version. */
export class ReplayAgent implements Agent {
  readonly #options: ReplayAgentOptions;
  readonly #requests: RecordedRequests;
  #tasks: ReplayedTasks;

  constructor(options: ReplayAgentOptions) {
    this.#options = options;
    this.#requests = new RecordedRequests(options.recording.exchanges, options.matching ?? 'lenient');
    this.#tasks = this.#openTasks();
  }

  async ready(): Promise<void> {}

  close(): Promise<void> {
    return this.#tasks.close();
  }

  reset(): void {
    void this.#tasks.close();
    this.#requests.reset();
    this.#tasks = this.#openTasks();
  }

  async card(call?: CallContext): Promise<AgentCard> {
    this.#capture('card', {}, call);
    return this.#options.recording.card;
  }

  async extendedCard(call?: CallContext): Promise<AgentCard> {
    this.#capture('extendedCard', {}, call);
    const { extendedCard } = this.#options.recording;
    if (extendedCard) return extendedCard;
    const recorded = this.#requests.take('extendedCard');
    throw (
      (recorded && recordedError(recorded)) ??
      new A2AError('UNSUPPORTED_OPERATION', 'No extended card was recorded')
    );
  }

  async send(input: SendInput, call: CallContext = {}): Promise<Task | Message> {
    const request = toSendRequest(input);
    const { exchange, task, ids } = await this.#begin('send', request, call);
    if (!task) return ids.apply(directMessage(exchange));
    const { historyLength, returnImmediately = false } = request.configuration ?? {};
    const recorded = (exchange.request as SendRequest).configuration;
    const sent = await task.sent(exchange, returnImmediately, recorded?.returnImmediately ?? false);
    const error = recordedError(exchange);
    if (error && !isTerminal(sent.status.state)) throw error;
    return limitHistory(sent, historyLength);
  }

  async *stream(input: SendInput, call: CallContext = {}): AsyncGenerator<StreamEvent> {
    const request = toSendRequest(input);
    const resumed = this.#tasks.findByMessage(call, request.message.messageId);
    if (resumed && request.afterSequence !== undefined) {
      yield* resumed.read(Math.min(request.afterSequence, resumed.sequence));
      return;
    }
    const { exchange, task, ids, faults, events } = await this.#begin('stream', request, call);
    if (task && !events) await task.until(() => task.task !== undefined);
    const answer = task
      ? (events ?? task.read(0, recordedError(exchange)))
      : singleEvent({ kind: 'message', message: ids.apply(directMessage(exchange)) });
    yield* withEventFaults(answer, faults);
  }

  async getTask(request: GetTaskRequest, call: CallContext = {}): Promise<Task> {
    const { task } = await this.#access('getTask', request.id, request, call);
    return limitHistory(await task.poll(), request.historyLength);
  }

  async listTasks(request: ListTasksRequest, call: CallContext = {}): Promise<TaskPage> {
    this.#capture('listTasks', request, call);
    return this.#tasks.list(call, request);
  }

  async cancelTask(request: CancelTaskRequest, call: CallContext = {}): Promise<Task> {
    const { task, exchange } = await this.#access('cancelTask', request.id, request, call);
    const phase = exchange && task.recorded.phases.find((each) => each.request === exchange);
    if (phase) {
      task.start(phase);
      return task.sent(exchange, false, false);
    }
    if (!task.task || isTerminal(task.task.status.state)) throw new A2AError('TASK_NOT_CANCELABLE');
    return task.cancel();
  }

  async *subscribe(request: SubscribeRequest, call: CallContext = {}): AsyncGenerator<StreamEvent> {
    const { task, exchange } = await this.#access('subscribe', request.id, request, call);
    await task.until(() => task.task !== undefined);
    if (task.task && isTerminal(task.task.status.state))
      throw new A2AError('UNSUPPORTED_OPERATION', 'The task has ended');
    yield* task.read(request.afterSequence ?? 'now', exchange && recordedError(exchange));
  }

  createPushConfig(config: PushConfig, call?: CallContext): Promise<PushConfig> {
    return this.#answerPush('createPushConfig', config, call);
  }

  getPushConfig(ref: { taskId: string }, call?: CallContext): Promise<PushConfig> {
    return this.#answerPush('getPushConfig', ref, call);
  }

  listPushConfigs(request: { taskId: string }, call?: CallContext): Promise<PushConfigPage> {
    return this.#answerPush('listPushConfigs', request, call);
  }

  async deletePushConfig(ref: { taskId: string }, call?: CallContext): Promise<void> {
    await this.#answerPush('deletePushConfig', ref, call);
  }

  /** Returns the recorded answer. No notification is sent. */
  async #answerPush<T>(
    operation: PushOperation,
    request: { taskId: string },
    call: CallContext = {},
  ): Promise<T> {
    const { task, exchange } = await this.#access(operation, request.taskId, request, call);
    if (!exchange) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'No such request was recorded');
    return task.ids.apply(exchange.answer.result as T);
  }

  /** Finds a task, and the recorded exchange of an operation on it, if there is one. */
  async #access(
    operation: Operation,
    id: string,
    request: unknown,
    call: CallContext,
  ): Promise<{ task: ReplayedTask; exchange: RecordedExchange | undefined }> {
    const capture = this.#capture(operation, request, call);
    const task = this.#tasks.find(call, id);
    const exchange = this.#requests.take(operation, task?.recorded.id ?? id, task);
    // The steps of a cancellation have their own delays.
    if (exchange && operation !== 'cancelTask') await this.#sleep(exchange);
    const error = exchange && !exchange.answer.events ? recordedError(exchange) : undefined;
    if (error) throw error;
    if (!task || (!exchange && this.#options.matching === 'strict')) {
      const misses = this.#requests.findOperationMisses(operation, id, task);
      const unmatched = this.#unmatched(capture, `${operation} of task ${id}`, misses);
      throw task ? unmatched : taskNotFound(id);
    }
    if (exchange) task.position = exchange.number;
    capture?.setTaskIds({ taskId: id, contextId: task.contextId });
    return { task, exchange };
  }

  /** Finds the answer of a message and starts to play it. */
  async #begin(
    operation: 'send' | 'stream',
    request: SendRequest,
    call: CallContext,
  ): Promise<AnsweredMessage> {
    const capture = this.#capture(operation, request, call);
    const { message, clientTaskId } = request;
    const known = this.#tasks.find(call, message.taskId ?? clientTaskId);
    if (message.taskId !== undefined && !known) throw taskNotFound(message.taskId);
    const { exchange, nearMisses } = this.#requests.match(
      { operation, request: this.#withRecordedReferences(request, call) },
      { task: known, contextId: this.#tasks.recordedContext(message.contextId, call) },
    );
    if (!exchange) throw this.#unmatched(capture, 'The message', nearMisses);
    const faults = this.#selectFaults(exchange, capture);
    const ids = known?.ids ?? new ReplayedIds();
    ids.set((exchange.request as SendRequest).message.messageId, message.messageId);
    const recorded = this.#requests.taskOf(exchange);
    if (!recorded) {
      await this.#sleep(exchange);
      const error = recordedError(exchange);
      if (error) throw error;
      const { contextId } = directMessage(exchange);
      if (contextId !== undefined)
        ids.set(contextId, this.#tasks.openContext(contextId, message.contextId, call));
      return { exchange, task: undefined, ids, faults };
    }
    const task = known ?? this.#tasks.create(recorded, ids, request, call);
    capture?.setTaskIds({ taskId: task.id, contextId: task.contextId });
    this.#tasks.addMessage(call, message.messageId, task);
    task.position = exchange.number;
    // The stream of a later turn starts with a snapshot of the task before this turn.
    const events = known && operation === 'stream' ? task.read('now', recordedError(exchange)) : undefined;
    const phase = recorded.phases.find((each) => each.request === exchange);
    if (phase) task.start(phase, message);
    return { exchange, task, ids, faults, ...(events && { events }) };
  }

  #selectFaults(exchange: RecordedExchange, capture: ExchangeCapture | undefined): readonly Fault[] {
    const origin = describeExchange(exchange);
    const plan: ResponsePlan = { steps: [], faults: [], ending: 'complete', origin };
    const faults = this.#options.selectFaults(plan);
    capture?.setPlan(plan, faults);
    return faults;
  }

  #withRecordedReferences(request: SendRequest, call: CallContext): SendRequest {
    const { referenceTaskIds, ...message } = request.message;
    if (!referenceTaskIds) return request;
    const recorded = referenceTaskIds.map((id) => this.#tasks.find(call, id)?.recorded.id ?? id);
    return { ...request, message: { ...message, referenceTaskIds: recorded } };
  }

  /** Reports a request that equals no recorded one. */
  #unmatched(capture: ExchangeCapture | undefined, what: string, nearMisses: readonly NearMiss[]): A2AError {
    capture?.setUnmatched(nearMisses);
    const [nearest] = nearMisses;
    const text = nearest
      ? `${what} matches no recorded request. Nearest: ${nearest.rule}: ${nearest.mismatches.join('; ')}`
      : `${what} matches no recorded request`;
    this.#options.onUnmatched?.(text);
    return new A2AError('INVALID_PARAMS', text);
  }

  async #sleep({ at, answer }: RecordedExchange): Promise<void> {
    const { timing, clock } = this.#options;
    if (timing === 'recorded' && answer.at > at && !answer.events) await clock.sleep(answer.at - at);
  }

  #openTasks(): ReplayedTasks {
    const { clock, timing = 'none', generateId = () => crypto.randomUUID() } = this.#options;
    return new ReplayedTasks({ clock, timing, generateId }, this.#requests.olderTasks);
  }

  #capture(
    operation: Parameters<typeof captureAgentCall>[1],
    request: unknown,
    call?: CallContext,
  ): ExchangeCapture | undefined {
    return captureAgentCall(this.#options.journal, operation, request, call);
  }
}

function recordedError({ answer: { error } }: RecordedExchange): A2AError | undefined {
  return error && new A2AError(error.reason, error.message, error.details && { details: error.details });
}

/** Returns the answer of a message without a task. */
function directMessage({ answer: { result, events = [] } }: RecordedExchange): Message {
  const direct = events.map(({ event }) => event).find(({ kind }) => kind === 'message');
  const message = direct?.kind === 'message' ? direct.message : (result as Message | undefined);
  if (message) return message;
  throw new A2AError('INVALID_AGENT_RESPONSE', 'The recorded stream has no events');
}

async function* singleEvent(event: StreamEvent): AsyncGenerator<StreamEvent> {
  yield event;
}
