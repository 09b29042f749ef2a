import { raceAbort } from '../../primitives/abort.ts';
import { compositeKey } from '../../primitives/composite-key.ts';
import { dialectForVersion } from '../../dialects/negotiation.ts';
import { type Dialect, rpcMethodName } from '../../dialects/dialect.ts';
import type { WireObject } from '../../dialects/field-readers.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import type { CallContext } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError, taskNotFound } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import type {
  CancelTaskRequest,
  GetTaskRequest,
  SendRequest,
  SubscribeRequest,
} from '../../protocol/requests.ts';
import { diffTask } from '../../protocol/diff-task.ts';
import { isTask, isTerminal, type Task, limitHistory } from '../../protocol/task.ts';
import { type Clock, sleep, systemClock } from '../../primitives/clock.ts';
import { type MeshDirectory, meshDirectory } from '../mesh-directory.ts';
import { writeRequest } from '../rpc-envelope.ts';
import { LruMap, LruSet } from '../../primitives/lru-map.ts';
import type { MeshMessage, MessageProperty, Subscription } from '../brokers/broker-connection.ts';
import { defaultUser, buildRequestProperties, responseIdProperty } from '../request-properties.ts';
import { RemoteTask } from './remote-task.ts';
import { type RecordedTask, RemoteTaskRecords } from './remote-task-records.ts';
import type { EventQueue } from './event-queue.ts';
import type { MeshAgentOptions, MeshAgentTimeouts } from './mesh-agent-options.ts';
import { type MeshReceiver, MeshTopics } from '../mesh-topics.ts';

/** Longer ids of responses are not remembered. */
const maxResponseIdLength = 200;

/** Milliseconds between two reads of a task whose response another client receives. */
const recordInterval = 250;

/** A task, as this client or another one knows it. */
interface FoundTask extends RecordedTask {
  /** True if another client may have sent its latest request. */
  readonly isRestored: boolean;
}

/** Subscriptions of an open client. */
interface OpenClient {
  readonly inbox: Subscription;
  readonly directory: MeshDirectory | undefined;
}

/** Sends requests to one agent and receives its responses. */
export class MeshClient {
  readonly #options: MeshAgentOptions;
  readonly #topics: MeshTopics;
  readonly #requestTopic: string;
  readonly #self: string;
  readonly #kind: MeshReceiver;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #timeouts: MeshAgentTimeouts;
  readonly #tasks: LruMap<string, RemoteTask>;
  readonly #responseIds: LruSet<string>;
  readonly #maxBufferedEvents: number;
  /** Tasks whose response is being saved for other clients. */
  readonly #saving = new WeakMap<RemoteTask, Promise<void>>();
  /** Undefined if this client does not share its tasks. */
  readonly #records: RemoteTaskRecords | undefined;
  #opening: Promise<OpenClient> | undefined;
  /** Tasks with a pending response, by their id on the mesh. */
  readonly #pending = new Map<string, { task: RemoteTask; resetTimeout: () => void }>();

