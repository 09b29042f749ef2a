import type { TaskStore, TaskLog } from '../store/task-store.ts';
import type { Agent, CallContext } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import { type LogSink, quietLogSink } from '../primitives/log.ts';
import { isThenable, mapResolved, type MaybePromise } from '../primitives/maybe-promise.ts';
import type { Message } from '../protocol/message.ts';
import { type Outage, throwOutage } from '../protocol/outage.ts';
import type { SendRequest } from '../protocol/requests.ts';
import { isTerminal, type Task } from '../protocol/task.ts';
import {
  type MessageClass,
  classifyMessage,
  classifyRejected,
  createTask,
  repeatKey,
  repeatRule,
} from './messages/classify-message.ts';
import { buildCard, extendedCardMembers } from './build-card.ts';
import { copyingAgent } from './copying-agent.ts';
import { systemClock } from '../primitives/clock.ts';
import { found } from './runs/found-log.ts';
import { TaskReads } from './streams/task-reads.ts';
import { agentTaskStore } from './agent-task-store.ts';
import { monotonicTimestamps } from './monotonic-timestamps.ts';
import type { AgentDefinition, AgentOptions, LocalAgent, ProcessFunction } from './agent-definition.ts';
import { type ContextHistory, readContextHistory } from './messages/context-history.ts';
import { type DirectReply, runWithoutTask } from './runs/direct-reply.ts';
import { MessageValidator } from './messages/validate-message.ts';
import { uuidV7 } from './uuid-v7.ts';
import { deferredStream } from '../protocol/composition/deferred-stream.ts';
import { failingStream } from '../protocol/composition/failing-stream.ts';
import { singleEventStream, unsupportedStream } from './streams/iterables.ts';
import { rejectOnAbort, endOnAbort } from './streams/abort.ts';
import { PushConfigService } from './push-config-service.ts';
import { failAbandonedTask } from './runs/fail-task.ts';
import { recoveryPlan, TaskRecovery } from './runs/recovery.ts';
import { TaskRun, type TaskRunHost } from './runs/task-run.ts';
import { acceptMessage, cancelHeldTask, executeCommand, passMessage } from './runs/task-commands.ts';
import { TaskRunTable } from './runs/run-table.ts';
import {
  replayTurn,
  endsStream,
  submittedTask,
  subscribeToTask,
  withTaskIds,
  type ActiveTurn,
  waitForResult,
} from './messages/turn.ts';
import { Watchdog } from './runs/watchdog.ts';
import { processOf, StructuredSkills } from './skills/structured-skills.ts';
import { RunTracer, taskStateListener } from './runs/run-tracer.ts';

export type { LocalAgent } from './agent-definition.ts';

const anonymousCall: CallContext = {};

/**
 * Creates an agent from a process function.
 *
 * @example
 * ```ts
 * const echo = defineAgent({
 *   name: 'Echo',
 *   description: 'Repeats the message',
 *   process: async ({ text }) => `You said: ${text}`,
 * });
 * ```
 */
export function defineAgent(definition: AgentDefinition, options: AgentOptions = {}): LocalAgent {
  return copyingAgent(new Engine(definition, options));
}

class Engine implements LocalAgent, TaskRunHost {
  readonly definition: AgentDefinition;
  readonly options: AgentOptions;
  readonly elapsed: () => number;
  readonly timestamp: () => string;
  readonly newId: () => string;
  readonly report: LogSink;
  readonly onTaskState: TaskRunHost['onTaskState'];
  readonly getTask: Agent['getTask'];
  readonly createPushConfig: Agent['createPushConfig'];
  readonly getPushConfig: Agent['getPushConfig'];
  readonly listPushConfigs: Agent['listPushConfigs'];
  readonly deletePushConfig: Agent['deletePushConfig'];
  readonly jwks: Agent['jwks'];
  readonly #push: PushConfigService;
  readonly #card: AgentCard;
  readonly #taskStore: TaskStore;
  readonly #process: ProcessFunction;
  readonly #validator: MessageValidator;
  readonly #skills: StructuredSkills | undefined;
  readonly #recovery: TaskRecovery;
  readonly #runs = new TaskRunTable();
  readonly #watchdog: Watchdog;
  readonly #tracer: RunTracer | undefined;

