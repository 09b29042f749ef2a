import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import { withInterceptor } from '../../../protocol/composition/with-interceptor.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import { type MutantAgent, type MutantSetup, type WireMutation, mutant } from '../harness/mutant-agent.ts';
import { mutateResult } from '../harness/mutations.ts';

const oldVersions: readonly CheckedVersion[] = ['0.3', '0.1'];

function pushMutant(id: string, description: string, setup: MutantSetup): MutantAgent {
  return mutant(id, description, { versions: oldVersions, transports: ['JSONRPC'], ...setup });
}

function notificationMutant(
  id: string,
  description: string,
  notification: NonNullable<WireMutation['notification']>,
  setup: MutantSetup = {},
): MutantAgent {
  return pushMutant(id, description, { wire: () => ({ notification }), ...setup });
}

const set = /pushNotification(Config)?\/set$/;
const get = /pushNotification(Config)?\/get$/;

/** Mutates the webhook in a result. */
function mutateWebhook(operation: RegExp, mutate: (webhook: JsonObject) => void): WireMutation {
  return mutateResult(operation, ({ pushNotificationConfig: webhook }) => {
    if (isJsonObject(webhook)) mutate(webhook);
  });
}

/** Mutants of push notifications before 1.0. */
export const pushPre1_0Mutants: readonly MutantAgent[] = [
  pushMutant('push-before.create:other-url', 'The result of setting a webhook has another URL.', {
    wire: () =>
      mutateWebhook(set, (webhook) => {
        webhook.url = 'https://elsewhere.example.com/hook';
      }),
  }),
  pushMutant('push-before.create:not-kept', 'A stored webhook has another URL.', {
    wire: () =>
      mutateWebhook(get, (webhook) => {
        webhook.url = 'https://elsewhere.example.com/hook';
      }),
  }),
  pushMutant(
    'push-before.unknown:taken',
    'A webhook for an unknown task is rejected as invalid parameters.',
    {
      agent: (agent) =>
        withInterceptor(agent, {
          createPushConfig: (config, call) =>
            agent.createPushConfig(config, call).catch(() => {
              throw new A2AError('INVALID_PARAMS', 'taskId is wrong');
            }),
        }),
    },
  ),
  pushMutant('push-before.unknown:get-empty', 'The webhook of an unknown task is null.', {
    wire: () => ({
      response(response, request) {
        if (get.test(request.operation) && isJsonObject(response.json) && isJsonObject(response.json.error))
          response.json = { jsonrpc: '2.0', id: response.json.id, result: null };
      },
    }),
  }),
  pushMutant('push-before.list:empty', 'The list of webhooks is always empty.', {
    agent: (agent) =>
      withInterceptor(agent, { listPushConfigs: async () => ({ configs: [], nextPageToken: '' }) }),
    versions: ['0.3'],
  }),
  pushMutant('push-before.list:all-tasks', 'The list contains the webhooks of all tasks.', {
    agent: (agent) => {
      const tasks = new Set<string>();
      return withInterceptor(agent, {
        createPushConfig(config, call) {
          tasks.add(config.taskId);
          return agent.createPushConfig(config, call);
        },
        async listPushConfigs(request, call) {
          await agent.listPushConfigs(request, call);
          const pages = await Promise.all(
            [...tasks].map((taskId) =>
              agent.listPushConfigs({ taskId }, call).catch(() => ({ configs: [] })),
            ),
          );
          return { configs: pages.flatMap(({ configs }) => configs), nextPageToken: '' };
        },
      });
    },
    versions: ['0.3'],
  }),
  pushMutant('push-before.delete:kept', 'A deleted webhook remains.', {
    agent: (agent) => withInterceptor(agent, { deletePushConfig: async () => undefined }),
    versions: ['0.3'],
  }),
  notificationMutant('push-before.delivers:never', 'Notifications are never sent.', () => 'lost'),
  notificationMutant('push-before.delivers:no-end', 'The terminal status is not delivered.', ({ json }) =>
    /"(completed|canceled|failed|rejected)"/.test(JSON.stringify(json)) ? 'lost' : undefined,
  ),
  pushMutant('push-before.delivers:put', 'Notifications are sent with PUT.', {
    wire: () => ({
      notification(notification) {
        notification.method = 'PUT';
      },
    }),
  }),
  pushMutant('push-before.delivers:other-task', 'Notifications have the id of another task.', {
    wire: () => ({
      notification({ json }) {
        if (isJsonObject(json)) json.id = crypto.randomUUID();
      },
    }),
  }),
  pushMutant('push-before.delivers:form', 'Notifications have the Content-Type of a form.', {
    wire: () => ({
      notification({ headers }) {
        headers['content-type'] = 'application/x-www-form-urlencoded';
      },
    }),
  }),
  pushMutant('push-before.token:left-out', 'The token is not sent.', {
    wire: () => ({
      notification({ headers }) {
        delete headers['x-a2a-notification-token'];
      },
    }),
  }),
  pushMutant('push-before.unsupported:taken', 'An agent without webhooks reports an unknown task.', {
    definition: { pushNotifications: false },
    wire: () => ({
      response(response, request) {
        if (set.test(request.operation) && isJsonObject(response.json) && isJsonObject(response.json.error))
          response.json.error.code = -32001;
      },
    }),
  }),
  pushMutant('0.3.push-config:no-task', 'A push configuration has no taskId.', {
    wire: () =>
      mutateResult(/pushNotificationConfig\/(set|get)/, (result) => {
        delete result.taskId;
      }),
    versions: ['0.3'],
  }),
  pushMutant('0.3.push-config:flat', 'A push configuration is flat, as in 1.0.', {
    wire: () =>
      mutateResult(set, ({ taskId, pushNotificationConfig: nested }) => ({
        taskId,
        ...(nested as JsonObject),
      })),
    versions: ['0.3'],
  }),
  pushMutant('0.1.push-config:no-task', 'A push configuration has no task id.', {
    wire: () =>
      mutateResult(set, (result) => {
        delete result.id;
      }),
    versions: ['0.1'],
  }),
];
