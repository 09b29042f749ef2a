import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { type Check, defineChecks } from '../../check.ts';
import type { ConformanceRule, CheckedVersion } from '../../rule-model.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { terminalStates } from '../../observation/task-tracker.ts';
import { asList, asText } from '../../drivers/normalized-views.ts';
import type { WebhookEndpoint, WebhookDelivery } from '../../wire/webhook-receiver.ts';
import {
  receivedNotifications,
  notificationTimeout,
  registerWebhook,
  notificationState,
} from './webhook-steps.ts';

/** A check about webhooks before 1.0. Over REST nobody agrees how they are written, so JSON-RPC is looked at. */
function before(
  rule: Pick<ConformanceRule, 'id' | 'section' | 'level' | 'sentence' | 'remedy'> & Partial<Check>,
  run: (probe: Probe) => Promise<void>,
  versions: readonly CheckedVersion[] = ['0.3', '0.1'],
): Check {
  const what = rule.id.split('.').slice(1).join('.');
  return {
    requirements: versions.map((version) => `${version}/push-${what}`),
    category: 'lifecycle',
    versions,
    transports: ['JSONRPC'],
    preconditions: ['push'],
    ...rule,
    run,
  };
}

/** A task that will not move while its webhooks are looked at. */
async function waiting(probe: Probe): Promise<string> {
  const task = probe.context.prompts.knows('input-required')
    ? await probe.sendPrompt('input-required')
    : await probe.completeTask();
  return task.id;
}

/** Ends a task that has a webhook. */
async function ended(probe: Probe, token?: string): Promise<{ taskId: string; hook: WebhookEndpoint }> {
  // One that waits does not end by itself before its webhook is there.
  const isWaiting = probe.context.prompts.knows('input-required');
  const { id: taskId, contextId = '' } = isWaiting
    ? await probe.sendPrompt('input-required')
    : await probe.startSlowTask();
  const hook = await probe.context.receiver.openEndpoint();
  await registerWebhook(probe, taskId, { url: hook.url, ...(token === undefined ? {} : { token }) });
  const response = isWaiting
    ? await probe.call('send', {
        message: { text: 'go on', messageId: crypto.randomUUID(), taskId, contextId },
      })
    : await probe.call('cancel', { id: taskId });
  if (response.error || response.decodeError !== undefined)
    throw new InconclusiveError(`The task could not be ended: ${describeResponse(response)}`);
  return { taskId, hook };
}

/** The webhook in an answer, which is nested before 1.0. */
function webhookIn(result: unknown): JsonObject {
  const nested = isJsonObject(result) ? result.pushNotificationConfig : undefined;
  return isJsonObject(nested) ? nested : {};
}

async function registered(probe: Probe, taskId: string): Promise<{ url: string; config: JsonObject }> {
  const { url } = await probe.context.receiver.openEndpoint();
  return { url, config: webhookIn(await registerWebhook(probe, taskId, { url })) };
}

