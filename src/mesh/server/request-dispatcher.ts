import type { Dialect, RequestOf } from '../../dialects/dialect.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import type { Agent, CallContext, Operation } from '../../protocol/agent.ts';
import { A2AError, taskNotFound } from '../../protocol/errors.ts';
import type { GetTaskRequest, SendRequest } from '../../protocol/requests.ts';
import { isTerminal, type Task } from '../../protocol/task.ts';
import { readRequest, type MeshRpcRequest, UnreadableRequestError } from '../rpc-envelope.ts';
import type { MeshMessage, BrokerConnection } from '../brokers/broker-connection.ts';
import { defaultUser, parseRequestProperties, type RequestProperties } from '../request-properties.ts';
import type { MeshTopics } from '../mesh-topics.ts';
import { TaskRouter, type MeshRequestContext } from './task-router.ts';
import { ResponseCache } from './response-cache.ts';
import { explainAgentError } from './error-mapping.ts';
import { MeshReply, type SentReply } from './mesh-reply.ts';
import { type AgentOperation, RequestRun } from './request-run.ts';
import type { MeshServerSettings } from './mesh-server-options.ts';
import { Semaphore } from './semaphore.ts';
import { type MeshTask, MeshTasks } from './mesh-tasks.ts';

/** Takes the requests of one agent off the mesh. */
export class RequestDispatcher {
  readonly #agent: Agent;
  readonly #link: BrokerConnection;
  readonly #name: string;
  readonly #topics: MeshTopics;
  readonly #settings: MeshServerSettings;
  readonly #tasks: MeshTasks;
  readonly #admission: TaskRouter;
  readonly #answers: ResponseCache;
  readonly #slots: Semaphore;
  readonly #runs = new Set<RequestRun>();

  constructor(
    agent: Agent,
    at: { link: BrokerConnection; name: string; topics: MeshTopics },
    settings: MeshServerSettings,
  ) {
    this.#agent = agent;
    this.#link = at.link;
    this.#name = at.name;
    this.#topics = at.topics;
    this.#settings = settings;
    this.#tasks = new MeshTasks(settings);
    this.#admission = new TaskRouter(this.#tasks, at.name, settings);
    this.#answers = new ResponseCache(settings);
    this.#slots = new Semaphore(settings.limits.concurrency);
  }

  /** How many requests are worked on now. */
  get running(): number {
    return this.#slots.taken;
  }

  /** Takes one message. Resolves when all work for it is done, and never rejects. */
  async take(delivery: MeshMessage): Promise<void> {
    const properties = parseRequestProperties(delivery.properties);
    try {
      await this.#receive(delivery, properties);
    } catch (thrown) {
      await this.#refuse(delivery, properties, thrown);
    }
  }

  /** Answers everything that is still open with an error. */
  endAll(error: A2AError): void {
    for (const run of this.#runs) run.end(error);
  }

  async #receive(delivery: MeshMessage, properties: RequestProperties): Promise<void> {
    const { payload } = delivery;
    if (payload.length > this.#settings.limits.payload) {
      const most = `${payload.length} of ${this.#settings.limits.payload} characters`;
      throw new UnreadableRequestError('PAYLOAD_TOO_LARGE', `The request is too large: ${most}`, null);
    }
    const requested = readRequest(payload);
    if (!requested) {
      this.#settings.log({ level: 'warn', message: 'An answer came where requests are expected' });
      return;
    }
    const visit = { delivery, requested, properties, user: properties.userId ?? defaultUser };
    switch (requested.operation) {
      case 'send':
      case 'stream':
        return this.#send(visit);
      case 'subscribe':
        return this.#subscribe(visit);
      case 'cancelTask':
        return this.#cancel(visit);
      case 'getTask':
        return this.#get(visit);
      default:
        throw new A2AError('UNSUPPORTED_OPERATION', `The mesh has no ${requested.operation}`);
    }
  }

