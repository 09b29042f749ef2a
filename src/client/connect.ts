import type { Agent, CallContext } from '../protocol/agent.ts';
import type { AgentCard, ProtocolVersion, Transport } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { PushConfig } from '../protocol/push.ts';
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListPushConfigsRequest,
  ListTasksRequest,
  PushConfigPage,
  PushConfigRef,
  SendRequest,
  SubscribeRequest,
  TaskPage,
} from '../protocol/requests.ts';
import { isTask, type Task, limitHistory } from '../protocol/task.ts';
import { type TaskIdAlias, TaskIdAliases, applyAliasToTask } from './task-id-aliases.ts';
import { placeholderCard, AgentResolver } from './discovery/agent-resolver.ts';
import { fetchExtendedCardByPath } from './extended-card.ts';
import { AgentStreams } from './streaming/agent-streams.ts';
import { type ConnectOptions, type ClientSettings, resolveSettings } from './connect-options.ts';
import type { EndpointSelection } from './discovery/endpoint-selection.ts';
import { OperationCaller } from './discovery/operation-caller.ts';
import type { CardVerification } from './discovery/card-verification.ts';
import { AliasedSend } from './aliased-send.ts';

/** How an agent is spoken to. */
export interface ConnectionInfo {
  /** Where requests go. */
  url: string;
  version: ProtocolVersion;
  transport: Transport;
  tenant: string | undefined;
  /** Where the card was; undefined when there is none, or when it was given. */
  cardUrl: string | undefined;
  /** What is known about the signatures of the card, where the option `verifyCard` looked. */
  verification: CardVerification | undefined;
  /** False while nobody knows whether what the card says is true. */
  confirmed: boolean;
}

/** An agent somewhere else. */
export interface RemoteAgent extends Agent, AsyncDisposable {
  /** Tells which version and transport were chosen, and finds the agent first if nobody has. */
  describe(call?: CallContext): Promise<ConnectionInfo>;
  /**
   * Looks whether the agent is there: asks for its card, however young the known one is, or for a task that nobody has
   * where there is no card to fetch. Rejects when there is no answer, and keeps what is known.
   */
  check(call?: CallContext): Promise<AgentCard>;
  /** Ends everything that is open. */
  close(): Promise<void>;
}

/**
 * Connects to an agent, whatever version it speaks. Nothing happens before the first call.
 *
 * @param where - the address of the agent, of its card, or the card itself in any version.
 *
 * @example
 * ```ts
 * const agent = connect('http://localhost:4000');
 * const answer = await agent.send({ message: { messageId: '1', role: 'user', parts: [{ text: 'hi' }] } });
 * ```
 */
export function connect(where: string | URL | AgentCard | object, options: ConnectOptions = {}): RemoteAgent {
  const remote = new Remote(where, resolveSettings(options));
  // Functions of its own, so that a wrapper may spread it.
  return {
    card: (call) => remote.card(call),
    extendedCard: (call) => remote.extendedCard(call),
    send: (request, call) => remote.send(request, call),
    stream: (request, call) => remote.stream(request, call),
    getTask: (request, call) => remote.getTask(request, call),
    listTasks: (request, call) => remote.listTasks(request, call),
    cancelTask: (request, call) => remote.cancelTask(request, call),
    subscribe: (request, call) => remote.subscribe(request, call),
    createPushConfig: (config, call) => remote.createPushConfig(config, call),
    getPushConfig: (ref, call) => remote.getPushConfig(ref, call),
    listPushConfigs: (request, call) => remote.listPushConfigs(request, call),
    deletePushConfig: (ref, call) => remote.deletePushConfig(ref, call),
    describe: (call) => remote.describe(call),
    check: (call) => remote.check(call),
    close: () => remote.close(),
    [Symbol.asyncDispose]: () => remote.close(),
  };
}

class Remote implements Omit<RemoteAgent, typeof Symbol.asyncDispose> {
  readonly #speaker: OperationCaller;
  readonly #streams: AgentStreams;
  readonly #settings: ClientSettings;
  readonly #aliases = new TaskIdAliases();

  constructor(where: string | URL | object, settings: ClientSettings) {
    this.#settings = settings;
    this.#speaker = new OperationCaller(new AgentResolver(where, settings));
    this.#streams = new AgentStreams(this.#speaker, settings, this.#aliases);
  }

  async card(call: CallContext = {}): Promise<AgentCard> {
    const route = await this.#speaker.resolver.resolveFresh(call.signal);
    if (route.agent.card) return route.agent.card;
    // Without a card, only an answer proves that there is an agent at all.
    if (!route.confirmed) await this.#probe(route, call);
    return placeholderCard(route);
  }

  async describe(call: CallContext = {}): Promise<ConnectionInfo> {
    const { endpoint, agent: found, confirmed } = await this.#speaker.resolver.resolve(call.signal);
    const { url, dialect, transport, tenant } = endpoint;
    const { cardUrl, verdict } = found;
    return { url, version: dialect.version, transport, tenant, cardUrl, verification: verdict, confirmed };
  }

  async check(call: CallContext = {}): Promise<AgentCard> {
    const route = await this.#speaker.resolver.refresh(call.signal);
    if (route.agent.fetched) return route.agent.card ?? placeholderCard(route);
    await this.#probe(route, call);
    return route.agent.card ?? placeholderCard(route);
  }

