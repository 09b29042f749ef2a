import type { Ledger, TaskLog } from '../ledger/ledger.ts';
import { memoryLedger } from '../ledger/memory.ts';
import type { Agent, Call } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import { A2AError, taskNotFound } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { SendRequest } from '../protocol/requests.ts';
import { isInterrupted, isTask, isTerminal, type Task, withHistory } from '../protocol/task.ts';
import { type Admission, admit } from './admission.ts';
import { cardOf } from './card.ts';
import { systemClock, timestamps } from './clock.ts';
import type { AgentDefinition, AgentOptions, LogEntry } from './definition.ts';
import { type DirectAnswer, tryDirectly } from './direct.ts';
import { deferred, failed, single } from './iterables.ts';
import { pushOperations } from './push.ts';
import { recover } from './recovery.ts';
import { Run, type RunHost, settledTask } from './run.ts';
import { watch } from './watchdog.ts';

/** An agent that runs here. */
export interface LocalAgent extends Agent, AsyncDisposable {
  /** What it was made of, for those who want to run it elsewhere. */
  readonly definition: AgentDefinition;
  /** Where it was made to live. */
  readonly options: AgentOptions;
  ready(): Promise<void>;
  close(): Promise<void>;
}

const nobody: Call = {};

/** A stream ends when the task does, and when the task waits for the caller's words. */
function isLast(event: StreamEvent): boolean {
  return event.kind === 'status' && event.status.state === 'input-required';
}

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

class Engine implements LocalAgent, RunHost {
  readonly definition: AgentDefinition;
  readonly options: AgentOptions;
  readonly now: () => number;
  readonly timestamp: () => string;
  readonly newId: () => string;
  readonly createPushConfig: Agent['createPushConfig'];
  readonly getPushConfig: Agent['getPushConfig'];
  readonly listPushConfigs: Agent['listPushConfigs'];
  readonly deletePushConfig: Agent['deletePushConfig'];
  readonly #card: AgentCard;
  readonly #ledger: Ledger;
  readonly #ownsLedger: boolean;
  readonly #log: (entry: LogEntry) => void;
  readonly #requiredExtensions: readonly string[];
  readonly #recovers: boolean;
  readonly #runs = new Map<string, Run>();
  readonly #stopWatching: () => void;
  #recovered: Promise<void> | undefined;

