import { must, should } from '../../rule-model.ts';
import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { terminalStates } from '../../observation/task-tracker.ts';
import { asList, asText, listOf, objectOf } from '../../drivers/normalized-views.ts';
import type { WebhookEndpoint, WebhookDelivery } from '../../wire/webhook-receiver.ts';
import {
  expectNotified,
  receivedNotifications,
  notificationTimeout,
  openWebhook,
  registerWebhook,
  notificationState,
  waitForFirst,
} from './webhook-steps.ts';

/** Creates a task that does not change during the check, and returns its id. */
async function createIdleTask(probe: Probe): Promise<string> {
  const task = probe.prompts.knows('input-required')
    ? await probe.sendPrompt('input-required')
    : await probe.completeTask();
  return task.id;
}

/** Creates a task with a webhook and ends it. */
async function endTask(probe: Probe, token?: string): Promise<{ taskId: string; webhook: WebhookEndpoint }> {
  // An interrupted task does not end before its webhook is registered.
  const canInterrupt = probe.prompts.knows('input-required');
  const { id: taskId, contextId = '' } = canInterrupt
    ? await probe.sendPrompt('input-required')
    : await probe.startSlowTask();
  const webhook = await openWebhook(probe);
  await registerWebhook(probe, taskId, { url: webhook.url, token });
  const message = { text: 'go on', messageId: crypto.randomUUID(), taskId, contextId };
  const response = await (canInterrupt
    ? probe.call('send', { message })
    : probe.call('cancel', { id: taskId }));
  if (response.error || response.decodeError !== undefined)
    throw new InconclusiveError(`The task could not be ended: ${describeResponse(response)}`);
  return { taskId, webhook };
}

/** Returns the push configuration of a result, which is nested before 1.0. */
function readConfig(result: unknown): JsonObject {
  return objectOf(objectOf(result).pushNotificationConfig);
}

/** JSON-RPC returns an array, gRPC a message with a list. */
function readConfigs(result: unknown): readonly unknown[] {
  return asList(result) ?? listOf(objectOf(result).configs);
}

async function createConfig(probe: Probe, taskId: string): Promise<{ url: string; config: JsonObject }> {
  const { url } = await openWebhook(probe);
  return { url, config: readConfig(await registerWebhook(probe, taskId, { url })) };
}

const shared = {
  category: 'lifecycle',
  versions: ['0.3', '0.1'],
  preconditions: ['push'],
  transports: ['JSONRPC', 'GRPC'],
} as const;