  async extendedCard(call: CallContext = {}): Promise<AgentCard> {
    try {
      return await this.#speaker.call('extendedCard', {}, call);
    } catch (thrown) {
      const beside = await fetchExtendedCardByPath(this.#settings, this.#speaker.resolver.selection, {
        call,
        thrown,
      });
      if (beside) return beside;
      throw thrown;
    }
  }

  async send(request: SendRequest, call: CallContext = {}): Promise<Task | Message> {
    const route = this.#speaker.resolver.selection ?? (await this.#speaker.resolver.resolve(call.signal));
    const answer = await this.#speaker.callThrough(route, 'send', async (binding) => {
      const sending = await AliasedSend.prepare(this.#aliases, binding, request, call);
      return sending.answered(() => binding.unary('send', sending.request, call));
    });
    return isTask(answer) ? limitHistory(answer, request.configuration?.historyLength) : answer;
  }

  stream(request: SendRequest, call: CallContext = {}): AsyncIterable<StreamEvent> {
    return this.#streams.stream(request, call);
  }

  async getTask(request: GetTaskRequest, call: CallContext = {}): Promise<Task> {
    const alias = this.#aliases.find(call.owner, request.id);
    const task = await this.#speaker.call(
      'getTask',
      alias ? { ...request, id: alias.taskId } : request,
      call,
    );
    return limitHistory(alias ? applyAliasToTask(task, alias) : task, request.historyLength);
  }

  async listTasks(request: ListTasksRequest, call: CallContext = {}): Promise<TaskPage> {
    const page = await this.#speaker.call('listTasks', request, call);
    if (request.historyLength === undefined) return page;
    return { ...page, tasks: page.tasks.map((task) => limitHistory(task, request.historyLength)) };
  }

  async cancelTask(request: CancelTaskRequest, call: CallContext = {}): Promise<Task> {
    const alias = this.#aliases.find(call.owner, request.id);
    const task = await this.#speaker.call(
      'cancelTask',
      alias ? { ...request, id: alias.taskId } : request,
      call,
    );
    return alias ? applyAliasToTask(task, alias) : task;
  }

  subscribe(request: SubscribeRequest, call: CallContext = {}): AsyncIterable<StreamEvent> {
    return this.#streams.subscribe(request, call);
  }

  async createPushConfig(config: PushConfig, call: CallContext = {}): Promise<PushConfig> {
    const alias = this.#aliases.find(call.owner, config.taskId);
    return this.#pushAnswer(
      await this.#speaker.call(
        'createPushConfig',
        alias ? { ...config, taskId: alias.taskId } : config,
        call,
      ),
      alias,
    );
  }

  async getPushConfig(ref: PushConfigRef, call: CallContext = {}): Promise<PushConfig> {
    const alias = this.#aliases.find(call.owner, ref.taskId);
    const asked = alias ? { ...ref, taskId: alias.taskId } : ref;
    const config = asked.id === undefined ? await this.#firstPushConfig(asked.taskId, call) : undefined;
    return this.#pushAnswer(config ?? (await this.#speaker.call('getPushConfig', asked, call)), alias);
  }

  /** Only the oldest versions, which have no list, choose one themselves. */
  async #firstPushConfig(taskId: string, call: CallContext): Promise<PushConfig | undefined> {
    const { endpoint } = await this.#speaker.resolver.resolve(call.signal);
    if (endpoint.dialect.version === '0.1') return undefined;
    try {
      const { configs } = await this.#speaker.call('listPushConfigs', { taskId }, call);
      if (configs[0]) return configs[0];
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (error.reason === 'UNSUPPORTED_OPERATION' && endpoint.dialect.version !== '1.0') return undefined;
      throw error;
    }
    throw new A2AError('TASK_NOT_FOUND', 'The task has no push configuration', { details: { taskId } });
  }

  async listPushConfigs(request: ListPushConfigsRequest, call: CallContext = {}): Promise<PushConfigPage> {
    const alias = this.#aliases.find(call.owner, request.taskId);
    const page = await this.#speaker.call(
      'listPushConfigs',
      alias ? { ...request, taskId: alias.taskId } : request,
      call,
    );
    return alias ? { ...page, configs: page.configs.map((each) => this.#pushAnswer(each, alias)) } : page;
  }

  async deletePushConfig(ref: PushConfigRef, call: CallContext = {}): Promise<void> {
    const alias = this.#aliases.find(call.owner, ref.taskId);
    await this.#speaker.call('deletePushConfig', alias ? { ...ref, taskId: alias.taskId } : ref, call);
  }

  async close(): Promise<void> {
    this.#speaker.resolver.close();
    this.#streams.close();
    if (this.#settings.ownsHttp) await this.#settings.http.close();
  }

  #pushAnswer(config: PushConfig, alias: TaskIdAlias | undefined): PushConfig {
    return alias ? { ...config, taskId: alias.claimedId } : config;
  }

  /** Asks for a task that nobody has, which does no harm in any version. */
  async #probe(route: EndpointSelection, call: CallContext): Promise<void> {
    try {
      await this.#speaker.callThrough(route, 'getTask', (binding) =>
        binding.unary('getTask', { id: crypto.randomUUID() }, call),
      );
    } catch (thrown) {
      if (A2AError.from(thrown).reason !== 'TASK_NOT_FOUND') throw thrown;
    }
  }
}
