import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import { objectOf } from '../../drivers/normalized-views.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { type MutantAgent, type WireMutation, type WireRequest, mutant } from '../harness/mutant-agent.ts';
import { isCardRequest, mutateResult } from '../harness/mutations.ts';
import { in1_0, replaceError } from '../harness/operation-mutants.ts';
import { isUrl } from '../../../primitives/web/parse-url.ts';

function wireMutant(id: string, description: string, wire: () => WireMutation): MutantAgent {
  return mutant(id, description, { wire });
}

/** Mutates the results of some operations. */
function resultMutant(
  id: string,
  description: string,
  operations: RegExp,
  mutate: (result: JsonObject) => unknown,
): MutantAgent {
  return wireMutant(id, description, () => mutateResult(operations, mutate));
}

function notificationMutant(
  id: string,
  description: string,
  notification: NonNullable<WireMutation['notification']>,
): MutantAgent {
  return wireMutant(id, description, () => ({ notification }));
}

/** Mutates the parameters of a request before the agent receives them. */
function mutateParams(request: WireRequest, mutate: (params: JsonObject) => void): void {
  if (!isJsonObject(request.json)) return;
  const json = structuredClone(request.json);
  mutate(isJsonObject(json.params) ? json.params : json);
  request.json = json;
}

const create = /^CreateTaskPush|^POST .*pushNotificationConfigs/;
const get = /^GetTaskPush|^GET .*pushNotificationConfigs\/\{id\}/;
const list = /^ListTaskPush|^GET .*pushNotificationConfigs$/;

const stateIn = (json: unknown): string => /"state":"(\w+)"/.exec(JSON.stringify(json ?? {}))?.[1] ?? '';
const isTerminalNotification = (json: unknown): boolean =>
  /COMPLETED|CANCELED|FAILED|REJECTED/.test(stateIn(json));

