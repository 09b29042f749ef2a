import type { Dialect, RequestOf } from '../../dialects/dialect.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import { A2AError, taskNotFound } from '../../protocol/errors.ts';
import type { GetTaskRequest, SendRequest } from '../../protocol/requests.ts';
import { isThenable, type MaybePromise } from '../../primitives/maybe-promise.ts';
import type { Task } from '../../protocol/task.ts';
import { readRequest, type MeshRpcRequest, UnreadableRequestError } from '../rpc-envelope.ts';
import type { MeshMessage, BrokerConnection } from '../brokers/broker-connection.ts';
import {
  defaultUser,
  parseRequestProperties,
  type RequestProperties,
  responseIdProperty,
} from '../request-properties.ts';
import type { MeshTopics } from '../mesh-topics.ts';
import { ResponseCache, type SaveReply } from './response-cache.ts';
import { deliveryUuid, identifySend } from './request-identity.ts';
import { topicMatches } from '../brokers/topic-pattern.ts';
import { cancelMeshTask } from './cancel-mesh-task.ts';
import { explainAgentError } from './error-mapping.ts';
import { MeshReply, type ReplyAddress, type SentReply } from './mesh-reply.ts';
import { type AgentOperation, RequestRun } from './request-run.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';
import { Semaphore } from './semaphore.ts';
import { type MeshTask, MeshTasks } from './mesh-tasks.ts';

/** A request with its decoded envelope, properties and user. */
interface MeshRequest {
  readonly message: MeshMessage;
  readonly rpc: MeshRpcRequest;
  readonly properties: RequestProperties;
  readonly user: string;
}

/** Dispatches the requests to one agent. */
export class RequestDispatcher {
  readonly #agent: Agent;
  readonly #broker: BrokerConnection;
  readonly #name: string;
  readonly #topics: MeshTopics;
  readonly #settings: MeshServerSettings;
  readonly #tasks: MeshTasks;
  readonly #responses: ResponseCache;
  readonly #semaphore: Semaphore;
  readonly #runs = new Set<RequestRun>();
  #ended: A2AError | undefined;

  constructor(
    agent: Agent,
    { broker, name, topics }: { broker: BrokerConnection; name: string; topics: MeshTopics },
    settings: MeshServerSettings,
  ) {
    this.#agent = agent;
    this.#broker = broker;
    this.#name = name;
    this.#topics = topics;
    this.#settings = settings;
    this.#tasks = new MeshTasks(settings);
    this.#responses = new ResponseCache(settings);
    this.#semaphore = new Semaphore(settings.limits.concurrency);
  }

  /** Number of requests in progress. */
  get running(): number {
    return this.#semaphore.inUse;
  }

  /** Processes one message. Resolves when all work for it is done. Never rejects. */
  async dispatch(message: MeshMessage): Promise<void> {
    const properties = this.#readProperties(message);
    let request: MeshRequest | undefined;
    try {
      const rpc = this.#readEnvelope(message);
      if (!rpc) return;
      request = { message, rpc, properties, user: properties.userId ?? defaultUser };
      await this.#execute(request);
    } catch (thrown) {
      await this.#reject(message, properties, thrown, request);
    }
  }

