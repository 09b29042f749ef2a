import type { TaskStore } from '../store/task-store.ts';
import type { Agent, CallContext } from '../protocol/agent.ts';
import { A2AError, invalidField, taskNotFound } from '../protocol/errors.ts';
import type { PushConfig } from '../protocol/push.ts';
import type { PushOptions } from '../push/push-options.ts';
import type { PushOutbox } from '../push/sending/outbox.ts';
import type { AgentDefinition, AgentOptions, LogEntry } from './agent-definition.ts';

/** What the desk needs of the engine. */
interface PushHost {
  readonly newId: () => string;
  report(entry: LogEntry): void;
}

/** Keeps push configurations in the ledger, beside the tasks they belong to, and has the news sent to them. */
export class PushConfigService {
  readonly #ledger: TaskStore;
  readonly #host: PushHost;
  readonly #isSupported: boolean;
  /** How many configurations one task may have. */
  readonly #most: number;
  readonly #sending: PushOptions;
  /** Shows the key that notifications are signed with, if they are. */
  readonly jwks: Agent['jwks'];
  #opening: Promise<PushOutbox> | undefined;

  constructor(ledger: TaskStore, definition: AgentDefinition, options: AgentOptions, host: PushHost) {
    const { maxPushConfigs = 10, push = {}, metrics } = options;
    const { signer } = push;
    this.#ledger = ledger;
    this.#host = host;
    this.#isSupported = definition.pushNotifications ?? false;
    this.#most = maxPushConfigs;
    this.#sending = metrics ? { onAttempt: (outcome) => metrics.countPush(outcome), ...push } : push;
    this.jwks = signer && (() => signer.jwks());
  }

  readonly create: Agent['createPushConfig'] = (config, call = {}) => this.register(config, call);

  /**
   * Keeps a configuration and begins to send.
   *
   * @param after - the last sequence number that is no news to the caller. Without one it hears of the newest event at
   * once, for a task may end between a request and the next.
   */
  async register(config: PushConfig, call: CallContext, after?: number): Promise<PushConfig> {
    const { owner = '', version } = call;
    const log = await this.#openTask(config.taskId, owner);
    const { sequence } = log;
    // Before 1.0 a task has one configuration unless the caller names another, and it is called like the task.
    const isOlder = version !== undefined && version !== '1.0';
    const id = config.id || (isOlder ? config.taskId : this.#host.newId());
    const stored: PushConfig = { ...config, id, version };
    if (!URL.canParse(config.url)) throw invalidField('url', 'must be a URL');
    const outbox = await this.#outbox();
    outbox.check(stored);
    const existing = await this.#ledger.listPushConfigs(owner, config.taskId);
    if (existing.length >= this.#most && !existing.some((each) => each.id === id))
      throw new A2AError('RESOURCE_EXHAUSTED', `A task may have ${this.#most} push configurations`);
    // What is not stored yet may never have happened.
    await log.whenPersisted();
    const state = await this.#ledger.putPushConfig(owner, stored, after ?? sequence - 1);
    await outbox.add(owner, stored, state);
    return withoutSecrets(stored);
  }

  readonly get: Agent['getPushConfig'] = async ({ taskId, id }, { owner = '' } = {}) => {
    const configs = await this.#configsOf(taskId, owner);
    const config = id === undefined ? configs[0] : configs.find((each) => each.id === id);
    if (config) return withoutSecrets(config);
    const details = { taskId };
    throw new A2AError('TASK_NOT_FOUND', 'This task has no such push configuration', { details });
  };

  readonly list: Agent['listPushConfigs'] = async (request, { owner = '' } = {}) => {
    const { taskId, pageSize = 0, pageToken = '' } = request;
    const configs = (await this.#configsOf(taskId, owner)).map(withoutSecrets);
    const from = pageToken === '' ? 0 : configs.findIndex((each) => each.id === pageToken);
    if (from < 0) throw invalidField('pageToken', 'is not a token that this agent gave out');
    const to = pageSize > 0 ? from + pageSize : configs.length;
    return { configs: configs.slice(from, to), nextPageToken: configs[to]?.id ?? '' };
  };

  readonly delete: Agent['deletePushConfig'] = async ({ taskId, id }, { owner = '' } = {}) => {
    const configs = await this.#configsOf(taskId, owner);
    const doomed = id ?? configs[0]?.id;
    if (doomed === undefined) return;
    await this.#ledger.deletePushConfig(owner, taskId, doomed);
    (await this.#opening)?.remove(owner, taskId, doomed);
  };

  /** Takes up the deliveries that the process before this one left. */
  async resume(): Promise<void> {
    if (!this.#isSupported) return;
    const deliveries = await this.#ledger.listDeliveries();
    if (deliveries.length > 0) await (await this.#outbox()).resume(deliveries);
  }

  /** Waits a little for what is on its way and stops sending. */
  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }

  /** Sending costs nothing until somebody wants it. */
  #outbox(): Promise<PushOutbox> {
    this.#opening ??= import('../push/sending/outbox.ts').then(
      ({ PushOutbox: Outbox }) =>
        new Outbox(this.#ledger, this.#sending, (entry) => this.#host.report(entry)),
    );
    return this.#opening;
  }

  async #openTask(taskId: string, owner: string) {
    if (!this.#isSupported) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
    const log = await this.#ledger.open(owner, taskId);
    if (!log) throw taskNotFound(taskId);
    return log;
  }

  async #configsOf(taskId: string, owner: string): Promise<readonly PushConfig[]> {
    await this.#openTask(taskId, owner);
    return this.#ledger.listPushConfigs(owner, taskId);
  }
}

/** Whoever registered a webhook knows its secrets; nobody else needs them. */
function withoutSecrets({ token: _secret, authentication, ...config }: PushConfig): PushConfig {
  return authentication ? { ...config, authentication: { scheme: authentication.scheme } } : config;
}