/** Mutants of push notifications. */
export const pushMutants: readonly MutantAgent[] = [
  in1_0('push.ssrf:takes-all', 'Webhooks at any URL are accepted.', (agent) => ({
    createPushConfig: (config, call) =>
      agent
        .createPushConfig(config, call)
        .catch(() => ({ ...config, id: config.id === '' ? crypto.randomUUID() : config.id })),
  })),
  resultMutant('push.create:no-id', 'A new configuration has no id.', create, (config) => {
    delete config.id;
  }),
  resultMutant('push.create:other-id', 'The id of a new configuration is wrong.', create, (config) => {
    config.id = 'other';
  }),
  resultMutant('push.create:other-url', 'A new configuration has another URL.', create, (config) => {
    config.url = `${String(config.url)}/`;
  }),
  resultMutant('push.create:nothing', 'The result of creating a configuration is empty.', create, () => ({})),
  in1_0('push.create:other-task', 'A new configuration has another taskId.', (agent) => ({
    createPushConfig: async (config, call) => ({
      ...(await agent.createPushConfig(config, call)),
      taskId: 'another',
    }),
  })),
  in1_0('push.create-unknown:taken', 'A webhook for an unknown task is accepted.', (agent) => ({
    createPushConfig: (config, call) =>
      agent.createPushConfig(config, call).catch(() => ({ ...config, id: 'any' })),
  })),
  in1_0(
    'push.create-unknown:invalid',
    'A webhook for an unknown task is rejected as invalid parameters.',
    (agent) => ({
      createPushConfig: (config, call) =>
        replaceError(agent.createPushConfig(config, call), 'TASK_NOT_FOUND', 'INVALID_PARAMS'),
    }),
  ),
  wireMutant('push.url:taken', 'A webhook without a URL is accepted.', () => ({
    request(request) {
      if (!create.test(request.operation)) return;
      mutateParams(request, (params) => {
        if (typeof params.url !== 'string' || !isUrl(params.url)) params.url = 'http://127.0.0.1:9/';
      });
    },
  })),
  resultMutant('push.get:no-url', 'A configuration has no URL.', get, (config) => {
    delete config.url;
  }),
  resultMutant('push.get:no-authentication', 'A configuration loses its authentication.', get, (config) => {
    delete config.authentication;
  }),
  resultMutant('push.get:nested', 'A configuration is nested as in 0.3.', get, ({ taskId, ...config }) => ({
    taskId,
    pushNotificationConfig: config,
  })),
  in1_0('push.get:last', 'The last configuration is returned for every id.', (agent) => ({
    getPushConfig: async (ref, call) => {
      await agent.getPushConfig(ref, call);
      const { configs } = await agent.listPushConfigs({ taskId: ref.taskId }, call);
      return configs.at(-1) ?? agent.getPushConfig(ref, call);
    },
  })),
  in1_0(
    'push.get-unknown:invalid',
    'An unknown configuration is rejected as invalid parameters.',
    (agent) => ({
      getPushConfig: (ref, call) =>
        replaceError(agent.getPushConfig(ref, call), 'TASK_NOT_FOUND', 'INVALID_PARAMS'),
    }),
  ),
  in1_0('push.get-unknown:invented', 'An unknown configuration is returned as if it existed.', (agent) => ({
    getPushConfig: (ref, call) =>
      agent.getPushConfig(ref, call).catch(() => ({ id: 'any', ...ref, url: 'https://example.com/' })),
  })),
  in1_0('push.list:newest', 'Only the newest configuration is listed.', (agent) => ({
    listPushConfigs: async (request, call) => {
      const page = await agent.listPushConfigs(request, call);
      return { ...page, configs: page.configs.slice(-1) };
    },
  })),
  resultMutant(
    'push.list:renamed',
    'The array of configurations has another name.',
    list,
    ({ configs, ...rest }) => ({ ...rest, pushNotificationConfigs: configs }),
  ),
  in1_0('push.list:twice', 'Every configuration is listed twice.', (agent) => ({
    listPushConfigs: async (request, call) => {
      const page = await agent.listPushConfigs(request, call);
      return { ...page, configs: page.configs.flatMap((each) => [each, each]) };
    },
  })),
  in1_0('push.list-empty:refused', 'Listing the webhooks of a task without any is rejected.', (agent) => ({
    listPushConfigs: async (request, call) => {
      const page = await agent.listPushConfigs(request, call);
      if (page.configs.length === 0) throw new A2AError('TASK_NOT_FOUND');
      return page;
    },
  })),
  in1_0('push.list-unknown:empty', 'Listing the webhooks of an unknown task succeeds.', (agent) => ({
    listPushConfigs: (request, call) =>
      agent.listPushConfigs(request, call).catch(() => ({ configs: [], nextPageToken: '' })),
  })),
  in1_0('push.list-pages:cut', 'The list ends after the first page.', (agent) => ({
    listPushConfigs: async (request, call) => {
      const { pageSize, ...rest } = request;
      const page = await agent.listPushConfigs(rest, call);
      return { configs: page.configs.slice(0, pageSize ?? 100), nextPageToken: '' };
    },
  })),
  in1_0('push.list-pages:endless', 'Every page has a nextPageToken.', (agent) => ({
    listPushConfigs: async (request, call) => ({
      ...(await agent.listPushConfigs({ taskId: request.taskId }, call)),
      ...(request.pageSize === undefined ? {} : { nextPageToken: 'more' }),
    }),
  })),
  in1_0('push.delete:kept', 'Deleting has no effect.', () => ({
    deletePushConfig: async () => {},
  })),
  in1_0('push.delete:all', 'Deleting one configuration deletes all.', (agent) => ({
    async deletePushConfig({ taskId, id }, call) {
      await agent.deletePushConfig({ taskId, id }, call);
      const { configs } = await agent.listPushConfigs({ taskId }, call);
      for (const each of configs) await agent.deletePushConfig({ taskId, id: each.id }, call);
    },
  })),
  in1_0('push.delete-twice:refused', 'Deleting a configuration twice is rejected.', (agent) => ({
    async deletePushConfig(ref, call) {
      await agent.getPushConfig(ref, call);
      await agent.deletePushConfig(ref, call);
    },
  })),
  in1_0('push.delete-unknown:done', 'Deleting a webhook of an unknown task succeeds.', (agent) => ({
    deletePushConfig: (ref, call) => agent.deletePushConfig(ref, call).catch(() => {}),
  })),
  wireMutant('push.everywhere:apart', 'Each transport has its own webhooks.', () => {
    const createdOverRpc = new Map<string, boolean>();
    return {
      response(response, { operation, path }) {
        const isRpc = path === '/';
        const [, task = ''] = /"taskId":"([\w-]+)"/.exec(JSON.stringify(response.json ?? '')) ?? [];
        if (create.test(operation)) createdOverRpc.set(task, isRpc);
        if (get.test(operation) && createdOverRpc.has(task) && createdOverRpc.get(task) !== isRpc)
          response.json = {};
      },
    };
  }),
  ...(['createPushConfig', 'getPushConfig', 'listPushConfigs', 'deletePushConfig'] as const).map(
    (operation): MutantAgent => ({
      ...in1_0(
        `push.unsupported:${operation}`,
        `Without push notifications, ${operation} returns the wrong error.`,
        () => ({ [operation]: () => Promise.reject(new A2AError('UNSUPPORTED_OPERATION')) }),
      ),
      definition: { pushNotifications: false },
    }),
  ),
  wireMutant(
    'push.unsupported:hidden',
    'Push notifications work although the card does not declare them.',
    () => ({
      response({ json }, request) {
        if (isCardRequest(request) && isJsonObject(json) && isJsonObject(json.capabilities))
          delete json.capabilities.pushNotifications;
      },
    }),
  ),
  notificationMutant('push.delivers:never', 'No notification is ever sent.', () => 'lost'),
  notificationMutant('push.delivers:no-end', 'The terminal status is not delivered.', ({ json }) =>
    isTerminalNotification(json) ? 'lost' : undefined,
  ),
  wireMutant('push.delivers:first', 'Only the first notification is sent.', () => {
    const notified = new Set<string>();
    return {
      notification({ url }) {
        if (notified.has(url)) return 'lost';
        notified.add(url);
        return undefined;
      },
    };
  }),
  wireMutant('push.inline:ignored', 'A webhook in a message is ignored.', () => ({
    request: (request) =>
      mutateParams(request, ({ configuration }) => {
        if (isJsonObject(configuration)) delete configuration.taskPushNotificationConfig;
      }),
  })),
  notificationMutant('push.lives:turn', 'Webhooks are lost when a task is interrupted.', () => 'lost'),
  notificationMutant('push.credentials:none', 'Credentials are not sent.', ({ headers }) => {
    delete headers.authorization;
  }),
  notificationMutant(
    'push.credentials:bearer',
    'The scheme of credentials is always Bearer.',
    ({ headers }) => {
      if (headers.authorization) headers.authorization = headers.authorization.replace(/^\w+/, 'Bearer');
    },
  ),
  notificationMutant('push.credentials:bare', 'Credentials are sent without their scheme.', ({ headers }) => {
    if (headers.authorization) headers.authorization = headers.authorization.replace(/^\w+ /, '');
  }),
  notificationMutant('push.credentials:header', 'Credentials are sent in another header.', ({ headers }) => {
    if (headers.authorization === undefined) return;
    headers['x-token'] = headers.authorization;
    delete headers.authorization;
  }),
  notificationMutant('push.token:none', 'The token is not sent.', ({ headers }) => {
    delete headers['x-a2a-notification-token'];
  }),
  wireMutant('push.two:one', 'Only the first webhook of a task is notified.', () => {
    const first = new Map<string, string>();
    return {
      notification({ url, json }) {
        const [, task = ''] = /"(?:taskId|id)":"([\w-]+)"/.exec(JSON.stringify(json)) ?? [];
        if (!first.has(task)) first.set(task, url);
        return first.get(task) === url ? undefined : 'lost';
      },
    };
  }),
  in1_0('push.delete-stops:goes-on', 'Deleted webhooks are still notified.', (agent) => {
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
  notificationMutant('push.retries:never', 'Failed deliveries are not retried.', () => 'blind'),
  wireMutant('push.hangs:waits', 'A send waits for its webhook.', () => ({
    response(response, { json }) {
      if (/taskPushNotificationConfig/.test(JSON.stringify(json ?? '')) && isJsonObject(response.json))
        response.json = {};
    },
  })),
  notificationMutant('push.post:put', 'Notifications are sent with PUT.', (notification) => {
    notification.method = 'PUT';
  }),
  notificationMutant(
    'push.media-type:form',
    'Notifications have the Content-Type of a form.',
    ({ headers }) => {
      headers['content-type'] = 'application/x-www-form-urlencoded';
    },
  ),
  notificationMutant(
    'push.payload:bare-task',
    'Notifications contain a bare task, as in 0.3.',
    (notification) => {
      if (isJsonObject(notification.json))
        notification.json = { id: 'x', ...(Object.values(notification.json)[0] as object) };
    },
  ),
  notificationMutant('push.payload:envelope', 'Notifications have a JSON-RPC envelope.', (notification) => {
    notification.json = { jsonrpc: '2.0', id: 1, result: notification.json };
  }),
  notificationMutant('push.payload:list', 'Notifications contain an array.', (notification) => {
    notification.json = [notification.json];
  }),
  notificationMutant('push.payload:two', 'Notifications contain two events.', (notification) => {
    if (isJsonObject(notification.json))
      notification.json.message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] };
  }),
  notificationMutant('push.task:other', 'Notifications have the id of another task.', (notification) => {
    if (!isJsonObject(notification.json)) return;
    const { statusUpdate } = notification.json;
    if (isJsonObject(statusUpdate)) statusUpdate.taskId = crypto.randomUUID();
  }),
  notificationMutant('model.status:push', 'Notifications have an unknown state.', ({ json }) => {
    const { statusUpdate } = objectOf(json);
    if (isJsonObject(statusUpdate) && isJsonObject(statusUpdate.status))
      statusUpdate.status.state = 'TASK_STATE_DONE';
  }),
];
