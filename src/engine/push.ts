import type { Ledger } from '../ledger/ledger.ts';
import type { Agent, Call } from '../protocol/agent.ts';
import { A2AError, invalidField, taskNotFound } from '../protocol/errors.ts';
import type { PushConfig } from '../protocol/push.ts';

/** The four push operations of an agent. */
interface PushOperations {
  create: Agent['createPushConfig'];
  get: Agent['getPushConfig'];
  list: Agent['listPushConfigs'];
  delete: Agent['deletePushConfig'];
}

interface PushOptions {
  isSupported: boolean;
  newId: () => string;
  /** How many configurations one task may have. */
  most: number;
}

/** Keeps push configurations in the ledger, beside the tasks they belong to. */
export function pushOperations(ledger: Ledger, { isSupported, newId, most }: PushOptions): PushOperations {
  const configsOf = async (taskId: string, { owner = '' }: Call): Promise<readonly PushConfig[]> => {
    if (!isSupported) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
    if (!(await ledger.open(owner, taskId))) throw taskNotFound(taskId);
    return ledger.pushConfigs(owner, taskId);
  };
  return {
    async create(config, call = {}) {
      const existing = await configsOf(config.taskId, call);
      if (!URL.canParse(config.url)) throw invalidField('url', 'must be a URL');
      // Before 1.0 a task has one configuration unless the caller names another, and it is called like the task.
      const id =
        config.id || (call.version === undefined || call.version === '1.0' ? newId() : config.taskId);
      if (existing.length >= most && !existing.some((each) => each.id === id)) {
        throw new A2AError('RESOURCE_EXHAUSTED', `A task may have ${most} push configurations`);
      }
      const stored: PushConfig = { ...config, id, version: call.version };
      await ledger.putPushConfig(call.owner ?? '', stored);
      return stored;
    },
    async get({ taskId, id }, call = {}) {
      const configs = await configsOf(taskId, call);
      const config = id === undefined ? configs[0] : configs.find((each) => each.id === id);
      if (!config)
        throw new A2AError('TASK_NOT_FOUND', 'This task has no such push configuration', {
          details: { taskId },
        });
      return config;
    },
    async list({ taskId, pageSize = 0, pageToken = '' }, call = {}) {
      const configs = await configsOf(taskId, call);
      const from = pageToken === '' ? 0 : configs.findIndex((each) => each.id === pageToken);
      if (from < 0) throw invalidField('pageToken', 'is not a token that this agent gave out');
      const to = pageSize > 0 ? from + pageSize : configs.length;
      return { configs: configs.slice(from, to), nextPageToken: configs[to]?.id ?? '' };
    },
    async delete({ taskId, id }, call = {}) {
      const configs = await configsOf(taskId, call);
      const doomed = id ?? configs[0]?.id;
      if (doomed !== undefined) await ledger.deletePushConfig(call.owner ?? '', taskId, doomed);
    },
  };
}