  constructor(definition: AgentDefinition, options: AgentOptions) {
    const clock = options.clock ?? systemClock;
    this.definition = definition;
    this.options = options;
    this.now = clock.now;
    this.timestamp = timestamps(clock);
    this.newId = options.newId ?? (() => globalThis.crypto.randomUUID());
    this.#card = cardOf(definition);
    this.#ledger = options.ledger ?? memoryLedger({ now: clock.now });
    this.#ownsLedger = options.ledger === undefined;
    this.#log = options.log ?? (() => {});
    this.#recovers = options.recovers ?? true;
    this.#requiredExtensions = (definition.extensions ?? [])
      .filter((each) => each.required)
      .map(({ uri }) => uri);
    this.#stopWatching = watch(this.#runs, clock, options);
    const push = pushOperations(this.#ledger, {
      isSupported: definition.pushNotifications ?? false,
      newId: this.newId,
      most: options.maxPushConfigs ?? 10,
    });
    this.createPushConfig = push.create;
    this.getPushConfig = push.get;
    this.listPushConfigs = push.list;
    this.deletePushConfig = push.delete;
  }

  report(entry: LogEntry): void {
    this.#log(entry);
  }

  async card(): Promise<AgentCard> {
    return this.#card;
  }

  async extendedCard(call: Call = nobody): Promise<AgentCard> {
    const { extendedCard } = this.definition;
    if (extendedCard === undefined) {
      throw new A2AError('UNSUPPORTED_OPERATION', 'This agent has no extended card');
    }
    const extra = typeof extendedCard === 'function' ? await extendedCard(call) : extendedCard;
    return { ...this.#card, ...extra };
  }

  ready(): Promise<void> {
    this.#recovered ??= this.#recovers
      ? recover(this.#ledger, this.definition.resume, {
          timestamp: this.timestamp,
          newId: this.newId,
          resume: (log, process, message) => this.#begin(log, nobody, undefined).start(process, message),
          report: this.#log,
        })
      : Promise.resolve();
    return this.#recovered;
  }

  async close(): Promise<void> {
    this.#stopWatching();
    for (const run of [...this.#runs.values()])
      run.stop('failed', 'The agent was shut down while it worked on this task.');
    if (this.#ownsLedger) await this.#ledger[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async send(request: SendRequest, call: Call = nobody): Promise<Task | Message> {
    const decided = this.#admit(request, call);
    const admission = decided instanceof Promise ? await decided : decided;
    const { configuration } = request;
    let answer: Task | Message;
    if (admission.kind === 'new' && this.definition.mayAnswerDirectly) {
      const direct = await this.#tryDirectly(request, call, admission.taskId);
      if (direct.kind === 'message') return direct.message;
      answer = await this.#answer(direct.run, direct.run.log, configuration?.returnImmediately);
    } else {
      const { log, run } = await this.#proceed(admission, request, call);
      answer = await this.#answer(run, log, configuration?.returnImmediately);
    }
    return isTask(answer) ? withHistory(answer, configuration?.historyLength) : answer;
  }

  stream(request: SendRequest, call: Call = nobody): AsyncIterable<StreamEvent> {
    try {
      const admission = this.#admit(request, call);
      if (admission instanceof Promise)
        return deferred(admission.then((each) => this.#follow(each, request, call)));
      const following = this.#follow(admission, request, call);
      return following instanceof Promise ? deferred(following) : following;
    } catch (error) {
      return failed(error);
    }
  }

  #follow(
    admission: Admission,
    request: SendRequest,
    call: Call,
  ): AsyncIterable<StreamEvent> | Promise<AsyncIterable<StreamEvent>> {
    if (admission.kind === 'new' && this.definition.mayAnswerDirectly) {
      return this.#tryDirectly(request, call, admission.taskId).then((direct) =>
        direct.kind === 'message'
          ? single({ kind: 'message', message: direct.message })
          : direct.run.log.follow(0, isLast),
      );
    }
    // The next turn of a task begins with the task as it stood before it.
    const from = request.after ?? (admission.kind === 'next' ? admission.log.sequence : 0);
    const beginsWithTask = admission.kind === 'next' && request.after === undefined;
    const proceeding = this.#proceed(admission, request, call, beginsWithTask);
    if (proceeding instanceof Promise)
      return proceeding.then(({ follower, log }) => follower ?? log.follow(from, isLast));
    return proceeding.follower ?? proceeding.log.follow(from, isLast);
  }

  #admit(request: SendRequest, call: Call): Admission | Promise<Admission> {
    for (const uri of this.#requiredExtensions) {
      if (!call.extensions?.includes(uri)) {
        throw new A2AError('EXTENSION_SUPPORT_REQUIRED', `This agent needs the extension ${uri}`, {
          details: { uri },
        });
      }
    }
    if (request.configuration?.pushConfig && !this.definition.pushNotifications) {
      throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
    }
    return admit(this.#ledger, call.owner ?? '', request);
  }

  /** Begins a task, goes on with one, or finds the one that the message has begun before. */
  #proceed(
    admission: Admission,
    request: SendRequest,
    call: Call,
    followsFirst = false,
  ): Proceeding | Promise<Proceeding> {
    if (admission.kind === 'again') {
      return { log: admission.log, run: this.#runs.get(keyOf(admission.log.owner, admission.log.id)) };
    }
    if (admission.kind === 'next') return this.#continue(admission.log, request, call, followsFirst);
    const log = this.#create(request, call, admission.taskId);
    return log instanceof Promise
      ? log.then((each) => this.#launch(each, request, call))
      : this.#launch(log, request, call);
  }

  #create(request: SendRequest, call: Call, taskId: string | undefined): TaskLog | Promise<TaskLog> {
    const id = taskId ?? this.newId();
    const contextId = request.message.contextId ?? this.newId();
    const task: Task = {
      id,
      contextId,
      status: { state: 'submitted', timestamp: this.timestamp() },
      history: [placed(request.message, contextId, id)],
    };
    if (call.version === '0.1') task.origin = '0.1';
    return this.#ledger.create(call.owner ?? '', task, request.message.messageId);
  }

  #launch(log: TaskLog, request: SendRequest, call: Call): Proceeding | Promise<Proceeding> {
    const registering = this.#registerPush(log, request, call);
    const run = this.#begin(log, call, request);
    if (!registering) {
      run.start(this.definition.process, request.message);
      return { log, run };
    }
    return registering.then(() => {
      run.start(this.definition.process, request.message);
      return { log, run };
    });
  }

  #registerPush(log: TaskLog, { configuration }: SendRequest, call: Call): Promise<unknown> | undefined {
    const push = configuration?.pushConfig;
    return push && this.createPushConfig({ ...push, id: push.id ?? '', taskId: log.id }, call);
  }

  async #continue(
    log: TaskLog,
    request: SendRequest,
    call: Call,
    followsFirst: boolean,
  ): Promise<Proceeding> {
    const message = placed(request.message, log.contextId, log.id);
    await this.#registerPush(log, request, call);
    const follower = followsFirst ? log.follow('now', isLast) : undefined;
    log.append({ kind: 'input', message });
    const asking = this.#runs.get(keyOf(log.owner, log.id));
    if (asking?.isAsking) {
      asking.answer(message);
      return { log, run: asking, follower };
    }
    const run = this.#begin(log, call, request);
    run.start(this.definition.process, message);
    return { log, run, follower };
  }

  #begin(log: TaskLog, call: Call, request: SendRequest | undefined): Run {
    const run = new Run(this, log, call, request);
    this.#runs.set(keyOf(log.owner, log.id), run);
    return run;
  }

  ended(run: Run): void {
    const key = keyOf(run.log.owner, run.log.id);
    if (this.#runs.get(key) === run) this.#runs.delete(key);
  }

  #tryDirectly(request: SendRequest, call: Call, taskId: string | undefined): Promise<DirectAnswer> {
    return tryDirectly(this.definition.process, request, call, {
      newId: this.newId,
      create: (ids) =>
        this.#create(
          { ...request, message: { ...request.message, contextId: ids.contextId } },
          call,
          ids.taskId,
        ),
      begin: async (log) => {
        await this.#registerPush(log, request, call);
        return this.#begin(log, call, request);
      },
      ids: { taskId: taskId ?? this.newId(), contextId: request.message.contextId ?? this.newId() },
    });
  }

  async #answer(run: Run | undefined, log: TaskLog, immediately: boolean | undefined): Promise<Task> {
    if (immediately) return settledTask(log);
    if (run) return run.rests();
    if (isTerminal(log.state) || isInterrupted(log.state)) return settledTask(log);
    for await (const event of log.follow(log.sequence, isResting)) if (isResting(event)) break;
    return log.task();
  }

  async getTask(
    { id, historyLength }: { id: string; historyLength?: number },
    call: Call = nobody,
  ): Promise<Task> {
    return withHistory((await this.#open(id, call)).task(), historyLength);
  }

  async listTasks(
    ...[request, call = nobody]: Parameters<Agent['listTasks']>
  ): ReturnType<Agent['listTasks']> {
    return this.#ledger.list(call.owner ?? '', request);
  }

  async cancelTask({ id }: { id: string }, call: Call = nobody): Promise<Task> {
    const log = await this.#open(id, call);
    // Whoever cancels twice gets the same answer twice.
    if (log.state === 'canceled') return settledTask(log);
    if (isTerminal(log.state)) {
      throw new A2AError('TASK_NOT_CANCELABLE', `The task is ${log.state} already`, {
        details: { taskId: id },
      });
    }
    (this.#runs.get(keyOf(log.owner, id)) ?? this.#begin(log, call, undefined)).stop('canceled');
    return settledTask(log);
  }

  subscribe(...[{ id, after }, call = nobody]: Parameters<Agent['subscribe']>): AsyncIterable<StreamEvent> {
    const log = this.#ledger.open(call.owner ?? '', id);
    const follow = (opened: TaskLog | undefined): AsyncIterable<StreamEvent> => {
      if (!opened) return failed(taskNotFound(id));
      if (after !== undefined) return opened.follow(after, isLast);
      if (!isTerminal(opened.state)) return opened.follow('now', isLast);
      const text = `The task is ${opened.state}: there is nothing left to follow`;
      return failed(new A2AError('UNSUPPORTED_OPERATION', text, { details: { taskId: id } }));
    };
    return log instanceof Promise ? deferred(log.then(follow)) : follow(log);
  }

  async #open(id: string, call: Call): Promise<TaskLog> {
    const opening = this.#ledger.open(call.owner ?? '', id);
    const log = opening instanceof Promise ? await opening : opening;
    if (!log) throw taskNotFound(id);
    return log;
  }
}

/** A message on its way: the task it belongs to and, if it runs here, its run. */
interface Proceeding {
  log: TaskLog;
  run: Run | undefined;
  follower?: AsyncIterable<StreamEvent>;
}

/** A message with the ids of the task it belongs to. */
function placed(message: Message, contextId: string, taskId: string): Message {
  const { messageId, role, parts, extensions, referenceTaskIds, metadata } = message;
  return { messageId, role, parts, contextId, taskId, extensions, referenceTaskIds, metadata };
}

/** Ids are unique within an owner only. */
function keyOf(owner: string, id: string): string {
  return owner === '' ? id : `${owner}\u0000${id}`;
}

function isResting(event: StreamEvent): boolean {
  if (event.kind !== 'status') return false;
  return isTerminal(event.status.state) || isInterrupted(event.status.state);
}
