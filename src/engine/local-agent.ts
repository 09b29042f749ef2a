import type { TaskStore, TaskLog } from '../store/task-store.ts';
import { memoryTaskStore } from '../store/memory-task-store.ts';
import type { Agent, CallContext } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import { A2AError, taskNotFound } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { LogSink, LogEntry } from '../primitives/log.ts';
import type { Message } from '../protocol/message.ts';
import type { SendRequest } from '../protocol/requests.ts';
import { LazyTracing } from '../tracing/tracing.ts';
import { isTerminal, type Task, limitHistory } from '../protocol/task.ts';
import { type MessageClass, classifyMessage } from './messages/classify-message.ts';
import { buildCard } from './build-card.ts';
import { systemIntervalClock, monotonicTimestamps } from './interval-clock.ts';
import type { AgentDefinition, AgentOptions, ProcessFunction } from './agent-definition.ts';
import { type DirectReply, runWithoutTask } from './runs/direct-reply.ts';
import { MessageValidator } from './messages/validate-message.ts';
import { uuidV7 } from './uuid-v7.ts';
import { deferredStream, failingStream, singleEventStream, unsupportedStream } from './streams/iterables.ts';
import { rejectOnAbort, endOnAbort } from './streams/abort.ts';
import { PushConfigService } from './push-config-service.ts';
import { recoverTasks } from './runs/recovery.ts';
import { TaskRun, type TaskRunHost, persistedTask } from './runs/task-run.ts';
import { TaskRunTable } from './runs/run-table.ts';
import { replayTurn, endsStream, withTaskIds, type ActiveTurn, waitForTurnEnd } from './messages/turn.ts';
import { startWatchdog } from './runs/watchdog.ts';
import { traceProcess } from './runs/trace-process.ts';

/** An agent that runs here. */
export interface LocalAgent extends Agent, AsyncDisposable {
  /** What it was made of, for those who want to run it elsewhere. */
  readonly definition: AgentDefinition;
  /** Where it was made to live. */
  readonly options: AgentOptions;
  ready(): Promise<void>;
  close(): Promise<void>;
}

const anonymousOwner: CallContext = {};

/**
 * Makes an agent out of a function.
 *
 * @example
 * ```ts
 * const echo = defineAgent({
 *   name: 'Echo',
 *   description: 'Says it back',
 *   process: async ({ text }) => `You said: ${text}`,
 * });
 * ```
 */
export function defineAgent(definition: AgentDefinition, options: AgentOptions = {}): LocalAgent {
  return new Engine(definition, options);
}

class Engine implements LocalAgent, TaskRunHost {
  readonly definition: AgentDefinition;
  readonly options: AgentOptions;
  readonly now: () => number;
  readonly timestamp: () => string;
  readonly newId: () => string;
  readonly entered: TaskRunHost['entered'];
  readonly createPushConfig: Agent['createPushConfig'];
  readonly getPushConfig: Agent['getPushConfig'];
  readonly listPushConfigs: Agent['listPushConfigs'];
  readonly deletePushConfig: Agent['deletePushConfig'];
  readonly jwks: Agent['jwks'];
  readonly #push: PushConfigService;
  readonly #card: AgentCard;
  readonly #ledger: TaskStore;
  readonly #ownsLedger: boolean;
  readonly #process: ProcessFunction;
  readonly #log: LogSink;
  readonly #entrance: MessageValidator;
  readonly #recovers: boolean;
  readonly #runs = new TaskRunTable();
  readonly #stopWatching: () => void;
  #recovered: Promise<void> | undefined;

