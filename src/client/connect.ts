import type { Agent, CallContext } from '../protocol/agent.ts';
import type { AgentCard, ProtocolVersion, Transport } from '../protocol/card.ts';
import { bindAgent } from '../protocol/composition/bind-agent.ts';
import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import { failingStream } from '../protocol/composition/failing-stream.ts';
import type { Message } from '../protocol/message.ts';
import type { PushConfig } from '../protocol/push.ts';
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListPushConfigsRequest,
  ListTasksRequest,
  PushConfigPage,
  PushConfigRef,
  SubscribeRequest,
  TaskPage,
} from '../protocol/requests.ts';
import { isTask, type Task, limitHistory } from '../protocol/task.ts';
import { type SendInput, toSendRequest } from '../protocol/user-message.ts';
import { type TaskIdAlias, TaskIdAliases, applyAliasToTask } from './task-id-aliases.ts';
import { freezeJson } from '../primitives/json.ts';
import { placeholderCard, AgentResolver } from './discovery/agent-resolver.ts';
import { fetchExtendedCardByPath } from './extended-card.ts';
import { AgentStreams } from './streaming/agent-streams.ts';
import { type ConnectOptions, type ClientSettings, resolveSettings } from './connect-options.ts';
import type { EndpointSelection } from './discovery/endpoint-selection.ts';
import { OperationCaller } from './discovery/operation-caller.ts';
import type { CardVerification } from './discovery/card-verification.ts';
import { AliasedSend } from './aliased-send.ts';
import { withIdempotencyKey } from './transports/service-parameters.ts';

/** Endpoint and card of a connection. */
export interface ConnectionInfo {
  /** URL of requests. */
  url: string;
  version: ProtocolVersion;
  transport: Transport;
  tenant: string | undefined;
  /**
   * URL of the card, or of the entry of a catalog that contains it; undefined if there is none or it was passed to
   * `connect()`.
   */
  cardUrl: string | undefined;
  /** Result of the option `verifyCard`; undefined if it is not set. */
  verification: CardVerification | undefined;
  /** True once the agent has responded at this endpoint. */
  confirmed: boolean;
}

/** A remote agent. */
export interface RemoteAgent extends Agent, AsyncDisposable {
  /** Returns the selected endpoint. Discovers the agent first if necessary. */
  describe(call?: CallContext): Promise<ConnectionInfo>;
  /**
   * Checks whether the agent responds: fetches its card, or requests an unknown task if it has no card URL. Rejects if
   * there is no response; the known card is retained then.
   */
  check(call?: CallContext): Promise<AgentCard>;
  /** Aborts all requests and streams, and closes the connections. */
  close(): Promise<void>;
}

/**
 * Connects to a remote agent of any supported version. The first call discovers it.
 *
 * @param target - URL of the agent, of its card, or of a host or catalog with one agent (or several, with the name in the
 * fragment: `https://agents.example.com#weather`), or a card of any version.
 *
 * @example
 * ```ts
 * const agent = connect('http://localhost:4000');
 * const result = await agent.send('hi');
 * ```
 */
export function connect(
  target: string | URL | AgentCard | object,
  options: ConnectOptions = {},
): RemoteAgent {
  return bindAgent<RemoteAgent>(new ConnectedAgent(target, resolveSettings(options)));
}

class ConnectedAgent implements RemoteAgent {
  readonly #caller: OperationCaller;
  readonly #streams: AgentStreams;
  readonly #settings: ClientSettings;
  readonly #aliases: TaskIdAliases;

  constructor(target: string | URL | object, settings: ClientSettings) {
    this.#settings = settings;
    this.#caller = new OperationCaller(new AgentResolver(target, settings));
    this.#aliases = new TaskIdAliases(undefined, settings.taskIdAliases);
    this.#streams = new AgentStreams(this.#caller, settings, this.#aliases);
  }

  async card(call: CallContext = {}): Promise<AgentCard> {
    const selection = await this.#caller.resolver.resolveFresh(call.signal);
    if (selection.agent.card) return freezeJson(selection.agent.card);
    // Without a card, only a response proves that there is an agent.
    if (!selection.confirmed) await this.#probe(selection, call);
    return placeholderCard(selection);
  }

  async describe(call: CallContext = {}): Promise<ConnectionInfo> {
    const { endpoint, agent, confirmed } = await this.#caller.resolver.resolve(call.signal);
    const { url, dialect, transport, tenant } = endpoint;
    const { cardUrl, verification } = agent;
    return { url, version: dialect.version, transport, tenant, cardUrl, verification, confirmed };
  }

  async check(call: CallContext = {}): Promise<AgentCard> {
    const selection = await this.#caller.resolver.refresh(call.signal);
    if (!selection.agent.fetchedCard) await this.#probe(selection, call);
    return freezeJson(selection.agent.card) ?? placeholderCard(selection);
  }