  /** Ends all requests in progress, and those that still arrive, with an error. */
  endAll(error: A2AError): void {
    this.#ended = error;
    for (const run of this.#runs) run.end(error);
  }

  /** Topics outside of the allowed ones count as missing: a response must not reach receivers of other systems. */
  #readProperties(message: MeshMessage): RequestProperties {
    const properties = parseRequestProperties(message.properties);
    const { replyTopics } = this.#settings;
    const allow = (topic: string | undefined): string | undefined => {
      const isAllowed =
        topic === undefined ||
        (replyTopics?.some((pattern) => topicMatches(pattern, topic)) ?? this.#topics.isReplyTopic(topic));
      if (isAllowed) return topic;
      const text = `Ignored the response topic "${topic}" of a request on ${message.topic}: it is not allowed`;
      this.#settings.log({ level: 'warn', message: text, fields: { agent: this.#name } });
      return undefined;
    };
    const { replyTo, statusTopic } = properties;
    return { ...properties, replyTo: allow(replyTo), statusTopic: allow(statusTopic) };
  }

  #readEnvelope({ payload }: MeshMessage): MeshRpcRequest | undefined {
    const limit = this.#settings.limits.payload;
    if (payload.length > limit) {
      this.#settings.onLimit?.('meshRequest');
      const text = `The request is too large: ${payload.length} of ${limit} characters`;
      throw new UnreadableRequestError('PAYLOAD_TOO_LARGE', text, null);
    }
    const rpc = readRequest(payload);
    if (!rpc) this.#settings.log({ level: 'warn', message: 'Ignored a response on the request topic' });
    return rpc;
  }

