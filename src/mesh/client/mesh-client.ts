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
import { isTask, isTerminal, type Task, limitHistory } from '../../protocol/task.ts';
import { type Clock, systemClock } from '../../primitives/clock.ts';
import { type MeshDirectory, meshDirectory } from '../mesh-directory.ts';
import { writeRequest } from '../rpc-envelope.ts';
import { LruMap, LruSet } from '../../primitives/lru-map.ts';
import type { MeshMessage, MessageProperty, Subscription } from '../brokers/broker-connection.ts';
import { defaultUser, buildRequestProperties, responseIdProperty } from '../request-properties.ts';
import { RemoteTask } from './remote-task.ts';
import type { EventQueue } from './event-queue.ts';
import type { MeshAgentOptions, MeshAgentTimeouts } from './mesh-agent-options.ts';
import { type MeshReceiver, MeshTopics } from '../mesh-topics.ts';

/** Longer ids of responses are not remembered. */
const maxResponseIdLength = 200;

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
    return isTask(response) ? limitHistory(response, request.configuration?.historyLength) : response;
  }

  async *stream(request: SendRequest, call: CallContext = {}): AsyncGenerator<StreamEvent> {
    const { task, publish } = await this.#prepare('stream', request, call);
    const events = task.subscribe();
    await publish();
    yield* this.#read(events, call.signal);
  }

  async getTask({ id, historyLength }: GetTaskRequest, call: CallContext = {}): Promise<Task> {
    return limitHistory(this.#find(id, call).task, historyLength);
  }

  async cancelTask({ id }: CancelTaskRequest, call: CallContext = {}): Promise<Task> {
    const remote = this.#find(id, call);
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
        clientId: this.#self,
        userId: this.#userId(call),
        timestamp: this.#clock.now(),
      }),
    );
    await orAbort(Promise.race([ended, timeout]), call.signal);
    stopTimer();
    return remote.task;
  }

  async *subscribe({ id }: SubscribeRequest, call: CallContext = {}): AsyncGenerator<StreamEvent> {
    const remote = this.#find(id, call);
    const { task } = remote;
    if (isTerminal(task.status.state)) throw new A2AError('UNSUPPORTED_OPERATION', 'The task has ended');
    const events = remote.isOpen ? remote.subscribe() : undefined;
    yield { kind: 'task', task };
    if (events) yield* this.#read(events, call.signal);
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
    const sameId =
      clientTaskId === undefined ? undefined : this.#tasks.get(compositeKey(owner, clientTaskId));
    const known = message.taskId === undefined ? sameId : this.#find(message.taskId, call);
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
        { ...outgoing, taskId },
        { wireId, taskId, contextId, owner },
        {
          dialect,
          maxBufferedEvents: this.#options.limits?.events ?? 1000,
          timestamp: new Date(this.#clock.now()).toISOString(),
        },
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
      publish: () => {
        task.open(known && { ...outgoing, taskId });
        this.#awaitResponse(task);
        this.#tasks.set(compositeKey(owner, taskId), task);
        return this.#options.broker
          .publish(this.#requestTopic, payload, properties)
          .catch((error: unknown) => {
            const failed = A2AError.from(error);
            task.fail(failed);
            throw failed;
          });
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
      stopTimer = this.#clock.after(idle, () => {
        const { name } = this.#options;
        task.fail(new A2AError('TIMEOUT', `No message from agent "${name}" for ${idle} ms`));
      });
    };
    const entry = { task, resetTimeout };
    this.#pending.set(task.wireId, entry);
    resetTimeout();
    const unregister = (): void => {
      stopTimer();
      if (this.#pending.get(task.wireId) === entry) this.#pending.delete(task.wireId);
    };
    task.result().then(unregister, unregister);
  }

  #find(id: string, call: CallContext): RemoteTask {
    const task = this.#tasks.get(compositeKey(call.owner ?? '', id));
    if (!task) throw taskNotFound(id);
    return task;
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
