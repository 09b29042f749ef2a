import { compositeKey } from '../primitives/composite-key.ts';
import type { PushDelivery, TaskLog, TaskStore, UnfinishedTask } from '../store/task-store.ts';
import type { Agent, CallContext } from '../protocol/agent.ts';
import { A2AError, invalidField, taskNotFound } from '../protocol/errors.ts';
import type { PushConfig } from '../protocol/push.ts';
import type { SendRequest } from '../protocol/requests.ts';
import type { PushOptions } from '../push/push-options.ts';
import type { PushOutbox } from '../push/sending/outbox.ts';
import { whenSettled } from './runs/persisted-task.ts';
import type { AgentDefinition, AgentOptions, LogEntry } from './agent-definition.ts';
import { isUrl } from '../primitives/web/parse-url.ts';

/** Collaborators of {@link PushConfigService}. */
interface PushHost {
  readonly newId: () => string;
  report(entry: LogEntry): void;
}

/** Implements the push configuration operations and starts the delivery of notifications. */
export class PushConfigService {
  readonly #taskStore: TaskStore;
  readonly #host: PushHost;
  readonly #isSupported: boolean;
  readonly #maxConfigs: number;
  readonly #pushOptions: PushOptions;
  /** Returns the public keys of signed notifications; undefined if they are not signed. */
  readonly jwks: Agent['jwks'];
  #outboxPromise: Promise<PushOutbox> | undefined;