  async extendedCard(call: CallContext = {}): Promise<AgentCard> {
    try {
      return await this.#caller.call('extendedCard', {}, call);
    } catch (thrown) {
      const card = await fetchExtendedCardByPath(this.#settings, this.#caller.resolver.selection, {
        call,
        thrown,
      });
      if (card) return card;
      throw thrown;
    }
  }

  async send(input: SendInput, call: CallContext = {}): Promise<Task | Message> {
    const selection = this.#caller.resolver.selection ?? (await this.#caller.resolver.resolve(call.signal));
    const request = withIdempotencyKey(toSendRequest(input), selection.agent.card);
    const result = await this.#caller.callThrough(selection, 'send', async (binding) => {
      const sending = await AliasedSend.prepare(this.#aliases, binding, request, call);
      return sending.send(() => binding.unary('send', sending.request, call));
    });
    return isTask(result) ? limitHistory(result, request.configuration?.historyLength) : result;
  }

  stream(input: SendInput, call: CallContext = {}): AsyncIterable<StreamEvent> {
    try {
      return this.#streams.stream(toSendRequest(input), call);
    } catch (error) {
      return failingStream(error);
    }
  }

  async getTask(request: GetTaskRequest, call: CallContext = {}): Promise<Task> {
    const alias = await this.#aliases.find(call.owner, request.id);
    const task = await this.#caller.call('getTask', alias ? { ...request, id: alias.taskId } : request, call);
    return limitHistory(alias ? applyAliasToTask(task, alias) : task, request.historyLength);
  }

  async listTasks(request: ListTasksRequest, call: CallContext = {}): Promise<TaskPage> {
    const page = await this.#caller.call('listTasks', request, call);
    const tasks = page.tasks.map(async (task) => {
      const alias = await this.#aliases.findByTaskId(call.owner, task.id);
      return limitHistory(alias ? applyAliasToTask(task, alias) : task, request.historyLength);
    });
    return { ...page, tasks: await Promise.all(tasks) };
  }

  async cancelTask(request: CancelTaskRequest, call: CallContext = {}): Promise<Task> {
    const alias = await this.#aliases.find(call.owner, request.id);
    const task = await this.#caller.call(
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
    const alias = await this.#aliases.find(call.owner, config.taskId);
    return this.#aliasPushConfig(
      await this.#caller.call('createPushConfig', alias ? { ...config, taskId: alias.taskId } : config, call),
      alias,
    );
  }

  async getPushConfig(ref: PushConfigRef, call: CallContext = {}): Promise<PushConfig> {
    const alias = await this.#aliases.find(call.owner, ref.taskId);
    const aliased = alias ? { ...ref, taskId: alias.taskId } : ref;
    const config = aliased.id === undefined ? await this.#firstPushConfig(aliased.taskId, call) : undefined;
    return this.#aliasPushConfig(config ?? (await this.#caller.call('getPushConfig', aliased, call)), alias);
  }

  /** 0.1 has no list operation; its agents choose the configuration themselves. */
  async #firstPushConfig(taskId: string, call: CallContext): Promise<PushConfig | undefined> {
    const { endpoint } = await this.#caller.resolver.resolve(call.signal);
    if (endpoint.dialect.version === '0.1') return undefined;
    try {
      const { configs } = await this.#caller.call('listPushConfigs', { taskId }, call);
      if (configs[0]) return configs[0];
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (error.reason === 'UNSUPPORTED_OPERATION' && endpoint.dialect.version !== '1.0') return undefined;
      throw error;
    }
    throw new A2AError('TASK_NOT_FOUND', 'The task has no push configuration', { details: { taskId } });
  }

  async listPushConfigs(request: ListPushConfigsRequest, call: CallContext = {}): Promise<PushConfigPage> {
    const alias = await this.#aliases.find(call.owner, request.taskId);
    const page = await this.#caller.call(
      'listPushConfigs',
      alias ? { ...request, taskId: alias.taskId } : request,
      call,
    );
    return alias
      ? { ...page, configs: page.configs.map((each) => this.#aliasPushConfig(each, alias)) }
      : page;
  }

  async deletePushConfig(ref: PushConfigRef, call: CallContext = {}): Promise<void> {
    const alias = await this.#aliases.find(call.owner, ref.taskId);
    await this.#caller.call('deletePushConfig', alias ? { ...ref, taskId: alias.taskId } : ref, call);
  }

  async close(): Promise<void> {
    this.#caller.resolver.close();
    this.#streams.close();
    if (this.#settings.ownsHttp) await this.#settings.http.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #aliasPushConfig(config: PushConfig, alias: TaskIdAlias | undefined): PushConfig {
    return alias ? { ...config, taskId: alias.clientTaskId } : config;
  }

  /** Requests an unknown task, which has no side effect in any version. */
  async #probe(selection: EndpointSelection, call: CallContext): Promise<void> {
    try {
      await this.#caller.callThrough(selection, 'getTask', (binding) =>
        binding.unary('getTask', { id: crypto.randomUUID() }, call),
      );
    } catch (thrown) {
      if (A2AError.from(thrown).reason !== 'TASK_NOT_FOUND') throw thrown;
    }
  }
}