/** Webhooks of 0.3 and 0.1. */
export const pushPre1_0Checks = defineChecks([
  before(
    {
      id: 'push-before.create',
      section: '7.5',
      level: 'MUST',
      sentence: 'A webhook that is set comes back, at once and when it is asked for.',
      remedy: 'Store the configuration with its task, and answer with it.',
    },
    async (probe) => {
      const taskId = await waiting(probe);
      const { url, config } = await registered(probe, taskId);
      probe.expect(config.url === url, 'The answer has another url', {
        expected: url,
        actual: String(config.url),
      });
      const id = asText(config.id);
      const got = webhookIn(
        await probe.expectResult('getPush', { taskId, ...(id === undefined ? {} : { id }) }),
      );
      probe.expect(got.url === url, 'Another url is given back when it is asked for', {
        expected: url,
        actual: String(got.url),
      });
    },
  ),
  before(
    {
      id: 'push-before.unknown',
      section: '7.5',
      level: 'MUST',
      category: 'error-handling',
      sentence: 'A webhook of a task that does not exist is refused with TaskNotFound.',
      remedy: 'Look for the task first, and answer -32001.',
    },
    async (probe) => {
      const { url } = await probe.context.receiver.openEndpoint();
      await probe.expectError(
        'createPush',
        { taskId: crypto.randomUUID(), webhook: { url } },
        'TaskNotFound',
      );
      await probe.expectError('getPush', { taskId: crypto.randomUUID() }, 'TaskNotFound');
    },
  ),
  before(
    {
      id: 'push-before.list',
      section: '7.7',
      level: 'MUST',
      sentence: 'All webhooks of a task are listed, and those of others are not.',
      remedy: 'Keep webhooks by task, several for each.',
    },
    async (probe) => {
      const [taskId, other] = [await waiting(probe), await waiting(probe)];
      const { url } = await registered(probe, taskId);
      await registered(probe, other);
      const configs = asList(await probe.expectResult('listPush', { taskId }));
      const urls = (configs ?? []).map((each) => webhookIn(each).url);
      probe.expect(urls.length === 1 && urls[0] === url, 'The list is not that of the task', {
        expected: url,
        actual: JSON.stringify(urls),
      });
    },
    ['0.3'],
  ),
  before(
    {
      id: 'push-before.delete',
      section: '7.8',
      level: 'MUST',
      sentence: 'A webhook that was deleted is gone.',
      remedy: 'Take the configuration out of the store.',
    },
    async (probe) => {
      const taskId = await waiting(probe);
      const { url, config } = await registered(probe, taskId);
      // Whoever gives no id names the webhook after its task.
      await probe.expectResult('deletePush', { taskId, id: asText(config.id) ?? taskId });
      const left = asList(await probe.expectResult('listPush', { taskId })) ?? [];
      probe.expect(
        left.every((each) => webhookIn(each).url !== url),
        'The webhook is still listed',
      );
    },
    ['0.3'],
  ),
  before(
    {
      id: 'push-before.delivers',
      section: '9.5',
      level: 'MUST',
      sentence: 'A webhook is told how its task ended, in JSON and by POST, and of no other task.',
      remedy: 'Post the task to its webhook when it has ended.',
    },
    async (probe) => {
      const { taskId, hook } = await ended(probe);
      const isEnd = ({ body }: WebhookDelivery): boolean =>
        terminalStates.has(stateIn(probe, parseJsonOrUndefined(body)) ?? '');
      const isTold = await hook.waitFor((received) => received.some(isEnd), notificationTimeout(probe));
      receivedNotifications(probe, hook, taskId);
      probe.expect(hook.received.length > 0, 'No notification arrived', {
        expected: `a POST to ${hook.url}; where the agent cannot reach it, give --webhook-url`,
        actual: 'nothing',
      });
      for (const { method, headers, body } of hook.received) {
        probe.expect(method === 'POST', `The method was ${method}`);
        const type = String(headers['content-type']);
        probe.expect(/^application\/json\b/i.test(type), `The media type was ${type}`);
        const told = idIn(parseJsonOrUndefined(body));
        probe.expect(told === taskId, 'The notification is about another task', {
          expected: taskId,
          actual: String(told),
        });
      }
      probe.expect(isTold, 'The webhook was not told how the task ended');
    },
  ),
  before(
    {
      id: 'push-before.token',
      section: '9.5',
      level: 'SHOULD',
      sentence: 'A webhook with a token is called with that token.',
      remedy: 'Send X-A2A-Notification-Token with what the configuration has.',
    },
    async (probe) => {
      const token = crypto.randomUUID();
      const { hook } = await ended(probe, token);
      const isTold = await hook.waitFor((received) => received.length > 0, notificationTimeout(probe));
      probe.expect(isTold, 'No notification arrived');
      const sent = hook.received.map(({ headers }) => headers['x-a2a-notification-token']);
      probe.expect(
        sent.every((each) => each === token),
        'The token was not sent',
        { expected: 'x-a2a-notification-token with the token', actual: JSON.stringify(sent) },
      );
    },
    ['0.3'],
  ),
  before(
    {
      id: 'push-before.unsupported',
      section: '8.2',
      level: 'MUST',
      category: 'error-handling',
      sentence: 'An agent without webhooks says so.',
      remedy: 'Answer -32003.',
      preconditions: ['no-push'],
    },
    async (probe) => {
      const task = await probe.completeTask();
      const input = { taskId: task.id, webhook: { url: 'https://webhook.example.com/a2a' } };
      await probe.expectError('createPush', input, ['PushNotificationNotSupported', 'MethodNotFound']);
    },
  ),
]);

/** Notifications of these versions are a task, or an event in any of their forms. */
function stateIn(probe: Probe, body: unknown): string | undefined {
  return probe.driver.decodeTask(body)?.state ?? notificationState(probe.driver.decodeEvent(body));
}

function idIn(body: unknown): unknown {
  if (!isJsonObject(body)) return undefined;
  const inner = [body.task, body.statusUpdate, body.artifactUpdate, body.result].find(isJsonObject) ?? body;
  return inner.taskId ?? inner.id;
}
