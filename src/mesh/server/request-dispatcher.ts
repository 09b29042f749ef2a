import type { Dialect, RequestOf } from '../../dialects/dialect.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import { A2AError, taskNotFound } from '../../protocol/errors.ts';
import type { GetTaskRequest, SendRequest } from '../../protocol/requests.ts';
import { isTerminal, type Task } from '../../protocol/task.ts';
import { readRequest, type MeshRpcRequest, UnreadableRequestError } from '../rpc-envelope.ts';
import type { MeshMessage, BrokerConnection } from '../brokers/broker-connection.ts';
import {
  defaultUser,
  parseRequestProperties,
  type RequestProperties,
  responseIdProperty,
} from '../request-properties.ts';
import type { MeshTopics } from '../mesh-topics.ts';
import { TaskRouter, type MeshRequestContext } from './task-router.ts';
import { ResponseCache } from './response-cache.ts';
import { deliveryUuid, identifySend } from './request-identity.ts';
import { topicMatches } from '../brokers/topic-pattern.ts';
import { explainAgentError } from './error-mapping.ts';
import { MeshReply, type SentReply } from './mesh-reply.ts';
import { type AgentOperation, RequestRun } from './request-run.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';
import { Semaphore } from './semaphore.ts';
import { type MeshTask, MeshTasks } from './mesh-tasks.ts';