  constructor(taskStore: TaskStore, definition: AgentDefinition, options: AgentOptions, host: PushHost) {
    const { maxPushConfigs = 10, push = {}, metrics } = options;
    const { signer } = push;
    this.#taskStore = taskStore;
    this.#host = host;
    this.#isSupported = definition.pushNotifications ?? false;
    this.#maxConfigs = maxPushConfigs;
    this.#pushOptions = {
      tracing: options.tracing,
      ...(metrics && { onAttempt: (outcome) => metrics.countPush(outcome) }),
      ...push,
    };
    this.jwks = signer && (() => signer.jwks());
  }

  readonly create: Agent['createPushConfig'] = (config, call = {}) => this.register(config, call);

  /**
   * Stores a configuration and starts the delivery.
   *
   * @param after - cursor: the last sequence number that the client knows. By default the newest event is delivered,
   * because the task may have ended before this request.
   */
  async register(config: PushConfig, call: CallContext, after?: number): Promise<PushConfig> {
    const { owner = '', version } = call;
    const log = await this.#openTask(config.taskId, owner);
    const { sequence } = log;
    // Before 1.0 the id is optional and defaults to the task id, so that a task has one configuration.
    const isPre1 = version !== undefined && version !== '1.0';
    const id = config.id || (isPre1 ? config.taskId : this.#host.newId());
    const stored: PushConfig = { ...config, id, version };
    if (!isUrl(config.url)) throw invalidField('url', 'must be an absolute URL');
    const outbox = await this.#outbox();
    outbox.check(stored);
    const existing = await this.#taskStore.listPushConfigs(owner, config.taskId);
    if (existing.length >= this.#maxConfigs && !existing.some((each) => each.id === id))
      throw new A2AError(
        'RESOURCE_EXHAUSTED',
        `A task may have at most ${this.#maxConfigs} push configurations`,
      );
    // Events that are not persisted could still be lost.
    await whenSettled(log);
    const newest = Math.min(sequence, log.sequence);
    const state = await this.#taskStore.putPushConfig(owner, stored, after ?? newest - 1);
    await outbox.add(owner, stored, state);
    return withoutSecrets(stored);
  }

  /** Registers the configuration that a message contains, if it contains one. */
  registerFor(
    { id }: TaskLog,
    { configuration }: SendRequest,
    call: CallContext,
    after = 0,
  ): Promise<PushConfig> | undefined {
    const push = configuration?.pushConfig;
    return push && this.register({ ...push, id: push.id ?? '', taskId: id }, call, after);
  }

  /**
   * Registers the configuration of a resent message, if the process that received the message ended before it did. The later
   * messages of a task are stored after their configurations.
   */
  registerMissing(log: TaskLog, request: SendRequest, call: CallContext): Promise<void> | undefined {
    const { message, configuration } = request;
    const push = configuration?.pushConfig;
    if (!push || log.task().history?.[0]?.messageId !== message.messageId) return undefined;
    return this.#registerMissing(log, push.url, request, call);
  }

  async #registerMissing(log: TaskLog, url: string, request: SendRequest, call: CallContext): Promise<void> {
    const existing = await this.#taskStore.listPushConfigs(log.owner, log.id);
    if (!existing.some((each) => each.url === url)) await this.registerFor(log, request, call);
  }

  readonly get: Agent['getPushConfig'] = async ({ taskId, id }, { owner = '' } = {}) => {
    const configs = await this.#listConfigs(taskId, owner);
    const config = id === undefined ? configs[0] : configs.find((each) => each.id === id);
    if (config) return withoutSecrets(config);
    const details = { taskId };
    throw new A2AError('TASK_NOT_FOUND', 'Push configuration not found', { details });
  };

  readonly list: Agent['listPushConfigs'] = async (request, { owner = '' } = {}) => {
    const { taskId, pageSize = 0, pageToken = '' } = request;
    const configs = (await this.#listConfigs(taskId, owner)).map(withoutSecrets);
    const from = pageToken === '' ? 0 : configs.findIndex((each) => each.id === pageToken);
    if (from < 0) throw invalidField('pageToken', 'must be a page token returned by this agent');
    const to = pageSize > 0 ? from + pageSize : configs.length;
    return { configs: configs.slice(from, to), nextPageToken: configs[to]?.id ?? '' };
  };

  readonly delete: Agent['deletePushConfig'] = async ({ taskId, id }, { owner = '' } = {}) => {
    const configs = await this.#listConfigs(taskId, owner);
    const configId = id ?? configs[0]?.id;
    if (configId === undefined) return;
    await this.#taskStore.deletePushConfig(owner, taskId, configId);
    (await this.#outboxPromise)?.remove(owner, taskId, configId);
  };

  /**
   * Resumes the deliveries of processes that have ended.
   *
   * @param tasks - the tasks that this process has taken over; undefined: all tasks. A store that assigns webhooks to
   * processes ignores it.
   */
  async resume(tasks?: readonly UnfinishedTask[]): Promise<void> {
    if (!this.#isSupported) return;
    for (;;) {
      const isAssigned = this.#taskStore.takeOverDeliveries !== undefined;
      const deliveries = isAssigned
        ? ((await this.#taskStore.takeOverDeliveries?.()) ?? [])
        : await this.#listDeliveries(tasks);
      if (deliveries.length > 0) await (await this.#outbox()).resume(deliveries);
      if (!isAssigned || deliveries.length === 0) return;
    }
  }

  async #listDeliveries(tasks: readonly UnfinishedTask[] | undefined): Promise<readonly PushDelivery[]> {
    if (tasks === undefined) return this.#taskStore.listDeliveries();
    if (tasks.length === 0) return [];
    const keys = new Set(tasks.map(({ owner, id }) => compositeKey(owner, id)));
    return (await this.#taskStore.listDeliveries()).filter(({ owner, config }) =>
      keys.has(compositeKey(owner, config.taskId)),
    );
  }

  /** Leaves the remaining deliveries to other processes that share the store. */
  async release(): Promise<void> {
    if (this.#outboxPromise) await this.#taskStore.releaseDeliveries?.();
  }

  /** Waits briefly for current deliveries and stops. */
  async close(): Promise<void> {
    await (await this.#outboxPromise)?.close();
  }

  /** Loads the outbox on first use. */
  #outbox(): Promise<PushOutbox> {
    this.#outboxPromise ??= import('../push/sending/outbox.ts').then(
      ({ PushOutbox: Outbox }) =>
        new Outbox(this.#taskStore, this.#pushOptions, (entry) => this.#host.report(entry)),
    );
    return this.#outboxPromise;
  }

  async #openTask(taskId: string, owner: string) {
    if (!this.#isSupported) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
    const log = await this.#taskStore.open(owner, taskId);
    if (!log) throw taskNotFound(taskId);
    return log;
  }

  async #listConfigs(taskId: string, owner: string): Promise<readonly PushConfig[]> {
    await this.#openTask(taskId, owner);
    return this.#taskStore.listPushConfigs(owner, taskId);
  }
}

/** Removes credentials: they are never returned to clients. */
function withoutSecrets({ token: _secret, authentication, ...config }: PushConfig): PushConfig {
  return authentication ? { ...config, authentication: { scheme: authentication.scheme } } : config;
}
