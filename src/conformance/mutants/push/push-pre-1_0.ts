import type { CheckedVersion } from '../../rule-model.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { Agent } from '../../../protocol/agent.ts';
import { mutateResult, isMutableJson, type MutableJson } from '../harness/mutations.ts';
import { type MutantAgent, defineMutants, type WireMutation } from '../harness/mutant-agent.ts';
import { overrideAgent } from '../harness/override-agent.ts';

const both: readonly CheckedVersion[] = ['0.3', '0.1'];

/** An agent of an older version whose webhooks are wrong, on the wire or within. */
function broken(
  breaks: string,
  id: string,
  what: string,
  how: { wire?: () => WireMutation; agent?: (agent: Agent) => Agent; definition?: MutantAgent['definition'] },
  versions: readonly CheckedVersion[] = both,
): MutantAgent {
  return {
    id: `${breaks}:${id}`,
    violates: breaks,
    description: what,
    versions,
    transports: ['JSONRPC'],
    ...how,
  };
}

const set = /pushNotification(Config)?\/set$/;
const get = /pushNotification(Config)?\/get$/;

/** Bends the webhook that is nested in an answer. */
function bendWebhook(operation: RegExp, bend: (webhook: MutableJson) => void): WireMutation {
  return mutateResult(operation, ({ pushNotificationConfig: nested }) => {
    if (isMutableJson(nested)) bend(nested);
  });
}

/** Agents of 0.3 and 0.1 whose webhooks are wrong. */
export const pushPre1_0Mutants = defineMutants([
  broken('push-before.create', 'other-url', 'The webhook that was set is answered with another address.', {
    wire: () =>
      bendWebhook(set, (webhook) => {
        webhook.url = 'https://elsewhere.example.com/hook';
      }),
  }),
  broken('push-before.create', 'not-kept', 'A webhook that is asked for has another address.', {
    wire: () =>
      bendWebhook(get, (webhook) => {
        webhook.url = 'https://elsewhere.example.com/hook';
      }),
  }),
  broken('push-before.unknown', 'taken', 'A webhook for a task that nobody knows is refused as invalid.', {
    agent: (agent) =>
      overrideAgent(agent, {
        createPushConfig: (config, call) =>
          agent.createPushConfig(config, call).catch(() => {
            throw new A2AError('INVALID_PARAMS', 'taskId is wrong');
          }),
      }),
  }),
  broken('push-before.unknown', 'get-empty', 'The webhook of a task that nobody knows is null.', {
    wire: () => ({
      response(answer, request) {
        if (get.test(request.operation) && isMutableJson(answer.json) && isMutableJson(answer.json.error))
          answer.json = { jsonrpc: '2.0', id: answer.json.id, result: null };
      },
    }),
  }),
  broken(
    'push-before.list',
    'empty',
    'The list of webhooks is always empty.',
    {
      agent: (agent) =>
        overrideAgent(agent, { listPushConfigs: async () => ({ configs: [], nextPageToken: '' }) }),
    },
    ['0.3'],
  ),
  broken(
    'push-before.list',
    'everybody',
    'The list has the webhooks of all tasks.',
    {
      agent: (agent) => {
        const tasks = new Set<string>();
        return overrideAgent(agent, {
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
    },
    ['0.3'],
  ),
  broken(
    'push-before.delete',
    'kept',
    'A webhook that is deleted stays.',
    {
      agent: (agent) => overrideAgent(agent, { deletePushConfig: async () => undefined }),
    },
    ['0.3'],
  ),
  broken('push-before.delivers', 'never', 'Notifications are never sent.', {
    wire: () => ({ notification: () => 'lost' }),
  }),
  broken('push-before.delivers', 'no-end', 'The end of a task is not told.', {
    wire: () => ({
      notification: ({ json }) =>
        /"(completed|canceled|failed|rejected)"/.test(JSON.stringify(json)) ? 'lost' : undefined,
    }),
  }),
  broken('push-before.delivers', 'put', 'Notifications are put, not posted.', {
    wire: () => ({
      notification(notification) {
        notification.method = 'PUT';
      },
    }),
  }),
  broken('push-before.delivers', 'other-task', 'Notifications name another task.', {
    wire: () => ({
      notification({ json }) {
        if (isMutableJson(json)) json.id = crypto.randomUUID();
      },
    }),
  }),
  broken('push-before.delivers', 'form', 'Notifications are said to be a form.', {
    wire: () => ({
      notification({ headers }) {
        headers['content-type'] = 'application/x-www-form-urlencoded';
      },
    }),
  }),
  broken(
    'push-before.token',
    'left-out',
    'The token is not sent.',
    {
      wire: () => ({
        notification({ headers }) {
          delete headers['x-a2a-notification-token'];
        },
      }),
    },
    ['0.3'],
  ),
  broken('push-before.unsupported', 'taken', 'An agent without webhooks says that the task is not there.', {
    definition: { pushNotifications: false },
    wire: () => ({
      response(answer, request) {
        if (set.test(request.operation) && isMutableJson(answer.json) && isMutableJson(answer.json.error))
          answer.json.error.code = -32001;
      },
    }),
  }),
  broken(
    '0.3.push-config',
    'no-task',
    'A webhook is given back without the id of its task.',
    {
      wire: () =>
        mutateResult(/pushNotificationConfig\/(set|get)/, (result) => {
          delete result.taskId;
        }),
    },
    ['0.3'],
  ),
  broken(
    '0.3.push-config',
    'flat',
    'A webhook is given back flat, as in 1.0.',
    {
      wire: () =>
        mutateResult(set, ({ taskId, pushNotificationConfig: nested }) => ({
          taskId,
          ...(nested as MutableJson),
        })),
    },
    ['0.3'],
  ),
  broken(
    '0.1.push-config',
    'no-task',
    'A webhook is given back without the id of its task.',
    {
      wire: () =>
        mutateResult(set, (result) => {
          delete result.id;
        }),
    },
    ['0.1'],
  ),
]);