/** Push notifications of 0.3 and 0.1 over JSON-RPC and gRPC; REST implementations disagree about the format. */
export const pushPre1_0Checks = defineChecks(shared, [
  {
    id: 'push-before.create',
    ...must('7.5', '0.3/push-create', '0.1/push-create'),
    sentence: 'The agent returns a push configuration when it is set and when it is requested.',
    remedy: 'Store the configuration with its task, and return it.',
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const { url, config } = await createConfig(probe, taskId);
      probe.expectEqual(config.url, url, 'The response has another url');
      const id = asText(config.id);
      const stored = readConfig(await probe.expectResult('getPush', { taskId, id }));
      probe.expectEqual(stored.url, url, 'The stored configuration has another url');
    },
  },
  {
    id: 'push-before.unknown',
    ...must('7.5', '0.3/push-unknown', '0.1/push-unknown'),
    category: 'error-handling',
    sentence: 'The agent rejects push configurations of an unknown task with TaskNotFound.',
    remedy: 'Check that the task exists first, and return -32001.',
    async run(probe) {
      const { url } = await openWebhook(probe);
      const taskId = crypto.randomUUID();
      await probe.expectError('createPush', { taskId, webhook: { url } }, 'TaskNotFound');
      await probe.expectError('getPush', { taskId }, 'TaskNotFound');
    },
  },
  {
    id: 'push-before.list',
    ...must('7.7', '0.3/push-list'),
    sentence: 'The agent lists exactly the push configurations of the task.',
    remedy: 'Store several configurations for each task.',
    versions: ['0.3'],
    async run(probe) {
      const [taskId, otherTaskId] = [await createIdleTask(probe), await createIdleTask(probe)];
      const { url } = await createConfig(probe, taskId);
      await createConfig(probe, otherTaskId);
      const configs = readConfigs(await probe.expectResult('listPush', { taskId }));
      const urls = configs.map((each) => readConfig(each).url);
      const message = 'The list does not contain exactly the configurations of the task';
      probe.expectSameItems(urls.map(String), [url], message);
    },
  },
  {
    id: 'push-before.delete',
    ...must('7.8', '0.3/push-delete'),
    sentence: 'The agent removes a deleted push configuration.',
    remedy: 'Remove the configuration from the store.',
    versions: ['0.3'],
    async run(probe) {
      const taskId = await createIdleTask(probe);
      const { url, config } = await createConfig(probe, taskId);
      // Without an id, the id of the configuration is the task id.
      await probe.expectResult('deletePush', { taskId, id: asText(config.id) ?? taskId });
      const configs = readConfigs(await probe.expectResult('listPush', { taskId }));
      const deleted = configs.filter((each) => readConfig(each).url === url);
      probe.expectEmpty(deleted, 'The list still contains the deleted configuration');
    },
  },
  {
    id: 'push-before.delivers',
    ...must('9.5', '0.3/push-delivers', '0.1/push-delivers'),
    sentence:
      'The agent posts the terminal state of the task as JSON to its webhook, and nothing about other tasks.',
    remedy: 'Post the task to its webhook when it ends.',
    async run(probe) {
      const { taskId, webhook } = await endTask(probe);
      const isEnd = ({ body }: WebhookDelivery): boolean =>
        terminalStates.has(readState(probe, parseJsonOrUndefined(body)) ?? '');
      const hasEnd = await webhook.waitFor((received) => received.some(isEnd), notificationTimeout(probe));
      receivedNotifications(probe, webhook, taskId);
      expectNotified(probe, webhook);
      for (const { method, headers, body } of webhook.received) {
        probe.expect(method === 'POST', `The method is ${method}`);
        const type = String(headers['content-type']);
        probe.expect(/^application\/json\b/i.test(type), `The content type is ${type}`);
        const notifiedId = readTaskId(parseJsonOrUndefined(body));
        probe.expectEqual(notifiedId, taskId, 'The notification belongs to another task');
      }
      probe.expect(hasEnd, 'The webhook did not receive the terminal state');
    },
  },
  {
    id: 'push-before.token',
    ...should('9.5', '0.3/push-token', '0.1/push-token'),
    sentence: 'The agent sends the token of a push configuration with each notification.',
    remedy: 'Send the token of the configuration as X-A2A-Notification-Token.',
    async run(probe) {
      const token = crypto.randomUUID();
      const { webhook } = await endTask(probe, token);
      await waitForFirst(probe, webhook);
      expectNotified(probe, webhook);
      for (const { headers } of webhook.received)
        probe.expectEqual(headers['x-a2a-notification-token'], token, 'A notification lacks the token');
    },
  },
  {
    id: 'push-before.unsupported',
    ...must('8.2', '0.3/push-unsupported', '0.1/push-unsupported'),
    category: 'error-handling',
    sentence: 'An agent without push notifications rejects push configurations.',
    remedy: 'Return -32003.',
    preconditions: ['no-push'],
    async run(probe) {
      const task = await probe.completeTask();
      const input = { taskId: task.id, webhook: { url: 'https://webhook.example.com/a2a' } };
      await probe.expectError('createPush', input, ['PushNotificationNotSupported', 'MethodNotFound']);
    },
  },
]);

/** A notification of these versions is a task or an event. */
function readState(probe: Probe, body: unknown): string | undefined {
  return probe.driver.decodeTask(body)?.state ?? notificationState(probe.driver.decodeEvent(body));
}

function readTaskId(body: unknown): unknown {
  if (!isJsonObject(body)) return undefined;
  const inner = [body.task, body.statusUpdate, body.artifactUpdate, body.result].find(isJsonObject) ?? body;
  return inner.taskId ?? inner.id;
}