  #execute(request: MeshRequest): Promise<void> {
    const { operation } = request.rpc;
    switch (operation) {
      case 'send':
      case 'stream':
        return this.#send(request);
      case 'subscribe':
        return this.#subscribe(request);
      case 'cancelTask':
        return this.#cancel(request);
      case 'getTask':
        return this.#get(request);
      default:
        throw new A2AError('UNSUPPORTED_OPERATION', `The mesh does not support ${operation}`);
    }
  }

  async #send(request: MeshRequest): Promise<void> {
    const { user, message, properties, rpc } = request;
    let hasMessageId = true;
    const decoded = this.#decodeSend(request, () => {
      hasMessageId = false;
      return deliveryUuid(message, 'message');
    });
    const identity = identifySend(user, message, hasMessageId);
    const sent = await this.#responses.getOrRun(identity, (save) =>
      this.#sendOnce(request, decoded, { key: identity.key, save }),
    );
    if (sent === 'done') return;
    if (sent) {
      const repeated = { ...message.properties, [responseIdProperty]: sent.responseId };
      await this.#broker.publish(properties.replyTo ?? sent.topic, sent.payload, repeated);
      return;
    }
    const id = decoded.clientTaskId ?? String(rpc.id ?? decoded.message.taskId);
    await this.#respondWithTask(request, { id });
  }

  async #sendOnce(
    request: MeshRequest,
    decoded: SendRequest,
    { key, save }: { key: string; save: SaveReply | undefined },
  ): Promise<SentReply | undefined> {
    const { rpc, user, message, properties } = request;
    try {
      const authorizing = this.#authorize(request, decoded);
      if (authorizing) await authorizing;
      const id = decoded.clientTaskId ?? (rpc.id === null ? this.#settings.newId() : String(rpc.id));
      const { taskId, contextId, referenceTaskIds = [] } = decoded.message;
      const loading = this.#tasks.load([id, taskId, ...referenceTaskIds], { user, contextId });
      if (loading) await loading;
      const task = this.#tasks.route(user, id, decoded);
      const kind = rpc.operation === 'stream' ? 'stream' : 'send';
      // The agent recognizes a request that the broker delivers again after this process was killed.
      const idempotencyKey = decoded.message.messageId;
      const upstreamRequest = { ...this.#tasks.toUpstreamRequest(decoded, task), idempotencyKey };
      task.request = key;
      return await this.#run(request, task, { kind, request: upstreamRequest }, save);
    } catch (thrown) {
      return this.#reject(message, properties, thrown, request);
    }
  }

  /** Early clients send the metadata of a message beside it. */
  #decodeSend(request: MeshRequest, newMessageId: () => string): SendRequest {
    const decoded = this.#decode(request, 'send', newMessageId);
    const { message, metadata } = decoded;
    if (request.rpc.dialect !== v0_1 || !metadata) return decoded;
    return { ...decoded, message: { ...message, metadata: { ...metadata, ...message.metadata } } };
  }

  async #subscribe(request: MeshRequest): Promise<void> {
    const decoded = this.#decode(request, 'subscribe');
    await this.#authorize(request, decoded);
    const { id } = decoded;
    const task = await this.#load(request, id);
    if (task.upstreamId === undefined) throw taskNotFound(id);
    await this.#run(request, task, { kind: 'subscribe' });
  }

  async #run(
    request: MeshRequest,
    task: MeshTask,
    operation: AgentOperation,
    save?: SaveReply,
  ): Promise<SentReply | undefined> {
    const reply = this.#createReply(request, task, save);
    if (operation.kind !== 'subscribe') {
      task.address = reply.address;
      const saving = this.#tasks.save(task);
      if (saving) await saving;
    }
    const canceled = this.#tasks.takeEarlyCancel(task);
    const isCanceled = isThenable(canceled) ? await canceled : canceled;
    const run = new RequestRun({
      agent: this.#agent,
      operation,
      task,
      tasks: this.#tasks,
      reply,
      isCanceled,
      call: this.#callContext(request, task.contextId, reply.address.dialect),
      semaphore: this.#semaphore,
      settings: this.#settings,
    });
    this.#tasks.store(task);
    this.#runs.add(run);
    task.runs.add(run);
    if (this.#ended) run.end(this.#ended);
    const sent = await run.run();
    this.#runs.delete(run);
    return sent;
  }

  async #cancel(request: MeshRequest): Promise<void> {
    const decoded = this.#decode(request, 'cancelTask');
    await this.#authorize(request, decoded);
    const { id } = decoded;
    await this.#tasks.load([id]);
    if (!this.#tasks.find(id)) {
      // The broker may deliver the message that starts the task later, or to another server at the same time.
      await this.#tasks.cancelEarly(request.properties.userId, id);
      await this.#tasks.load([id]);
    }
    const task = this.#find(request, id);
    const { task: canceled, isReported } = await cancelMeshTask(task, {
      agent: this.#agent,
      tasks: this.#tasks,
      clock: this.#settings.clock,
      user: request.properties.userId,
      call: this.#callContext(request, task.contextId),
    });
    const { address } = task;
    if (request.properties.replyTo !== undefined) await this.#createReply(request, task).respond(canceled);
    else if (!isReported && address) {
      // An interrupted task already had a response; its cancellation is sent to the same topic.
      await this.#reply({ ...address, responseId: deliveryUuid(request.message, 'response') }).respond(
        canceled,
      );
    }
  }

  async #get(request: MeshRequest): Promise<void> {
    const decoded = this.#decode(request, 'getTask');
    await this.#authorize(request, decoded);
    await this.#respondWithTask(request, decoded);
  }

  #authorize({ rpc, user, message }: MeshRequest, decoded: unknown): MaybePromise<void> | undefined {
    const { operation, dialect } = rpc;
    return this.#settings.authorize?.({
      operation,
      user,
      version: dialect.version,
      request: decoded,
      bytes: Buffer.byteLength(message.payload),
    });
  }

  /** Responds with the current state of a task. */
  async #respondWithTask(request: MeshRequest, { id, historyLength }: GetTaskRequest): Promise<void> {
    const task = await this.#load(request, id);
    const { upstreamId, contextId } = task;
    if (upstreamId === undefined && task.runs.size === 0 && task.request === undefined)
      throw taskNotFound(id);
    const current: Task =
      upstreamId === undefined
        ? { id, contextId, status: { state: 'submitted' } }
        : await this.#agent.getTask({ id: upstreamId, historyLength }, this.#callContext(request, contextId));
    await this.#createReply(request, task).respond(current);
  }

  /** Decodes the params. Reports losses, and reports decoding errors as errors of the client. */
  #decode<O extends Operation>(
    { rpc, message }: MeshRequest,
    operation: O,
    newMessageId?: () => string,
  ): RequestOf[O] {
    const { dialect, params, id } = rpc;
    const losses: TranslationLoss[] = [];
    const { version } = dialect;
    try {
      return dialect.requests[operation].read(params, { lenient: false, losses, newMessageId });
    } catch (thrown) {
      const error = A2AError.from(thrown);
      const report = losses.map(({ path, kind, note }) => `${path} ${kind}: ${note}`).join('; ');
      const text = `Invalid A2A ${version} request on ${message.topic}: ${error.message}`;
      this.#settings.log({ level: 'warn', message: text, error, fields: { operation, losses: report } });
      const reason = error.reason === 'INVALID_PARAMS' ? 'INVALID_REQUEST' : error.reason;
      throw new A2AError(reason, error.message, { violations: error.violations, cause: thrown });
    } finally {
      if (losses.length > 0)
        this.#settings.onLoss?.(losses, { operation, version, taskId: String(id), side: 'request' });
    }
  }

  async #load(request: MeshRequest, id: string): Promise<MeshTask> {
    await this.#tasks.load([id]);
    return this.#find(request, id);
  }

  #find({ user, properties }: MeshRequest, id: string): MeshTask {
    const task = this.#tasks.find(id);
    // A cancel request may omit the user id, but it must not name another user.
    if (!task || (properties.userId !== undefined && task.user !== user)) throw taskNotFound(id);
    return task;
  }

  #createReply({ rpc, properties, message }: MeshRequest, task: MeshTask, save?: SaveReply): MeshReply {
    const { id, operation, ambiguous, dialect } = rpc;
    const { replyTo, statusTopic, clientId } = properties;
    const isSend = operation === 'send' || operation === 'stream';
    const address = {
      id: id ?? task.id,
      dialect: (ambiguous ? task.address?.dialect : undefined) ?? dialect,
      operation,
      ids: { taskId: task.id, contextId: task.contextId, agent: this.#name },
      replyTo: replyTo ?? (isSend ? this.#defaultReplyTopic(clientId) : undefined),
      statusTopic,
      responseId: deliveryUuid(message, 'response'),
      properties: message.properties,
    };
    return this.#reply(address, save);
  }

  #reply(address: ReplyAddress, save?: SaveReply): MeshReply {
    return new MeshReply(this.#broker, address, this.#settings, save);
  }

  #defaultReplyTopic(clientId: string | undefined): string | undefined {
    try {
      return clientId === undefined ? undefined : this.#topics.clientResponse(clientId);
    } catch {
      return undefined;
    }
  }

  #callContext(
    { properties, rpc, user }: MeshRequest,
    session: string,
    { version }: Dialect = rpc.dialect,
  ): CallContext {
    const { clientId, extensions } = properties;
    // Artifact middleware stores files by session.
    const principal = { id: user, claims: { session, clientId, agent: this.#name } };
    return { owner: user, principal, version, extensions };
  }

  /** Responds with an error to a request that was not processed, if a response is possible. */
  async #reject(
    message: MeshMessage,
    properties: RequestProperties,
    thrown: unknown,
    request?: MeshRequest,
  ): Promise<SentReply | undefined> {
    const unreadable = thrown instanceof UnreadableRequestError ? thrown : undefined;
    const rpc = request?.rpc;
    const id = rpc?.id ?? unreadable?.id ?? null;
    const taskId = id === null ? '' : String(id);
    const agent = this.#name;
    const error =
      unreadable ?? explainAgentError(thrown, { agent, taskId, isStream: false, hasStarted: false });
    const fields = { topic: message.topic };
    this.#settings.log({ level: 'warn', message: error.message, taskId, error: thrown, fields });
    const { id: named } = (rpc?.ambiguous ? rpc.params : {}) as { id?: unknown };
    const task = typeof named === 'string' ? this.#tasks.find(named) : undefined;
    return this.#reply({
      id,
      dialect: unreadable?.dialect ?? task?.address?.dialect ?? rpc?.dialect ?? v0_3,
      operation: rpc?.operation ?? 'send',
      ids: { taskId, contextId: '', agent },
      replyTo: properties.replyTo,
      statusTopic: undefined,
      responseId: deliveryUuid(message, 'response'),
      properties: message.properties,
    }).fail(error);
  }
}