  constructor(definition: AgentDefinition, options: AgentOptions) {
    const clock = options.clock ?? systemClock;
    this.definition = definition;
    this.options = options;
    this.elapsed = () => Math.trunc(clock.monotonic());
    this.timestamp = monotonicTimestamps(clock);
    this.newId = options.generateId ?? uuidV7;
    this.#card = buildCard(definition);
    this.report = quietLogSink(options.log);
    this.#taskStore = agentTaskStore(options.taskStore, clock, this.report);
    this.#skills = StructuredSkills.of(definition);
    const process = processOf(definition, this.#skills);
    this.#tracer = RunTracer.of(options.tracing, definition);
    this.#process = this.#tracer?.wrap(process, 'message') ?? process;
    this.onTaskState = taskStateListener(options.metrics, this.#tracer);
    options.metrics?.observeRuns(() => this.#runs.size);
    options.metrics?.observeStore(this.#taskStore);
    this.#validator = new MessageValidator(definition);
    this.#watchdog = new Watchdog(this.#runs, clock, options, this.report);
    this.getTask = new TaskReads(this.#taskStore, clock).getTask;
    this.#push = new PushConfigService(this.#taskStore, definition, options, this);
    const plan = recoveryPlan(definition, process, this.#tracer);
    this.#recovery = new TaskRecovery(this.#taskStore, plan, this, this.#push);
    this.createPushConfig = this.#push.create;
    this.getPushConfig = this.#push.get;
    this.listPushConfigs = this.#push.list;
    this.deletePushConfig = this.#push.delete;
    this.jwks = this.#push.jwks;
    const execute: NonNullable<TaskStore['onCommand']> = (log, command) =>
      executeCommand(this.#runs, log, command);
    this.#taskStore.onCommand = this.#tracer?.traceCommands(execute) ?? execute;
  }

  async card(): Promise<AgentCard> {
    return this.#card;
  }

  async extendedCard(call: CallContext = anonymousCall): Promise<AgentCard> {
    return { ...this.#card, ...(await extendedCardMembers(this.definition, call)) };
  }

  readonly ready = (): Promise<void> => this.#recovery.start(this.options.recoverTasks);

  readonly whenIdle = (timeout: number): Promise<void> => {
    this.#recovery.stop();
    return this.#runs.whenIdle(timeout);
  };

  readonly readHistory: ContextHistory['readHistory'] = (turn, limits) =>
    readContextHistory(this.#taskStore, turn, limits);

  isRunning(log: TaskLog): boolean {
    return this.#runs.find(log) !== undefined;
  }

  resume(log: TaskLog, process: ProcessFunction, message: Message): void {
    this.#createRun(log, { owner: log.owner }, undefined).start(process, message);
  }

  readonly outage = (): Outage | undefined => this.#taskStore.outage?.();

  readonly checks: Agent['checks'] = () => this.#runs.checks(this.#taskStore.replica);

  async close(): Promise<void> {
    this.#watchdog.stop();
    this.#recovery.stop();
    const canResume = this.#recovery.canResume && this.options.taskStore !== undefined;
    const unfinished = await this.#runs.endAll(canResume);
    await this.#push.close();
    await this.#recovery.handOver(unfinished);
    if (!this.options.taskStore) await this.#taskStore[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  send(request: SendRequest, call: CallContext = anonymousCall): Promise<Task | Message> {
    try {
      const incoming = this.#classify(request, call);
      const sending = isThenable(incoming)
        ? Promise.resolve(incoming).then((each) => this.#send(each, request, call))
        : this.#send(incoming, request, call);
      return rejectOnAbort(sending, call);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #send(incoming: MessageClass, request: SendRequest, call: CallContext): Promise<Task | Message> {
    if (incoming.kind === 'new' && this.definition.allowDirectReply) {
      return this.#runWithoutTask(request, call, incoming.taskId).then<Task | Message>((direct) =>
        direct.kind === 'message' ? direct.message : waitForResult(direct.run, direct.run.log, request),
      );
    }
    const turn = this.#startTurn(incoming, request, call);
    return isThenable(turn)
      ? turn.then(({ run, log }) => waitForResult(run, log, request))
      : waitForResult(turn.run, turn.log, request);
  }

  stream(request: SendRequest, call: CallContext = anonymousCall): AsyncIterable<StreamEvent> {
    if (this.definition.streaming === false) return unsupportedStream();
    try {
      const incoming = this.#classify(request, call);
      const streaming = mapResolved(incoming, (each) => this.#streamTurn(each, request, call));
      return endOnAbort(isThenable(streaming) ? deferredStream(streaming) : streaming, call);
    } catch (error) {
      return failingStream(error);
    }
  }

  #streamTurn(
    incoming: MessageClass,
    request: SendRequest,
    call: CallContext,
  ): AsyncIterable<StreamEvent> | Promise<AsyncIterable<StreamEvent>> {
    if (incoming.kind === 'new' && this.definition.allowDirectReply) {
      return this.#runWithoutTask(request, call, incoming.taskId).then((direct) =>
        direct.kind === 'message'
          ? singleEventStream({ kind: 'message', message: direct.message })
          : direct.run.log.subscribe(0, endsStream),
      );
    }
    const isKnown = incoming.kind !== 'new';
    // A higher sequence number belongs to another task, or to a task that was lost.
    const after =
      isKnown && (request.afterSequence ?? 0) <= incoming.log.sequence ? request.afterSequence : undefined;
    const from = after ?? 0;
    const turn = this.#startTurn(incoming, request, call, isKnown && after === undefined);
    return mapResolved(turn, ({ events, log }) => events ?? log.subscribe(from, endsStream));
  }

  #classify(
    request: SendRequest,
    call: CallContext,
    rule = repeatRule(this.definition, this.#taskStore, request),
  ): MaybePromise<MessageClass> {
    this.#validator.check(request, call);
    throwOutage(this.outage());
    const incoming = classifyMessage(this.#taskStore, call.owner ?? '', request, rule);
    return this.#skills ? this.#skills.check(incoming, request) : incoming;
  }

  /** Starts a task, continues one, or returns the existing task of a resent message (idempotency). */
  #startTurn(
    incoming: MessageClass,
    request: SendRequest,
    call: CallContext,
    withSnapshot = false,
  ): ActiveTurn | Promise<ActiveTurn> {
    if (incoming.kind === 'duplicate') {
      const { log } = incoming;
      const turn = (): ActiveTurn => ({
        log,
        run: this.#runs.find(log),
        events: withSnapshot ? replayTurn(log, request.message) : undefined,
      });
      return this.#push.registerMissing(log, request, call)?.then(turn) ?? turn();
    }
    if (incoming.kind === 'continuation') return this.#continue(incoming, request, call, withSnapshot);
    const log = this.#create(request, call, incoming.taskId);
    return isThenable(log)
      ? Promise.resolve(log).then(
          (each) => this.#startTask(each, request, call),
          (error: unknown) => this.#startRejected(error, request, call, withSnapshot),
        )
      : this.#startTask(log, request, call);
  }

  /** Continues after a task store that rejects known messages has rejected a new task. */
  async #startRejected(error: unknown, request: SendRequest, call: CallContext, withSnapshot: boolean) {
    const rule = repeatRule(this.definition, this.#taskStore, request);
    const incoming = await classifyRejected(error, this.#taskStore, call.owner ?? '', request, rule);
    if (incoming.kind !== 'new') return this.#startTurn(incoming, request, call, withSnapshot);
    // The message id was used for another message before.
    return this.#startTask(await this.#create(request, call, incoming.taskId, null), request, call);
  }

  #create(
    request: SendRequest,
    call: CallContext,
    taskId: string | undefined,
    key: string | null = repeatKey(request),
  ): MaybePromise<TaskLog> {
    const id = taskId ?? this.newId();
    const contextId = request.message.contextId ?? this.newId();
    const task = submittedTask(withTaskIds(request.message, contextId, id), this.timestamp());
    if (call.version === '0.1') task.originVersion = '0.1';
    if (call.preview) task.generation = 1;
    const trace = this.#tracer?.activeContext();
    if (trace) task.trace = trace;
    const log = this.#taskStore.create(call.owner ?? '', task, key ?? undefined);
    this.onTaskState?.('submitted');
    return log;
  }

  #startTask(log: TaskLog, request: SendRequest, call: CallContext): ActiveTurn | Promise<ActiveTurn> {
    // Uses the stored message, so that the request can be garbage-collected.
    const message = log.task().history?.at(-1) ?? request.message;
    return mapResolved(this.#createRegisteredRun(log, request, call), (run) => {
      run.start(this.#process, message);
      return { log, run };
    });
  }

  /** Creates the run of a new task and registers the push configuration of the message. */
  #createRegisteredRun(log: TaskLog, request: SendRequest, call: CallContext): MaybePromise<TaskRun> {
    const registering = this.#push.registerFor(log, request, call);
    const run = this.#createRun(log, call, request);
    const fail = (error: unknown): never => {
      // Another process continues the task; the client repeats its request, which registers the configuration.
      if (this.#taskStore.isShared && A2AError.from(error).reason === 'UNAVAILABLE') run.detach();
      else run.fail(error);
      throw error;
    };
    return registering ? registering.then(() => run, fail) : run;
  }

  async #continue(
    { log, sequence, messages }: Extract<MessageClass, { kind: 'continuation' }>,
    request: SendRequest,
    call: CallContext,
    withSnapshot: boolean,
  ): Promise<ActiveTurn> {
    await this.#push.registerFor(log, request, call, sequence);
    const message = withTaskIds(request.message, log.contextId, log.id);
    // The stream of a later turn starts with a snapshot of the task before this turn.
    const events = withSnapshot ? log.subscribe('now', endsStream) : undefined;
    const passing = { trace: this.#tracer?.activeContext(), leave: this.#recovery.leave };
    const isWriter = !log.claim || (await passMessage(this.#taskStore, this.#runs, log, message, passing));
    if (isWriter && log.sequence === sequence) {
      const createRun = (): TaskRun => this.#createRun(log, call, request);
      const run = await acceptMessage(this.#taskStore, this.#runs, log, message, createRun, this.#process);
      if (run) {
        call.waitUntil?.(run.whenIdle());
        return { log, run, events };
      }
    }
    // The process that holds the task has stored this message or another one, or another process has become the writer.
    const { pushConfig: _registered, ...configuration } = request.configuration ?? {};
    const retry = { ...request, configuration };
    const reclassified = await this.#classify(retry, call, { isMarked: true, after: messages });
    const turn = await this.#startTurn(reclassified, retry, call, withSnapshot);
    return events && turn.log === log ? { ...turn, events } : turn;
  }

  #createRun(log: TaskLog, call: CallContext, request: SendRequest | undefined): TaskRun {
    log.onAbandoned ??= this.#onAbandoned;
    const run = this.#runs.add(new TaskRun(this, log, call, request));
    this.#tracer?.runCreated(run);
    this.#watchdog.runStarted(run.startedAt);
    call.waitUntil?.(run.whenIdle());
    return run;
  }

  readonly #onAbandoned = (log: TaskLog, error: A2AError): void => {
    this.#runs.find(log)?.abandon(error);
    void failAbandonedTask(this.#taskStore, log, error, this);
  };

  ended(run: TaskRun): void {
    this.#runs.remove(run);
    this.#tracer?.runEnded(run);
    const seconds = (this.elapsed() - run.startedAt) / 1_000;
    this.options.metrics?.recordRun(this.definition.name, seconds, run.log.state === 'failed');
    if (!isTerminal(run.log.state)) run.log.release?.();
  }

  #runWithoutTask(request: SendRequest, call: CallContext, taskId: string | undefined): Promise<DirectReply> {
    const rule = repeatRule(this.definition, this.#taskStore, request);
    return runWithoutTask(this.#process, request, call, {
      history: this,
      newId: this.newId,
      create: ({ taskId: id, contextId }) => {
        const placed = { ...request, message: { ...request.message, contextId } };
        return createTask((key) => this.#create(placed, call, id, key), this.#taskStore, rule);
      },
      startRun: async (log) => this.#createRegisteredRun(log, request, call),
      ids: { taskId: taskId ?? this.newId(), contextId: request.message.contextId ?? this.newId() },
    });
  }

  readonly listTasks: Agent['listTasks'] = async (request, call = anonymousCall) =>
    this.#taskStore.list(call.owner ?? '', request);

  async cancelTask({ id }: { id: string }, call: CallContext = anonymousCall): Promise<Task> {
    throwOutage(this.outage());
    const log = found(await this.#taskStore.open(call.owner ?? '', id), id);
    return cancelHeldTask(this.#taskStore, this.#runs, log, () => this.#createRun(log, call, undefined));
  }

  readonly subscribe: Agent['subscribe'] = ({ id, afterSequence: after }, call = anonymousCall) => {
    if (this.definition.streaming === false) return unsupportedStream();
    const log = this.#taskStore.open(call.owner ?? '', id);
    const events = mapResolved(log, (opened) => subscribeToTask(opened, id, after));
    return endOnAbort(isThenable(events) ? deferredStream(events) : events, call);
  };
}
