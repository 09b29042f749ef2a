import type { Agent } from '../../../protocol/agent.ts';
import { A2AError, type ErrorReason } from '../../../protocol/errors.ts';
import { mutateResult, isMutableJson, type MutableJson } from '../harness/mutations.ts';
import {
  type MutantAgent,
  defineMutants,
  type WireMutation,
  type WireNotification,
  type WireRequest,
} from '../harness/mutant-agent.ts';
import { replaceError, overrideAgent } from '../harness/override-agent.ts';

/** A broken agent in one line: the rule, how, what, and its wire. */
function wired(breaks: string, how: string, what: string, wire: () => WireMutation): MutantAgent {
  return { id: `${breaks}:${how}`, violates: breaks, description: what, versions: ['1.0'], wire };
}

/** A broken agent in one line: the rule, how, what, and what it does otherwise. */
function does(
  breaks: string,
  how: string,
  what: string,
  others: (agent: Agent) => Partial<Agent>,
): MutantAgent {
  return {
    id: `${breaks}:${how}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    agent: (agent) => overrideAgent(agent, others(agent)),
  };
}

/** A broken agent in one line: the rule, how, what, and what it does to notifications. */
function notifies(
  breaks: string,
  how: string,
  what: string,
  bend: () => (notification: WireNotification) => 'lost' | 'blind' | undefined | void,
): MutantAgent {
  return wired(breaks, how, what, () => ({ notification: bend() }));
}

/** Changes what a caller asks with, before the agent gets it. */
function reword(request: WireRequest, bend: (params: MutableJson) => void): void {
  if (!isMutableJson(request.json)) return;
  const json = structuredClone(request.json);
  bend(isMutableJson(json.params) ? json.params : json);
  request.json = json;
}

const create = /^CreateTaskPush|POST .*pushNotificationConfigs/;
const get = /^GetTaskPush|GET .*pushNotificationConfigs\/\{id\}/;
const list = /^ListTaskPush|GET .*pushNotificationConfigs$/;

/** Tells a caller something else than the truth about configurations. */
const told = (operations: RegExp, bend: (config: MutableJson) => unknown) => () =>
  mutateResult(operations, bend);
const stateIn = (json: unknown): string => {
  const text = JSON.stringify(json ?? {});
  return /"state":"(\w+)"/.exec(text)?.[1] ?? '';
};
const isOver = (json: unknown): boolean => /COMPLETED|CANCELED|FAILED|REJECTED/.test(stateIn(json));
const wrong = (reason: ErrorReason) => async (): Promise<never> => {
  throw new A2AError(reason);
};

/** Agents whose notifications are wrong in one thing. */
export const pushMutants = defineMutants([
  does('push.ssrf', 'takes-all', 'Webhooks at any address are taken.', (agent) => ({
    createPushConfig: (config, call) =>
      agent
        .createPushConfig(config, call)
        .catch(() => ({ ...config, id: config.id === '' ? crypto.randomUUID() : config.id })),
  })),
  wired(
    'push.create',
    'no-id',
    'A new configuration has no id.',
    told(create, (config) => {
      delete config.id;
    }),
  ),
  wired(
    'push.create',
    'other-id',
    'The id of a new configuration leads nowhere.',
    told(create, (config) => {
      config.id = 'other';
    }),
  ),
  wired(
    'push.create',
    'other-url',
    'A new configuration has another url.',
    told(create, (config) => {
      config.url = `${String(config.url)}/`;
    }),
  ),
  wired(
    'push.create',
    'nothing',
    'A new configuration is answered with nothing.',
    told(create, () => ({})),
  ),
  does('push.create', 'other-task', 'A new configuration names another task.', (agent) => ({
    createPushConfig: async (config, call) => ({
      ...(await agent.createPushConfig(config, call)),
      taskId: 'another',
    }),
  })),
  does('push.create-unknown', 'taken', 'A webhook for no task is taken.', (agent) => ({
    createPushConfig: (config, call) =>
      agent.createPushConfig(config, call).catch(() => ({ ...config, id: 'any' })),
  })),
  does('push.create-unknown', 'invalid', 'A webhook for no task is called invalid.', (agent) => ({
    createPushConfig: (config, call) =>
      replaceError(agent.createPushConfig(config, call), 'TASK_NOT_FOUND', 'INVALID_PARAMS'),
  })),
  wired('push.url', 'taken', 'A webhook without an address is taken.', () => ({
    request(request) {
      if (!create.test(request.operation)) return;
      reword(request, (params) => {
        if (typeof params.url !== 'string' || !URL.canParse(params.url)) params.url = 'http://127.0.0.1:9/';
      });
    },
  })),
  wired(
    'push.get',
    'no-url',
    'A configuration has no url.',
    told(get, (config) => {
      delete config.url;
    }),
  ),
  wired(
    'push.get',
    'no-authentication',
    'A configuration loses how to log in.',
    told(get, (config) => {
      delete config.authentication;
    }),
  ),
  wired(
    'push.get',
    'nested',
    'A configuration is nested as in 0.3.',
    told(get, ({ taskId, ...config }) => ({
      taskId,
      pushNotificationConfig: config,
    })),
  ),
  does('push.get', 'last', 'Whichever configuration is asked for, the last one comes.', (agent) => ({
    getPushConfig: async (ref, call) => {
      await agent.getPushConfig(ref, call);
      const { configs } = await agent.listPushConfigs({ taskId: ref.taskId }, call);
      return configs.at(-1) ?? agent.getPushConfig(ref, call);
    },
  })),
  does('push.get-unknown', 'invalid', 'A configuration that is not there is called invalid.', (agent) => ({
    getPushConfig: (ref, call) =>
      replaceError(agent.getPushConfig(ref, call), 'TASK_NOT_FOUND', 'INVALID_PARAMS'),
  })),
  does('push.get-unknown', 'invented', 'A configuration that is not there is invented.', (agent) => ({
    getPushConfig: (ref, call) =>
      agent.getPushConfig(ref, call).catch(() => ({ id: 'any', ...ref, url: 'https://example.com/' })),
  })),
  does('push.list', 'newest', 'Only the newest configuration is listed.', (agent) => ({
    listPushConfigs: async (request, call) => {
      const page = await agent.listPushConfigs(request, call);
      return { ...page, configs: page.configs.slice(-1) };
    },
  })),
  wired(
    'push.list',
    'renamed',
    'The list has another name.',
    told(list, ({ configs, ...rest }) => ({
      ...rest,
      pushNotificationConfigs: configs,
    })),
  ),
  does('push.list', 'twice', 'Every configuration is listed twice.', (agent) => ({
    listPushConfigs: async (request, call) => {
      const page = await agent.listPushConfigs(request, call);
      return { ...page, configs: page.configs.flatMap((each) => [each, each]) };
    },
  })),
  does('push.list-empty', 'refused', 'A task without webhooks is refused.', (agent) => ({
    listPushConfigs: async (request, call) => {
      const page = await agent.listPushConfigs(request, call);
      if (page.configs.length === 0) throw new A2AError('TASK_NOT_FOUND');
      return page;
    },
  })),
  does('push.list-unknown', 'empty', 'A task that does not exist has no webhooks.', (agent) => ({
    listPushConfigs: (request, call) =>
      agent.listPushConfigs(request, call).catch(() => ({ configs: [], nextPageToken: '' })),
  })),
  does('push.list-pages', 'cut', 'A page ends the list.', (agent) => ({
    listPushConfigs: async (request, call) => {
      const { pageSize, ...rest } = request;
      const page = await agent.listPushConfigs(rest, call);
      return { configs: page.configs.slice(0, pageSize ?? 100), nextPageToken: '' };
    },
  })),
  does('push.list-pages', 'endless', 'Every page has another one after it.', (agent) => ({
    listPushConfigs: async (request, call) => ({
      ...(await agent.listPushConfigs({ taskId: request.taskId }, call)),
      ...(request.pageSize === undefined ? {} : { nextPageToken: 'more' }),
    }),
  })),
  does('push.delete', 'kept', 'Nothing is ever deleted.', () => ({ deletePushConfig: async () => {} })),
  does('push.delete', 'all', 'With one configuration all are deleted.', (agent) => ({
    async deletePushConfig({ taskId, id }, call) {
      await agent.deletePushConfig({ taskId, id }, call);
      const { configs } = await agent.listPushConfigs({ taskId }, call);
      for (const each of configs) await agent.deletePushConfig({ taskId, id: each.id }, call);
    },
  })),
  does('push.delete-twice', 'refused', 'The second deletion finds nothing.', (agent) => ({
    async deletePushConfig(ref, call) {
      await agent.getPushConfig(ref, call);
      await agent.deletePushConfig(ref, call);
    },
  })),
  does('push.delete-unknown', 'done', 'A webhook of no task is deleted.', (agent) => ({
    deletePushConfig: (ref, call) => agent.deletePushConfig(ref, call).catch(() => {}),
  })),
  wired('push.everywhere', 'apart', 'Each binding has webhooks of its own.', () => {
    const made = new Map<string, boolean>();
    return {
      response(answer, { operation, path }) {
        const isRpc = path === '/';
        const [, task = ''] = /"taskId":"([\w-]+)"/.exec(JSON.stringify(answer.json ?? '')) ?? [];
        if (create.test(operation)) made.set(task, isRpc);
        if (get.test(operation) && made.has(task) && made.get(task) !== isRpc) answer.json = {};
      },
    };
  }),
  ...(['createPushConfig', 'getPushConfig', 'listPushConfigs', 'deletePushConfig'] as const).map(
    (operation): MutantAgent => ({
      ...does(
        'push.unsupported',
        operation,
        `Without push notifications, ${operation} says the wrong thing.`,
        () => ({
          [operation]: wrong('UNSUPPORTED_OPERATION'),
        }),
      ),
      definition: { pushNotifications: false },
    }),
  ),
  {
    ...wired('push.unsupported', 'hidden', 'Push notifications work, and the card does not say so.', () => ({
      response({ json }, { path }) {
        if (path.includes('/.well-known/') && isMutableJson(json) && isMutableJson(json.capabilities))
          delete json.capabilities.pushNotifications;
      },
    })),
  },
  notifies('push.delivers', 'never', 'No notification is ever sent.', () => () => 'lost'),
  notifies(
    'push.delivers',
    'no-end',
    'The end of a task is not told.',
    () =>
      ({ json }) =>
        isOver(json) ? 'lost' : undefined,
  ),
  notifies('push.delivers', 'first', 'Only the first notification is sent.', () => {
    const seen = new Set<string>();
    return ({ url }) => {
      if (seen.has(url)) return 'lost';
      seen.add(url);
      return undefined;
    };
  }),
  wired('push.inline', 'ignored', 'A webhook in a message is ignored.', () => ({
    request: (request) =>
      reword(request, ({ configuration }) => {
        if (isMutableJson(configuration)) delete configuration.taskPushNotificationConfig;
      }),
  })),
  notifies('push.lives', 'turn', 'Webhooks are forgotten when a task waits.', () => () => 'lost'),
  notifies('push.credentials', 'none', 'Credentials are not sent.', () => ({ headers }) => {
    delete headers.authorization;
  }),
  notifies('push.credentials', 'bearer', 'Every scheme is Bearer.', () => ({ headers }) => {
    if (headers.authorization) headers.authorization = headers.authorization.replace(/^\w+/, 'Bearer');
  }),
  notifies('push.credentials', 'bare', 'Credentials are sent without their scheme.', () => ({ headers }) => {
    if (headers.authorization) headers.authorization = headers.authorization.replace(/^\w+ /, '');
  }),
  notifies('push.credentials', 'header', 'Credentials are in a header of its own.', () => ({ headers }) => {
    headers['x-token'] = headers.authorization;
    delete headers.authorization;
  }),
  notifies('push.two', 'one', 'Only the first webhook of a task is told.', () => {
    const first = new Map<string, string>();
    return ({ url, json }) => {
      const [, task = ''] = /"(?:taskId|id)":"([\w-]+)"/.exec(JSON.stringify(json)) ?? [];
      if (!first.has(task)) first.set(task, url);
      return first.get(task) === url ? undefined : 'lost';
    };
  }),
  {
    ...does('push.delete-stops', 'goes-on', 'Deleted webhooks are told everything.', (agent) => {
      const deleted = new Set<string>();
      const keyOf = ({ taskId, id = '' }: { taskId: string; id?: string }): string => `${taskId} ${id}`;
      return {
        async deletePushConfig(ref) {
          deleted.add(keyOf(ref));
        },
        async getPushConfig(ref, call) {
          if (deleted.has(keyOf(ref))) throw new A2AError('TASK_NOT_FOUND');
          return agent.getPushConfig(ref, call);
        },
      };
    }),
  },
  notifies('push.retries', 'never', 'What failed is not sent again.', () => () => 'blind'),
  wired('push.hangs', 'waits', 'A send waits for its webhook.', () => ({
    response(_answer, { json }) {
      if (/taskPushNotificationConfig/.test(JSON.stringify(json ?? '')) && isMutableJson(_answer.json))
        _answer.json = {};
    },
  })),
  notifies('push.post', 'put', 'Notifications are put.', () => (notification) => {
    notification.method = 'PUT';
  }),
  notifies('push.media-type', 'form', 'Notifications are said to be a form.', () => ({ headers }) => {
    headers['content-type'] = 'application/x-www-form-urlencoded';
  }),
  notifies(
    'push.payload',
    'bare-task',
    'Notifications hold a bare task, as in 0.3.',
    () => (notification) => {
      if (isMutableJson(notification.json))
        notification.json = { id: 'x', ...(Object.values(notification.json)[0] as object) };
    },
  ),
  notifies(
    'push.payload',
    'envelope',
    'Notifications are in an envelope of JSON-RPC.',
    () => (notification) => {
      notification.json = { jsonrpc: '2.0', id: 1, result: notification.json };
    },
  ),
  notifies('push.payload', 'list', 'Notifications hold a list.', () => (notification) => {
    notification.json = [notification.json];
  }),
  notifies('push.payload', 'two', 'Notifications hold two events.', () => (notification) => {
    if (isMutableJson(notification.json))
      notification.json.message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] };
  }),
  notifies('push.task', 'other', 'Notifications are of another task.', () => (notification) => {
    if (!isMutableJson(notification.json)) return;
    const { statusUpdate } = notification.json;
    if (isMutableJson(statusUpdate)) statusUpdate.taskId = crypto.randomUUID();
  }),
  notifies('model.status', 'push', 'States in notifications are none of the protocol.', () => ({ json }) => {
    const { statusUpdate } = isMutableJson(json) ? json : {};
    if (isMutableJson(statusUpdate) && isMutableJson(statusUpdate.status))
      statusUpdate.status.state = 'TASK_STATE_DONE';
  }),
]);