/** Dispatches the requests to one agent. */
export class RequestDispatcher {
  readonly #agent: Agent;
  readonly #broker: BrokerConnection;
  readonly #name: string;
  readonly #topics: MeshTopics;
  readonly #settings: MeshServerSettings;
  readonly #tasks: MeshTasks;
  readonly #router: TaskRouter;
  readonly #responses: ResponseCache;
  readonly #semaphore: Semaphore;
  readonly #runs = new Set<RequestRun>();

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
    this.#router = new TaskRouter(this.#tasks, name, settings);
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
    try {
      await this.#receive(message, properties);
    } catch (thrown) {
      await this.#reject(message, properties, thrown);
    }
  }

  /** Ends all requests in progress with an error. */
  endAll(error: A2AError): void {
    for (const run of this.#runs) run.end(error);
  }

  /** Topics outside of the allowed ones count as missing: a response must not reach receivers of other systems. */
  #readProperties(message: MeshMessage): RequestProperties {
    const properties = parseRequestProperties(message.properties);
    const allow = (topic: string | undefined): string | undefined => {
      if (topic === undefined || this.#isReplyTopic(topic)) return topic;
      const text = `Ignored the response topic "${topic}" of a request on ${message.topic}: it is not allowed`;
      this.#settings.log({ level: 'warn', message: text, fields: { agent: this.#name } });
      return undefined;
    };
    return {
      ...properties,
      replyTo: allow(properties.replyTo),
      statusTopic: allow(properties.statusTopic),
    };
  }

  #isReplyTopic(topic: string): boolean {
    const { replyTopics } = this.#settings;
    return replyTopics
      ? replyTopics.some((pattern) => topicMatches(pattern, topic))
      : this.#topics.isReplyTopic(topic);
  }

  async #receive(message: MeshMessage, properties: RequestProperties): Promise<void> {
    const { payload } = message;
    if (payload.length > this.#settings.limits.payload) {
      const size = `${payload.length} of ${this.#settings.limits.payload} characters`;
      throw new UnreadableRequestError('PAYLOAD_TOO_LARGE', `The request is too large: ${size}`, null);
    }
    const rpc = readRequest(payload);
    if (!rpc) {
      this.#settings.log({ level: 'warn', message: 'Ignored a response on the request topic' });
      return;
    }
    const context = { message, rpc, properties, user: properties.userId ?? defaultUser };
    switch (rpc.operation) {
      case 'send':
      case 'stream':
        return this.#send(context);
      case 'subscribe':
        return this.#subscribe(context);
      case 'cancelTask':
        return this.#cancel(context);
      case 'getTask':
        return this.#get(context);
      default:
        throw new A2AError('UNSUPPORTED_OPERATION', `The mesh does not support ${rpc.operation}`);
    }
  }

  async #send(context: MeshRequestContext): Promise<void> {
    const { user, message, properties } = context;
    let hasMessageId = true;
    const request = this.#decodeSend(context, () => {
      hasMessageId = false;
      return deliveryUuid(message, 'message');
    });
    const sent = await this.#responses.getOrRun(identifySend(user, message, hasMessageId), () =>
      this.#sendOnce(context, request),
    );
    if (sent === 'done') return;
    if (sent) {
      await this.#broker.publish(properties.replyTo ?? sent.topic, sent.payload, {
        ...message.properties,
        [responseIdProperty]: sent.responseId,
      });
      return;
    }
    const id = request.clientTaskId ?? String(context.rpc.id ?? request.message.taskId);
    await this.#respondWithTask(context, { id });
  }

  async #sendOnce(context: MeshRequestContext, request: SendRequest): Promise<SentReply | undefined> {
    try {
      const task = this.#router.route(context, request);
      const kind = context.rpc.operation === 'stream' ? 'stream' : 'send';
      return await this.#run(context, task, { kind, request: this.#router.toUpstreamRequest(request, task) });
    } catch (thrown) {
      return this.#reject(context.message, context.properties, thrown);
    }
  }

  /** Early clients send the metadata of a message beside it. */
  #decodeSend(context: MeshRequestContext, newMessageId: () => string): SendRequest {
    const request = this.#decode(context, 'send', newMessageId);
    const { message, metadata } = request;
    if (context.rpc.dialect !== v0_1 || !metadata) return request;
    return { ...request, message: { ...message, metadata: { ...metadata, ...message.metadata } } };
  }

  async #subscribe(context: MeshRequestContext): Promise<void> {
    const { id } = this.#decode(context, 'subscribe');
    const task = this.#find(context, id);
    if (task.upstreamId === undefined) throw taskNotFound(id);
    await this.#run(context, task, { kind: 'subscribe' });
  }

  /** Runs a request when the semaphore admits it. */
  #run(
    context: MeshRequestContext,
    task: MeshTask,
    operation: AgentOperation,
  ): Promise<SentReply | undefined> {
    const reply = this.#createReply(context, task);
    if (operation.kind !== 'subscribe') task.address = reply.address;
    const run = new RequestRun({
      agent: this.#agent,
      operation,
      task,
      tasks: this.#tasks,
      reply,
      isCanceled: this.#tasks.takeEarlyCancel(task),
      call: this.#callContext(context, task.contextId, reply.address.dialect),
      settings: this.#settings,
    });
    this.#tasks.store(task);
    this.#runs.add(run);
    task.runs.add(run);
    return new Promise((resolve) => {
      let release = (): void => {};
      const start = (): void => {
        // Deferred, because `release` is not assigned yet if the semaphore admits the run immediately.
        void Promise.resolve()
          .then(() => run.run())
          .then((sent) => {
            release();
            this.#runs.delete(run);
            resolve(sent);
          });
      };
      release = this.#semaphore.acquire(start);
      run.onEarlyEnd(() => {
        release();
        start();
      });
    });
  }

  async #cancel(context: MeshRequestContext): Promise<void> {
    const { id } = this.#decode(context, 'cancelTask');
    // The broker may deliver the message that starts the task later.
    if (!this.#tasks.find(id)) this.#tasks.cancelEarly(context.properties.userId, id);
    const task = this.#find(context, id);
    const [run, ...others] = task.runs;
    if (!run) {
      await this.#cancelIdle(context, task);
      return;
    }
    const { task: canceled, isReported } = await run.cancel();
    for (const other of others) await other.cancel();
    if (!isReported) await this.#respondCanceled(context, task, canceled);
    else if (context.properties.replyTo !== undefined)
      await this.#createReply(context, task).respond(canceled);
  }

  async #cancelIdle(context: MeshRequestContext, task: MeshTask): Promise<void> {
    const { upstreamId: id, state } = task;
    if (id === undefined || (state && isTerminal(state))) throw new A2AError('TASK_NOT_CANCELABLE');
    const canceled = await this.#agent.cancelTask({ id }, this.#callContext(context, task.contextId));
    await this.#respondCanceled(context, task, canceled);
  }

  /** An interrupted task already had a response; its cancellation is sent to the same topic. */
  async #respondCanceled(context: MeshRequestContext, task: MeshTask, canceled: Task): Promise<void> {
    this.#tasks.setState(task, canceled.status.state, false);
    const reply =
      context.properties.replyTo === undefined
        ? new MeshReply(
            this.#broker,
            { ...task.address, responseId: deliveryUuid(context.message, 'response') },
            this.#settings,
          )
        : this.#createReply(context, task);
    await reply.respond(canceled);
  }

  #get(context: MeshRequestContext): Promise<void> {
    return this.#respondWithTask(context, this.#decode(context, 'getTask'));
  }

  /** Responds with the current state of a task. */
  async #respondWithTask(context: MeshRequestContext, { id, historyLength }: GetTaskRequest): Promise<void> {
    const task = this.#find(context, id);
    const { upstreamId: downstreamId } = task;
    if (downstreamId === undefined && task.runs.size === 0) throw taskNotFound(id);
    const call = this.#callContext(context, task.contextId);
    const current: Task =
      downstreamId === undefined
        ? { id, contextId: task.contextId, status: { state: 'submitted' } }
        : await this.#agent.getTask({ id: downstreamId, historyLength }, call);
    await this.#createReply(context, task).respond(current);
  }

  /** Decodes the params. Reports losses, and reports decoding errors as errors of the client. */
  #decode<O extends Operation>(
    { rpc, message }: MeshRequestContext,
    operation: O,
    newMessageId?: () => string,
  ): RequestOf[O] {
    const { dialect, params, id } = rpc;
    const losses: TranslationLoss[] = [];
    const version = dialect.version;
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
      if (losses.length > 0) {
        const context = { operation, version, taskId: String(id), side: 'request' as const };
        this.#settings.onLoss?.(losses, context);
      }
    }
  }

  #find({ user, properties }: MeshRequestContext, id: string): MeshTask {
    const task = this.#tasks.find(id);
    // A cancel request may omit the user id, but it must not name another user.
    if (!task || (properties.userId !== undefined && task.user !== user)) throw taskNotFound(id);
    return task;
  }

  #createReply({ rpc, properties, message }: MeshRequestContext, task: MeshTask): MeshReply {
    const { id, operation, ambiguous } = rpc;
    const { clientId } = properties;
    const isSend = operation === 'send' || operation === 'stream';
    return new MeshReply(
      this.#broker,
      {
        id: id ?? task.id,
        dialect: ambiguous ? task.address.dialect : rpc.dialect,
        operation,
        ids: { taskId: task.id, contextId: task.contextId, agent: this.#name },
        replyTo: properties.replyTo ?? (isSend ? this.#defaultReplyTopic(clientId) : undefined),
        statusTopic: properties.statusTopic,
        responseId: deliveryUuid(message, 'response'),
        properties: message.properties,
      },
      this.#settings,
    );
  }

  #defaultReplyTopic(clientId: string | undefined): string | undefined {
    if (clientId === undefined) return undefined;
    try {
      return this.#topics.clientResponse(clientId);
    } catch {
      return undefined;
    }
  }

  #callContext(
    context: MeshRequestContext,
    session: string,
    dialect: Dialect = context.rpc.dialect,
  ): CallContext {
    const { clientId, extensions, userId } = context.properties;
    const owner = userId ?? defaultUser;
    return {
      owner,
      // Artifact middleware stores files by session.
      principal: { id: owner, claims: { session, clientId, agent: this.#name } },
      version: dialect.version,
      extensions,
    };
  }

  /** Responds with an error to a request that was not processed, if a response is possible. */
  async #reject(
    message: MeshMessage,
    properties: RequestProperties,
    thrown: unknown,
  ): Promise<SentReply | undefined> {
    const rpc = thrown instanceof UnreadableRequestError ? undefined : readRequest(message.payload);
    const id = rpc?.id ?? (thrown instanceof UnreadableRequestError ? thrown.id : null);
    const taskId = id === null ? '' : String(id);
    const errorContext = { agent: this.#name, taskId, isStream: false, hasStarted: false };
    const error = thrown instanceof UnreadableRequestError ? thrown : explainAgentError(thrown, errorContext);
    this.#settings.log({
      level: 'warn',
      message: error.message,
      taskId,
      error: thrown,
      fields: { topic: message.topic },
    });
    const reply = new MeshReply(
      this.#broker,
      {
        id,
        dialect: thrown instanceof UnreadableRequestError ? thrown.dialect : this.#responseDialect(rpc),
        operation: rpc?.operation ?? 'send',
        ids: { taskId, contextId: '', agent: this.#name },
        replyTo: properties.replyTo,
        statusTopic: undefined,
        responseId: deliveryUuid(message, 'response'),
        properties: message.properties,
      },
      this.#settings,
    );
    return reply.fail(error);
  }

  #responseDialect(rpc: MeshRpcRequest | undefined): Dialect {
    const params = rpc?.params as { id?: unknown } | undefined;
    const task = rpc?.ambiguous && typeof params?.id === 'string' ? this.#tasks.find(params.id) : undefined;
    if (task) return task.address.dialect;
    if (!rpc) throw new A2AError('INTERNAL_ERROR');
    return rpc.dialect;
  }
}
