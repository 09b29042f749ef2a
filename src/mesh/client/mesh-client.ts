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
import { ExpiringMap } from '../expiring-map.ts';
import type { MeshMessage, Subscription } from '../brokers/broker-connection.ts';
import { defaultUser, buildRequestProperties } from '../request-properties.ts';
import { RemoteTask } from './remote-task.ts';
import type { EventQueue } from './event-queue.ts';
import type { MeshAgentOptions, MeshAgentTimeouts } from './mesh-agent-options.ts';
import { type MeshReceiver, MeshTopics } from '../mesh-topics.ts';

/** What is open once somebody called. */
interface Opened {
  readonly inbox: Subscription;
  readonly directory: MeshDirectory | undefined;
}

/** The requests to one agent, and what comes back. */
export class MeshClient {
  readonly #options: MeshAgentOptions;
  readonly #topics: MeshTopics;
  readonly #topic: string;
  readonly #self: string;
  readonly #kind: MeshReceiver;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #timeouts: MeshAgentTimeouts;
  readonly #conversations: ExpiringMap<RemoteTask>;
  #opening: Promise<Opened> | undefined;
  /** Those that are waited for, by the id that the mesh knows. */
  readonly #open = new Map<string, { conversation: RemoteTask; listen: () => void }>();

  constructor(options: MeshAgentOptions) {
    this.#options = options;
    this.#topics = new MeshTopics(options.namespace);
    this.#topic = this.#topics.request(options.name);
    this.#newId = options.newId ?? (() => crypto.randomUUID());
    this.#kind = options.peer ? 'agent' : 'gateway';
    this.#self = options.peer?.name ?? options.gatewayId ?? `dragoman-${this.#newId()}`;
    this.#topics.inbox(this.#kind, this.#self);
    this.#clock = options.clock ?? systemClock;
    this.#timeouts = { discovery: 25_000, idle: 300_000, cancel: 10_000, ...options.timeouts };
    this.#conversations = new ExpiringMap({
      size: options.limits?.tasks ?? 1000,
      age: options.limits?.age ?? 3_600_000,
      clock: this.#clock,
      isNeeded: ({ isOpen }) => isOpen,
    });
  }

  async ready(): Promise<void> {
    await this.#opened();
  }

  async card(call: CallContext = {}): Promise<AgentCard> {
    return (await this.#found(call)).card;
  }

  async send(request: SendRequest, call: CallContext = {}): Promise<Task | Message> {
    const { conversation, publish } = await this.#prepare('send', request, call);
    const ended = conversation.ended();
    ended.catch(() => {});
    await publish();
    if (request.configuration?.returnImmediately) return conversation.task;
    const answer = await this.#unlessLeft(ended, call.signal);
    return isTask(answer) ? limitHistory(answer, request.configuration?.historyLength) : answer;
  }

  async *stream(request: SendRequest, call: CallContext = {}): AsyncGenerator<StreamEvent> {
    const { conversation, publish } = await this.#prepare('stream', request, call);
    const follower = conversation.follow();
    await publish();
    yield* this.#read(follower, call.signal);
  }

  async getTask({ id, historyLength }: GetTaskRequest, call: CallContext = {}): Promise<Task> {
    return limitHistory(this.#known(id, call).task, historyLength);
  }

  async cancelTask({ id }: CancelTaskRequest, call: CallContext = {}): Promise<Task> {
    const conversation = this.#known(id, call);
    if (isTerminal(conversation.task.status.state)) throw new A2AError('TASK_NOT_CANCELABLE');
    const { dialect } = await this.#found(call);
    if (!conversation.isOpen) {
      conversation.begin();
      this.#watch(conversation);
    }
    const ended = conversation.ended().then(
      () => {},
      () => {},
    );
    let stop = (): void => {};
    const tooLate = new Promise<void>((resolve) => {
      stop = this.#clock.after(this.#timeouts.cancel, resolve);
    });
    const params = dialect.requests.cancelTask.write({ id: conversation.wireId });
    const method = rpcMethodName(dialect, 'cancelTask') ?? 'tasks/cancel';
    await this.#options.broker.publish(
      this.#topic,
      writeRequest(this.#newId(), method, params),
      buildRequestProperties({
        clientId: this.#self,
        userId: this.#user(call),
        timestamp: this.#clock.now(),
      }),
    );
    await this.#unlessLeft(Promise.race([ended, tooLate]), call.signal);
    stop();
    return conversation.task;
  }

  async *subscribe({ id }: SubscribeRequest, call: CallContext = {}): AsyncGenerator<StreamEvent> {
    const conversation = this.#known(id, call);
    const { task } = conversation;
    if (isTerminal(task.status.state)) throw new A2AError('UNSUPPORTED_OPERATION', 'The task is over');
    const follower = conversation.isOpen ? conversation.follow() : undefined;
    yield { kind: 'task', task };
    if (follower) yield* this.#read(follower, call.signal);
  }

  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.inbox.close();
    await opened?.directory?.close();
    const error = new A2AError('UNAVAILABLE', 'The connection to the mesh was closed');
    for (const conversation of this.#conversations.values()) conversation.fail(error);
  }

  /** Listens for answers, once, and to announcements where nobody else does. */
  #opened(): Promise<Opened> {
    const { broker: link, namespace, directory, card, log } = this.#options;
    this.#opening ??= (async () => {
      const inbox = await link.subscribe(this.#topics.inbox(this.#kind, this.#self), (delivery) =>
        this.#take(delivery),
      );
      if (directory || card) return { inbox, directory: undefined };
      return { inbox, directory: await meshDirectory({ link, namespace, clock: this.#clock, log }) };
    })();
    this.#opening.catch(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #found(call: CallContext): Promise<{ card: AgentCard; dialect: Dialect }> {
    const { card, version, name, directory } = this.#options;
    const opened = await this.#opened();
    if (card) return { card, dialect: dialectForVersion(version) };
    const known = directory ?? opened.directory;
    if (!known) throw new A2AError('INTERNAL_ERROR');
    const peer = await known.wait(name, this.#timeouts.discovery, call.signal);
    return { card: peer.card, dialect: dialectForVersion(version ?? peer.version) };
  }

  async #prepare(
    asked: 'send' | 'stream',
    request: SendRequest,
    call: CallContext,
  ): Promise<{ conversation: RemoteTask; publish: () => Promise<void> }> {
    const { card, dialect } = await this.#found(call);
    const owner = call.owner ?? '';
    const { message, clientTaskId } = request;
    const claimed =
      clientTaskId === undefined ? undefined : this.#conversations.get(keyOf(owner, clientTaskId));
    const known = message.taskId === undefined ? claimed : this.#known(message.taskId, call);
    if (known && isTerminal(known.task.status.state)) {
      throw new A2AError('UNSUPPORTED_OPERATION', 'The task is over; begin a new one', {
        details: { taskId: known.taskId },
      });
    }
    const wireId = known?.wireId ?? this.#newId();
    const taskId = known?.taskId ?? clientTaskId ?? wireId;
    const contextId = known?.contextId ?? message.contextId ?? this.#newId();
    const said: Message = { ...message, contextId };
    if (known) said.taskId = wireId;
    const conversation =
      known ??
      new RemoteTask(
        { ...said, taskId },
        { wireId, taskId, contextId, owner },
        {
          dialect,
          buffer: this.#options.limits?.events ?? 1000,
          timestamp: new Date(this.#clock.now()).toISOString(),
        },
      );
    const operation = asked === 'stream' && card.capabilities.streaming === true ? 'stream' : 'send';
    const method = rpcMethodName(dialect, operation) ?? operation;
    const wanted = { ...request, message: said, clientTaskId: dialect === v0_1 ? wireId : undefined };
    const params = dialect.requests[operation].write(this.#waiting(wanted));
    const payload = writeRequest(dialect === v0_1 ? this.#newId() : wireId, method, params);
    const properties = this.#properties(wireId, asked === 'stream', call);
    return {
      conversation,
      publish: () => {
        conversation.begin(known && { ...said, taskId });
        this.#watch(conversation);
        this.#conversations.set(keyOf(owner, taskId), conversation);
        return this.#options.broker.publish(this.#topic, payload, properties).catch((error: unknown) => {
          const failed = A2AError.from(error);
          conversation.fail(failed);
          throw failed;
        });
      },
    };
  }

  /** The one answer on the mesh is the last word, so nobody may ask for it early. */
  #waiting(request: SendRequest): SendRequest {
    if (!request.configuration?.returnImmediately) return request;
    const { returnImmediately: _here, ...configuration } = request.configuration;
    return { ...request, configuration };
  }

  #properties(taskId: string, wantsUpdates: boolean, call: CallContext) {
    const { peer, userConfig } = this.#options;
    return buildRequestProperties({
      replyTo: this.#topics.response(this.#kind, this.#self, taskId),
      // Agents that delegate always want signs of life.
      statusTopic: wantsUpdates || peer ? this.#topics.status(this.#kind, this.#self, taskId) : undefined,
      clientId: this.#self,
      userId: this.#user(call),
      userConfig,
      callDepth: peer?.callDepth,
      delegatingAgent: peer?.name,
      extensions: call.extensions,
      timestamp: this.#clock.now(),
    });
  }

  #user(call: CallContext): string {
    return call.principal?.id ?? (call.owner || this.#options.user || defaultUser);
  }

  #take({ topic, payload }: MeshMessage): void {
    const [place, , wireId = ''] = topic.split('/').slice(-3);
    const open = this.#open.get(wireId);
    const body = parseJsonOrUndefined(payload);
    if (!open || typeof body !== 'object' || body === null) return;
    open.listen();
    try {
      open.conversation.take(body as WireObject, place === 'status' ? 'status' : 'response');
    } catch (thrown) {
      const error = A2AError.from(thrown);
      const message = `Agent "${this.#options.name}" said something that makes no sense: ${error.message}`;
      this.#options.log?.({ level: 'warn', message, taskId: open.conversation.taskId, error });
      if (place !== 'status') {
        open.conversation.fail(new A2AError('INVALID_AGENT_RESPONSE', message, { cause: thrown }));
      }
    }
  }

  /** Listens until the answer is there, or until nothing came for too long. */
  #watch(conversation: RemoteTask): void {
    const { idle } = this.#timeouts;
    let stop = (): void => {};
    const listen = (): void => {
      stop();
      if (idle <= 0) return;
      stop = this.#clock.after(idle, () => {
        const { name } = this.#options;
        conversation.fail(new A2AError('TIMEOUT', `Nothing came from agent "${name}" for ${idle} ms`));
      });
    };
    const entry = { conversation, listen };
    this.#open.set(conversation.wireId, entry);
    listen();
    const over = (): void => {
      stop();
      if (this.#open.get(conversation.wireId) === entry) this.#open.delete(conversation.wireId);
    };
    conversation.ended().then(over, over);
  }

  #known(id: string, call: CallContext): RemoteTask {
    const conversation = this.#conversations.get(keyOf(call.owner ?? '', id));
    if (!conversation) throw taskNotFound(id);
    return conversation;
  }

  async *#read(follower: EventQueue, signal: AbortSignal | undefined): AsyncGenerator<StreamEvent> {
    const leave = (): void => follower.end(new A2AError('CANCELED', undefined, { cause: signal?.reason }));
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave);
    try {
      yield* follower;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Waits, unless the caller leaves. */
  #unlessLeft<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (!signal) return promise;
    return new Promise((resolve, reject) => {
      const leave = (): void => reject(new A2AError('CANCELED', undefined, { cause: signal.reason }));
      if (signal.aborted) leave();
      signal.addEventListener('abort', leave, { once: true });
      promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }
}

function keyOf(owner: string, taskId: string): string {
  return JSON.stringify([owner, taskId]);
}