  async #send(visit: MeshRequestContext): Promise<void> {
    const { user, delivery, properties } = visit;
    const sent = await this.#answers.once(user, delivery.payload, () => this.#sendOnce(visit));
    if (sent === 'done') return;
    if (sent) {
      await this.#link.publish(properties.replyTo ?? sent.topic, sent.payload, delivery.properties);
      return;
    }
    const { clientTaskId, message } = this.#read(visit, 'send');
    const id = clientTaskId ?? String(visit.requested.id ?? message.taskId);
    await this.#tell(visit, { id });
  }

  async #sendOnce(visit: MeshRequestContext): Promise<SentReply | undefined> {
    try {
      const request = this.#readSend(visit);
      const task = this.#admission.taskOf(visit, request);
      const { requested } = visit;
      const kind = requested.operation === 'stream' ? 'stream' : 'send';
      return await this.#run(visit, task, { kind, request: this.#admission.downstream(request, task) });
    } catch (thrown) {
      return this.#refuse(visit.delivery, visit.properties, thrown);
    }
  }

  /** In the first years, what is said about a message stood beside it. */
  #readSend(visit: MeshRequestContext): SendRequest {
    const request = this.#read(visit, 'send');
    const { message, metadata } = request;
    if (visit.requested.dialect !== v0_1 || !metadata) return request;
    return { ...request, message: { ...message, metadata: { ...metadata, ...message.metadata } } };
  }

  async #subscribe(visit: MeshRequestContext): Promise<void> {
    const { id } = this.#read(visit, 'subscribe');
    const task = this.#known(visit, id);
    if (task.downstreamId === undefined) throw taskNotFound(id);
    await this.#run(visit, task, { kind: 'subscribe' });
  }

  /** Works on a request when its turn has come. */
  #run(visit: MeshRequestContext, task: MeshTask, question: AgentOperation): Promise<SentReply | undefined> {
    const reply = this.#reply(visit, task);
    if (question.kind !== 'subscribe') task.address = reply.address;
    const run = new RequestRun({
      agent: this.#agent,
      question,
      task,
      tasks: this.#tasks,
      reply,
      call: this.#call(visit, task.contextId, reply.address.dialect),
      settings: this.#settings,
    });
    this.#tasks.keep(task);
    this.#runs.add(run);
    task.runs.add(run);
    return new Promise((resolve) => {
      let leave = (): void => {};
      const begin = (): void => {
        // A tick later, so that a slot that is free at once can be given back too.
        void Promise.resolve()
          .then(() => run.work())
          .then((sent) => {
            leave();
            this.#runs.delete(run);
            resolve(sent);
          });
      };
      leave = this.#slots.take(begin);
      run.onEarlyEnd(() => {
        leave();
        begin();
      });
    });
  }

  async #cancel(visit: MeshRequestContext): Promise<void> {
    const { id } = this.#read(visit, 'cancelTask');
    const task = this.#known(visit, id);
    const [run, ...others] = task.runs;
    if (!run) {
      await this.#cancelResting(visit, task);
      return;
    }
    const { task: canceled, isTold } = await run.cancel();
    for (const other of others) await other.cancel();
    if (!isTold) await this.#tellCanceled(visit, task, canceled);
    else if (visit.properties.replyTo !== undefined) await this.#reply(visit, task).answer(canceled);
  }

  async #cancelResting(visit: MeshRequestContext, task: MeshTask): Promise<void> {
    const { downstreamId: id, state } = task;
    if (id === undefined || (state && isTerminal(state))) throw new A2AError('TASK_NOT_CANCELABLE');
    const canceled = await this.#agent.cancelTask({ id }, this.#call(visit, task.contextId));
    await this.#tellCanceled(visit, task, canceled);
  }

  /** A task that waits for words was answered already; this is its end, so it goes where that answer went. */
  async #tellCanceled(visit: MeshRequestContext, task: MeshTask, canceled: Task): Promise<void> {
    this.#tasks.rest(task, canceled.status.state, false);
    const reply =
      visit.properties.replyTo === undefined
        ? new MeshReply(this.#link, task.address, this.#settings)
        : this.#reply(visit, task);
    await reply.answer(canceled);
  }

  #get(visit: MeshRequestContext): Promise<void> {
    return this.#tell(visit, this.#read(visit, 'getTask'));
  }

  /** Answers with a task as it stands. */
  async #tell(visit: MeshRequestContext, { id, historyLength }: GetTaskRequest): Promise<void> {
    const task = this.#known(visit, id);
    const { downstreamId } = task;
    if (downstreamId === undefined && task.runs.size === 0) throw taskNotFound(id);
    const call = this.#call(visit, task.contextId);
    const found: Task =
      downstreamId === undefined
        ? { id, contextId: task.contextId, status: { state: 'submitted' } }
        : await this.#agent.getTask({ id: downstreamId, historyLength }, call);
    await this.#reply(visit, task).answer(found);
  }

  /** Reads what is asked; what is lost is told, and what cannot be read is the fault of the caller. */
  #read<O extends Operation>({ requested, delivery }: MeshRequestContext, operation: O): RequestOf[O] {
    const { dialect, params, id } = requested;
    const losses: TranslationLoss[] = [];
    const version = dialect.version;
    try {
      return dialect.requests[operation].read(params, { lenient: false, losses, requestId: id });
    } catch (thrown) {
      const error = A2AError.from(thrown);
      const report = losses.map(({ path, kind, note }) => `${path} ${kind}: ${note}`).join('; ');
      const message = `A request of A2A ${version} to ${delivery.topic} cannot be read: ${error.message}`;
      this.#settings.log({ level: 'warn', message, error, fields: { operation, losses: report } });
      const reason = error.reason === 'INVALID_PARAMS' ? 'INVALID_REQUEST' : error.reason;
      throw new A2AError(reason, error.message, { violations: error.violations, cause: thrown });
    } finally {
      if (losses.length > 0) {
        const context = { operation, version, taskId: String(id), side: 'request' as const };
        this.#settings.onLoss?.(losses, context);
      }
    }
  }

  #known({ user, properties }: MeshRequestContext, id: string): MeshTask {
    const task = this.#tasks.find(id);
    // A cancel need not say whose it is; one that says so must say the truth.
    if (!task || (properties.userId !== undefined && task.user !== user)) throw taskNotFound(id);
    return task;
  }

  #reply({ requested, properties, delivery }: MeshRequestContext, task: MeshTask): MeshReply {
    const { id, operation, ambiguous } = requested;
    const { clientId } = properties;
    const isSend = operation === 'send' || operation === 'stream';
    return new MeshReply(
      this.#link,
      {
        id: id ?? task.id,
        dialect: ambiguous ? task.address.dialect : requested.dialect,
        operation,
        names: { taskId: task.id, contextId: task.contextId, agent: this.#name },
        replyTo: properties.replyTo ?? (isSend ? this.#fallback(clientId) : undefined),
        statusTopic: properties.statusTopic,
        properties: delivery.properties,
      },
      this.#settings,
    );
  }

  /** Where an answer goes when nobody said. */
  #fallback(clientId: string | undefined): string | undefined {
    if (clientId === undefined) return undefined;
    try {
      return this.#topics.clientResponse(clientId);
    } catch {
      return undefined;
    }
  }

  #call(visit: MeshRequestContext, session: string, dialect: Dialect = visit.requested.dialect): CallContext {
    const { clientId, extensions, userId } = visit.properties;
    const owner = userId ?? defaultUser;
    return {
      owner,
      // Whoever keeps files for the caller needs to know of which conversation they are.
      principal: { id: owner, claims: { session, clientId, agent: this.#name } },
      version: dialect.version,
      extensions,
    };
  }

  /** Answers what could not be taken, where an answer is possible. */
  async #refuse(
    delivery: MeshMessage,
    properties: RequestProperties,
    thrown: unknown,
  ): Promise<SentReply | undefined> {
    const read = thrown instanceof UnreadableRequestError ? undefined : readRequest(delivery.payload);
    const id = read?.id ?? (thrown instanceof UnreadableRequestError ? thrown.id : null);
    const taskId = id === null ? '' : String(id);
    const scene = { agent: this.#name, taskId, isStream: false, hasBegun: false };
    const error = thrown instanceof UnreadableRequestError ? thrown : explainAgentError(thrown, scene);
    const { message } = error;
    this.#settings.log({ level: 'warn', message, taskId, error: thrown, fields: { topic: delivery.topic } });
    const reply = new MeshReply(
      this.#link,
      {
        id,
        dialect: thrown instanceof UnreadableRequestError ? thrown.dialect : this.#dialectOf(read),
        operation: read?.operation ?? 'send',
        names: { taskId, contextId: '', agent: this.#name },
        replyTo: properties.replyTo,
        statusTopic: undefined,
        properties: delivery.properties,
      },
      this.#settings,
    );
    return reply.fail(error);
  }

  #dialectOf(read: MeshRpcRequest | undefined): Dialect {
    const params = read?.params as { id?: unknown } | undefined;
    const task = read?.ambiguous && typeof params?.id === 'string' ? this.#tasks.find(params.id) : undefined;
    if (task) return task.address.dialect;
    if (!read) throw new A2AError('INTERNAL_ERROR');
    return read.dialect;
  }
}