  constructor(definition: AgentDefinition, options: AgentOptions) {
    const clock = options.clock ?? systemIntervalClock;
    this.definition = definition;
    this.options = options;
    this.now = () => clock.now();
    this.timestamp = monotonicTimestamps(clock);
    this.newId = options.generateId ?? uuidV7;
    this.#card = buildCard(definition);
    this.#ledger = options.taskStore ?? memoryTaskStore({ now: this.now });
    this.#ownsLedger = options.taskStore === undefined;
    this.#log = options.log ?? (() => {});
    this.#process = traceProcess(definition.process, new LazyTracing(options.tracing));
    this.entered = options.metrics?.countTaskState;
    options.metrics?.observeRuns(() => this.#runs.size);
    this.#recovers = options.recoverTasks ?? !this.#ledger.isShared;
    this.#entrance = new MessageValidator(definition);
    this.#stopWatching = startWatchdog(this.#runs, clock, options);
    this.#push = new PushConfigService(this.#ledger, definition, options, this);
    this.createPushConfig = this.#push.create;
    this.getPushConfig = this.#push.get;
    this.listPushConfigs = this.#push.list;
    this.deletePushConfig = this.#push.delete;
    this.jwks = this.#push.jwks;
  }

  /** Whoever listens must not be able to stop the work by throwing. */
  report(entry: LogEntry): void {
    try {
      this.#log(entry);
    } catch {
      // There is nobody left to tell.
    }
  }

  async card(): Promise<AgentCard> {
    return this.#card;
  }

  async extendedCard(call: CallContext = anonymousOwner): Promise<AgentCard> {
    const { extendedCard } = this.definition;
    if (extendedCard === undefined) {
      throw new A2AError('UNSUPPORTED_OPERATION', 'This agent has no extended card');
    }
    const extra = typeof extendedCard === 'function' ? await extendedCard(call) : extendedCard;
    return { ...this.#card, ...extra };
  }

  ready(): Promise<void> {
    this.#recovered ??= this.#recovers
      ? recoverTasks(this.#ledger, this.definition.resume, {
          timestamp: this.timestamp,
          newId: this.newId,
          resume: (log, process, message) =>
            this.#begin(log, { owner: log.owner }, undefined).start(process, message),
          report: (entry) => this.report(entry),
        }).then(() => this.#push.resume())
      : Promise.resolve();
    return this.#recovered;
  }

  async close(): Promise<void> {
    this.#stopWatching();
    const runs = this.#runs.all();
    for (const run of runs) {
      // What a restart can take up is left as it is, as if the process had been killed.
      if (run.isAsking || (this.definition.resume && !this.#ownsLedger)) run.detach();
      else run.stop('failed', 'The agent was shut down while it worked on this task.');
    }
    await Promise.allSettled(runs.map(async ({ log }) => log.whenPersisted()));
    await this.#push.close();
    if (this.#ownsLedger) await this.#ledger[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  send(request: SendRequest, call: CallContext = anonymousOwner): Promise<Task | Message> {
    try {
      const admission = this.#admit(request, call);
      if (admission instanceof Promise)
        return rejectOnAbort(
          admission.then((each) => this.#send(each, request, call)),
          call,
        );
      return rejectOnAbort(this.#send(admission, request, call), call);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #send(admission: MessageClass, request: SendRequest, call: CallContext): Promise<Task | Message> {
    if (admission.kind === 'new' && this.definition.allowDirectReply) {
      return this.#tryDirectly(request, call, admission.taskId).then<Task | Message>((direct) =>
        direct.kind === 'message' ? direct.message : this.#answer(direct.run, direct.run.log, request),
      );
    }
    const proceeding = this.#proceed(admission, request, call);
    return proceeding instanceof Promise
      ? proceeding.then(({ run, log }) => this.#answer(run, log, request))
      : this.#answer(proceeding.run, proceeding.log, request);
  }

  stream(request: SendRequest, call: CallContext = anonymousOwner): AsyncIterable<StreamEvent> {
    if (this.definition.streaming === false) return unsupportedStream();
    try {
      const admission = this.#admit(request, call);
      if (admission instanceof Promise)
        return endOnAbort(deferredStream(admission.then((each) => this.#follow(each, request, call))), call);
      const following = this.#follow(admission, request, call);
      return endOnAbort(following instanceof Promise ? deferredStream(following) : following, call);
    } catch (error) {
      return failingStream(error);
    }
  }

  #follow(
    admission: MessageClass,
    request: SendRequest,
    call: CallContext,
  ): AsyncIterable<StreamEvent> | Promise<AsyncIterable<StreamEvent>> {
    if (admission.kind === 'new' && this.definition.allowDirectReply) {
      return this.#tryDirectly(request, call, admission.taskId).then((direct) =>
        direct.kind === 'message'
          ? singleEventStream({ kind: 'message', message: direct.message })
          : direct.run.log.subscribe(0, endsStream),
      );
    }
    const isKnown = admission.kind !== 'new';
    // A number that the task has not reached is of another task, or of one that was lost.
    const after =
      isKnown && (request.afterSequence ?? 0) <= admission.log.sequence ? request.afterSequence : undefined;
    const from = after ?? 0;
    const proceeding = this.#proceed(admission, request, call, isKnown && after === undefined);
    if (proceeding instanceof Promise)
      return proceeding.then(({ follower, log }) => follower ?? log.subscribe(from, endsStream));
    return proceeding.follower ?? proceeding.log.subscribe(from, endsStream);
  }

  #admit(request: SendRequest, call: CallContext): MessageClass | Promise<MessageClass> {
    this.#entrance.check(request, call);
    return classifyMessage(this.#ledger, call.owner ?? '', request);
  }

  /** Begins a task, goes on with one, or finds the one that the message has begun before. */
  #proceed(
    admission: MessageClass,
    request: SendRequest,
    call: CallContext,
    followsFirst = false,
  ): ActiveTurn | Promise<ActiveTurn> {
    if (admission.kind === 'again') {
      const { log } = admission;
      const follower = followsFirst ? replayTurn(log, request.message) : undefined;
      return { log, run: this.#runs.of(log), follower };
    }
    if (admission.kind === 'next') return this.#continue(admission, request, call, followsFirst);
    const log = this.#create(request, call, admission.taskId);
    return log instanceof Promise
      ? log.then((each) => this.#launch(each, request, call))
      : this.#launch(log, request, call);
  }

  #create(request: SendRequest, call: CallContext, taskId: string | undefined): TaskLog | Promise<TaskLog> {
    const id = taskId ?? this.newId();
    const contextId = request.message.contextId ?? this.newId();
    const task: Task = {
      id,
      contextId,
      status: { state: 'submitted', timestamp: this.timestamp() },
      history: [withTaskIds(request.message, contextId, id)],
    };
    if (call.version === '0.1') task.originVersion = '0.1';
    this.entered?.('submitted');
    return this.#ledger.create(call.owner ?? '', task, request.message.messageId);
  }

  #launch(log: TaskLog, request: SendRequest, call: CallContext): ActiveTurn | Promise<ActiveTurn> {
    // As the task has it, so that the one that came in can go.
    const message = log.task().history?.at(-1) ?? request.message;
    const registering = this.#registerPush(log, request, call);
    const run = this.#begin(log, call, request);
    if (!registering) {
      run.start(this.#process, message);
      return { log, run };
    }
    return registering.then(
      () => {
        run.start(this.#process, message);
        return { log, run };
      },
      (error: unknown) => {
        run.fail(error);
        throw error;
      },
    );
  }

  #registerPush(
    log: TaskLog,
    request: SendRequest,
    call: CallContext,
    after = 0,
  ): Promise<unknown> | undefined {
    const push = request.configuration?.pushConfig;
    return push && this.#push.register({ ...push, id: push.id ?? '', taskId: log.id }, call, after);
  }

  async #continue(
    { log, sequence }: Extract<MessageClass, { kind: 'next' }>,
    request: SendRequest,
    call: CallContext,
    followsFirst: boolean,
  ): Promise<ActiveTurn> {
    await this.#registerPush(log, request, call, sequence);
    if (log.sequence !== sequence) {
      // Somebody was quicker, perhaps with the very same message.
      const { pushConfig: _registered, ...configuration } = request.configuration ?? {};
      const retry = { ...request, configuration };
      return this.#proceed(await this.#admit(retry, call), retry, call, followsFirst);
    }
    const present = this.#runs.of(log);
    if (present && !present.isAsking) {
      throw new A2AError('UNSUPPORTED_OPERATION', 'The task waits for something else than a message', {
        details: { taskId: log.id },
      });
    }
    const message = withTaskIds(request.message, log.contextId, log.id);
    // The next turn of a task begins with the task as it stood before it.
    const follower = followsFirst ? log.subscribe('now', endsStream) : undefined;
    log.append({ kind: 'input', message });
    if (present) {
      present.answer(message);
      return { log, run: present, follower };
    }
    const run = this.#begin(log, call, request);
    run.start(this.#process, message);
    return { log, run, follower };
  }

  #begin(log: TaskLog, call: CallContext, request: SendRequest | undefined): TaskRun {
    const run = new TaskRun(this, log, call, request);
    this.#runs.add(run);
    return run;
  }

  ended(run: TaskRun): void {
    this.#runs.remove(run);
  }

  #tryDirectly(request: SendRequest, call: CallContext, taskId: string | undefined): Promise<DirectReply> {
    return runWithoutTask(this.#process, request, call, {
      newId: this.newId,
      create: (ids) =>
        this.#create(
          { ...request, message: { ...request.message, contextId: ids.contextId } },
          call,
          ids.taskId,
        ),
      begin: async (log) => {
        const run = this.#begin(log, call, request);
        try {
          await this.#registerPush(log, request, call);
        } catch (error) {
          run.fail(error);
          throw error;
        }
        return run;
      },
      ids: { taskId: taskId ?? this.newId(), contextId: request.message.contextId ?? this.newId() },
    });
  }

  #answer(run: TaskRun | undefined, log: TaskLog, { configuration }: SendRequest): Promise<Task> {
    const answering = waitForTurnEnd(run, log, configuration?.returnImmediately);
    const length = configuration?.historyLength;
    return length === undefined ? answering : answering.then((task) => limitHistory(task, length));
  }

  getTask(
    { id, historyLength }: { id: string; historyLength?: number },
    call: CallContext = anonymousOwner,
  ): Promise<Task> {
    const log = this.#ledger.open(call.owner ?? '', id);
    // Tasks in memory are there at once.
    if (log && !(log instanceof Promise)) return Promise.resolve(limitHistory(log.task(), historyLength));
    return this.#open(id, call).then((opened) => limitHistory(opened.task(), historyLength));
  }

  async listTasks(
    ...[request, call = anonymousOwner]: Parameters<Agent['listTasks']>
  ): ReturnType<Agent['listTasks']> {
    return this.#ledger.list(call.owner ?? '', request);
  }

  async cancelTask({ id }: { id: string }, call: CallContext = anonymousOwner): Promise<Task> {
    const log = await this.#open(id, call);
    // Whoever cancels twice gets the same answer twice.
    if (log.state === 'canceled') return persistedTask(log);
    if (isTerminal(log.state)) {
      throw new A2AError('TASK_NOT_CANCELABLE', `The task is ${log.state} already`, {
        details: { taskId: id },
      });
    }
    (this.#runs.of(log) ?? this.#begin(log, call, undefined)).stop('canceled');
    return persistedTask(log);
  }

  subscribe(
    ...[{ id, afterSequence: after }, call = anonymousOwner]: Parameters<Agent['subscribe']>
  ): AsyncIterable<StreamEvent> {
    if (this.definition.streaming === false) return unsupportedStream();
    const log = this.#ledger.open(call.owner ?? '', id);
    const follow = (opened: TaskLog | undefined): AsyncIterable<StreamEvent> => {
      if (!opened) return failingStream(taskNotFound(id));
      if (after !== undefined && after <= opened.sequence) return opened.subscribe(after, endsStream);
      if (!isTerminal(opened.state)) return opened.subscribe('now', endsStream);
      const text = `The task is ${opened.state}: there is nothing left to follow`;
      return failingStream(new A2AError('UNSUPPORTED_OPERATION', text, { details: { taskId: id } }));
    };
    return endOnAbort(log instanceof Promise ? deferredStream(log.then(follow)) : follow(log), call);
  }

  async #open(id: string, call: CallContext): Promise<TaskLog> {
    const opening = this.#ledger.open(call.owner ?? '', id);
    const log = opening instanceof Promise ? await opening : opening;
    if (!log) throw taskNotFound(id);
    return log;
  }
}