  constructor(options: MeshAgentOptions) {
    this.#options = options;
    this.#topics = new MeshTopics(options.namespace);
    this.#requestTopic = this.#topics.request(options.name);
    this.#newId = options.newId ?? (() => crypto.randomUUID());
    this.#kind = options.peer ? 'agent' : 'gateway';
    this.#self = options.peer?.name ?? options.gatewayId ?? `dragoman-${this.#newId()}`;
    this.#topics.inbox(this.#kind, this.#self);
    this.#clock = options.clock ?? systemClock;
    this.#timeouts = { discovery: 25_000, idle: 300_000, cancel: 10_000, ...options.timeouts };
    this.#responseIds = new LruSet({ maxEntries: 10_000 });
    this.#maxBufferedEvents = options.limits?.events ?? 1000;
    this.#records = options.register && new RemoteTaskRecords(options.register, this.#maxBufferedEvents);
    this.#tasks = new LruMap({
      maxEntries: options.limits?.tasks ?? 1000,
      maxAge: options.limits?.age ?? 3_600_000,
      clock: this.#clock,
      canEvict: ({ isOpen }) => !isOpen,
    });
  }

  async ready(): Promise<void> {
    await this.#open();
  }

  async card(call: CallContext = {}): Promise<AgentCard> {
    return (await this.#discover(call)).card;
  }

  async send(request: SendRequest, call: CallContext = {}): Promise<Task | Message> {
    const { task, publish } = await this.#prepare('send', request, call);
    const result = task.result();
    result.catch(() => {});
    await publish();
    if (request.configuration?.returnImmediately) return task.task;
    const response = await orAbort(result, call.signal);
    await this.#saving.get(task);
    return isTask(response) ? limitHistory(response, request.configuration?.historyLength) : response;
  }

  async *stream(request: SendRequest, call: CallContext = {}): AsyncGenerator<StreamEvent> {
    const { task, publish } = await this.#prepare('stream', request, call);
    const events = task.subscribe();
    await publish();
    for await (const event of this.#read(events, call.signal)) {
      // Another client finds the task as soon as its state is known here.
      if (event.kind !== 'artifact') await this.#saving.get(task);
      yield event;
    }
  }

  async getTask({ id, historyLength }: GetTaskRequest, call: CallContext = {}): Promise<Task> {
    return limitHistory((await this.#find(id, call)).remote.task, historyLength);
  }

  async cancelTask({ id }: CancelTaskRequest, call: CallContext = {}): Promise<Task> {
    const { remote, isRestored } = await this.#find(id, call);
    if (isTerminal(remote.task.status.state)) throw new A2AError('TASK_NOT_CANCELABLE');
    const { dialect } = await this.#discover(call);
    if (!remote.isOpen) {
      remote.open();
      this.#awaitResponse(remote);
    }
    const ended = remote.result().then(
      () => {},
      () => {},
    );
    let stopTimer = (): void => {};
    const timeout = new Promise<void>((resolve) => {
      stopTimer = this.#clock.after(this.#timeouts.cancel, resolve);
    });
    const params = dialect.requests.cancelTask.write({ id: remote.wireId });
    const method = rpcMethodName(dialect, 'cancelTask') ?? 'tasks/cancel';
    await this.#options.broker.publish(
      this.#requestTopic,
      writeRequest(this.#newId(), method, params),
      buildRequestProperties({
        // The response to the request that started the task reaches another client.
        ...(isRestored && { replyTo: this.#topics.response(this.#kind, this.#self, remote.wireId) }),
        clientId: this.#self,
        userId: this.#userId(call),
        timestamp: this.#clock.now(),
      }),
    );
    await orAbort(Promise.race([ended, timeout]), call.signal);
    stopTimer();
    await this.#saving.get(remote);
    return remote.task;
  }

  async *subscribe({ id }: SubscribeRequest, call: CallContext = {}): AsyncGenerator<StreamEvent> {
    const { remote, isOpenElsewhere } = await this.#find(id, call);
    const { task } = remote;
    if (isTerminal(task.status.state)) throw new A2AError('UNSUPPORTED_OPERATION', 'The task has ended');
    const events = remote.isOpen ? remote.subscribe() : undefined;
    yield { kind: 'task', task };
    if (events) yield* this.#read(events, call.signal);
    else if (isOpenElsewhere) yield* diffTask(task, await this.#whenClosedElsewhere(id, call));
  }

  /** Waits for the response that another client receives. */
  async #whenClosedElsewhere(id: string, call: CallContext): Promise<Task> {
    const { idle } = this.#timeouts;
    const since = this.#clock.monotonic();
    for (;;) {
      await orAbort(sleep(this.#clock, recordInterval), call.signal);
      const { remote, isOpenElsewhere } = await this.#find(id, call);
      if (!isOpenElsewhere) return remote.task;
      if (idle > 0 && this.#clock.monotonic() - since > idle) throw this.#silenceError();
    }
  }

  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.inbox.close();
    await opened?.directory?.close();
    const error = new A2AError('UNAVAILABLE', 'The connection to the mesh was closed');
    for (const task of this.#tasks.values()) task.fail(error);
  }

  /** Subscribes once to responses, and to announcements if neither a directory nor a card is set. */
  #open(): Promise<OpenClient> {
    const { broker, namespace, directory, card, log } = this.#options;
    this.#opening ??= (async () => {
      const inbox = await broker.subscribe(this.#topics.inbox(this.#kind, this.#self), (message) =>
        this.#receive(message),
      );
      if (directory || card) return { inbox, directory: undefined };
      return { inbox, directory: await meshDirectory({ broker, namespace, clock: this.#clock, log }) };
    })();
    this.#opening.catch(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #discover(call: CallContext): Promise<{ card: AgentCard; dialect: Dialect }> {
    const { card, version, name, directory } = this.#options;
    const opened = await this.#open();
    if (card) return { card, dialect: dialectForVersion(version) };
    const source = directory ?? opened.directory;
    if (!source) throw new A2AError('INTERNAL_ERROR');
    const peer = await source.wait(name, this.#timeouts.discovery, call.signal);
    return { card: peer.card, dialect: dialectForVersion(version ?? peer.version) };
  }

  async #prepare(
    requested: 'send' | 'stream',
    request: SendRequest,
    call: CallContext,
  ): Promise<{ task: RemoteTask; publish: () => Promise<void> }> {
    const { card, dialect } = await this.#discover(call);
    const owner = call.owner ?? '';
    const { message, clientTaskId } = request;
    const named = message.taskId ?? clientTaskId;
    const known = named === undefined ? undefined : (await this.#lookUp(named, owner))?.remote;
    if (!known && message.taskId !== undefined) throw taskNotFound(message.taskId);
    if (known && isTerminal(known.task.status.state)) {
      throw new A2AError('UNSUPPORTED_OPERATION', 'The task has ended; start a new one', {
        details: { taskId: known.taskId },
      });
    }
    const wireId = known?.wireId ?? this.#newId();
    const taskId = known?.taskId ?? clientTaskId ?? wireId;
    const contextId = known?.contextId ?? message.contextId ?? this.#newId();
    const outgoing: Message = { ...message, contextId };
    if (known) outgoing.taskId = wireId;
    const task =
      known ??
      new RemoteTask(
        {
          id: taskId,
          contextId,
          status: { state: 'submitted', timestamp: new Date(this.#clock.now()).toISOString() },
          history: [{ ...outgoing, taskId }],
        },
        { wireId, taskId, contextId, owner },
        { dialect, maxBufferedEvents: this.#maxBufferedEvents },
      );
    const operation = requested === 'stream' && card.capabilities.streaming === true ? 'stream' : 'send';
    const method = rpcMethodName(dialect, operation) ?? operation;
    const wireRequest = {
      ...request,
      message: outgoing,
      clientTaskId: dialect === v0_1 ? wireId : undefined,
    };
    const params = dialect.requests[operation].write(withoutReturnImmediately(wireRequest));
    const payload = writeRequest(dialect === v0_1 ? this.#newId() : wireId, method, params);
    const properties = this.#properties(wireId, requested === 'stream', call);
    return {
      task,
      publish: async () => {
        task.open(known && { ...outgoing, taskId });
        this.#awaitResponse(task);
        this.#tasks.set(compositeKey(owner, taskId), task);
        try {
          await this.#records?.write(task);
          await this.#options.broker.publish(this.#requestTopic, payload, properties);
        } catch (error) {
          const failed = A2AError.from(error);
          task.fail(failed);
          throw failed;
        }
      },
    };
  }

  #properties(taskId: string, wantsUpdates: boolean, call: CallContext) {
    const { peer, userConfig } = this.#options;
    return buildRequestProperties({
      replyTo: this.#topics.response(this.#kind, this.#self, taskId),
      // Delegating agents always request updates, which reset the idle timeout.
      statusTopic: wantsUpdates || peer ? this.#topics.status(this.#kind, this.#self, taskId) : undefined,
      clientId: this.#self,
      userId: this.#userId(call),
      userConfig,
      callDepth: peer?.callDepth,
      delegatingAgent: peer?.name,
      extensions: call.extensions,
      timestamp: this.#clock.now(),
    });
  }

  #userId(call: CallContext): string {
    return call.principal?.id ?? (call.owner || this.#options.user || defaultUser);
  }

  #receive({ topic, payload, properties }: MeshMessage): void {
    const [kind, , wireId = ''] = topic.split('/').slice(-3);
    const pending = this.#pending.get(wireId);
    if (kind !== 'status' && this.#isRepeatedResponse(properties[responseIdProperty])) return;
    const body = parseJsonOrUndefined(payload);
    if (!pending || typeof body !== 'object' || body === null) return;
    pending.resetTimeout();
    try {
      pending.task.receive(body as WireObject, kind === 'status' ? 'status' : 'response');
    } catch (thrown) {
      const error = A2AError.from(thrown);
      const message = `Invalid message from agent "${this.#options.name}": ${error.message}`;
      this.#options.log?.({ level: 'warn', message, taskId: pending.task.taskId, error });
      if (kind !== 'status') {
        pending.task.fail(new A2AError('INVALID_AGENT_RESPONSE', message, { cause: thrown }));
      }
    }
  }

  /** A repeated response to an earlier request must not be taken for the response to a later one of the same task. */
  #isRepeatedResponse(id: MessageProperty | undefined): boolean {
    if (typeof id !== 'string' || id.length > maxResponseIdLength) return false;
    if (this.#responseIds.has(id)) return true;
    this.#responseIds.add(id);
    return false;
  }

  /** Registers a task for its response, and fails it at the idle timeout. */
  #awaitResponse(task: RemoteTask): void {
    const { idle } = this.#timeouts;
    let stopTimer = (): void => {};
    const resetTimeout = (): void => {
      stopTimer();
      if (idle <= 0) return;
      stopTimer = this.#clock.after(idle, () => task.fail(this.#silenceError()));
    };
    const entry = { task, resetTimeout };
    this.#pending.set(task.wireId, entry);
    resetTimeout();
    const unregister = (): void => {
      stopTimer();
      if (this.#pending.get(task.wireId) === entry) this.#pending.delete(task.wireId);
    };
    task.onClosed = () => {
      unregister();
      if (this.#records) this.#saving.set(task, this.#save(task, this.#records));
    };
  }

  async #save(task: RemoteTask, records: RemoteTaskRecords): Promise<void> {
    try {
      await records.write(task);
    } catch (error) {
      const message = 'A task could not be saved for other clients';
      this.#options.log?.({ level: 'error', message, taskId: task.taskId, error });
    }
  }

  #silenceError(): A2AError {
    const { name } = this.#options;
    return new A2AError('TIMEOUT', `No message from agent "${name}" for ${this.#timeouts.idle} ms`);
  }

  async #find(id: string, call: CallContext): Promise<FoundTask> {
    const found = await this.#lookUp(id, call.owner ?? '');
    if (!found) throw taskNotFound(id);
    return found;
  }

  /** A request in progress is known here; after it, another client may have continued the task. */
  async #lookUp(id: string, owner: string): Promise<FoundTask | undefined> {
    const local = this.#tasks.get(compositeKey(owner, id));
    const recorded = local?.isOpen ? undefined : await this.#records?.read(owner, id);
    if (recorded) return { ...recorded, isRestored: true };
    return local && { remote: local, isRestored: false, isOpenElsewhere: false };
  }

  async *#read(events: EventQueue, signal: AbortSignal | undefined): AsyncGenerator<StreamEvent> {
    const onAbort = (): void => events.end(new A2AError('CANCELED', undefined, { cause: signal?.reason }));
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    try {
      yield* events;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

/** The only response on the mesh is the final one, so an early return cannot be requested. */
function withoutReturnImmediately(request: SendRequest): SendRequest {
  if (!request.configuration?.returnImmediately) return request;
  const { returnImmediately: _local, ...configuration } = request.configuration;
  return { ...request, configuration };
}

function orAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return raceAbort(promise, signal, ({ reason }) => new A2AError('CANCELED', undefined, { cause: reason }));
}
