import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import { terminalStates } from '../../observation/task-tracker.ts';
import type { WebhookEndpoint, WebhookDelivery } from '../../wire/webhook-receiver.ts';
import { definePushCheck } from './push-config.ts';
import {
  receivedNotifications,
  pushConfigId,
  notificationTimeout,
  registerWebhook,
  notificationState,
} from './webhook-steps.ts';

const some = (received: readonly WebhookDelivery[]): boolean => received.length > 0;

/** Waits until a webhook was told that its task has ended, or something that nobody understands: that is another rule's. */
function heardTheEnd(probe: Probe, hook: WebhookEndpoint): Promise<boolean> {
  const isEnd = ({ body }: WebhookDelivery): boolean => {
    const event = probe.driver.decodeEvent(parseJsonOrUndefined(body));
    return event.kind === 'unknown' || terminalStates.has(notificationState(event) ?? '');
  };
  return hook.waitFor((received) => received.some(isEnd), notificationTimeout(probe));
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The notifications themselves: sections 3.1.7, 4.3.3 and 13.2. */
export const pushDeliveryChecks = defineChecks([
  definePushCheck(
    'push.delivers',
    ['PUSH-001', 'PUSH-012'],
    '3.1.7',
    'MUST',
    'A webhook that is registered for a running task is told what becomes of it.',
    'Post each update of the task to its webhooks, the last one included.',
    async (probe) => {
      const { id: taskId } = await probe.startSlowTask();
      const hook = await probe.context.receiver.openEndpoint();
      await registerWebhook(probe, taskId, { url: hook.url });
      const isTold = await hook.waitFor(some, notificationTimeout(probe));
      await probe.call('cancel', { id: taskId });
      const isAll = isTold && (await heardTheEnd(probe, hook));
      receivedNotifications(probe, hook, taskId);
      probe.expect(isTold, 'No notification arrived', {
        expected: `a POST to ${hook.url}; where the agent cannot reach it, give --webhook-url`,
        actual: 'nothing',
      });
      probe.expect(isAll, 'The webhook was not told how the task ended', {
        expected: 'a notification with the last state',
        actual: `${hook.received.length} notifications without it`,
      });
    },
  ),
  definePushCheck(
    'push.inline',
    ['PUSH-001', 'PUSH-017'],
    '3.2.2',
    'MUST',
    'A webhook that comes with a message is told what becomes of its task.',
    'Register configuration.taskPushNotificationConfig for the task that the message makes.',
    async (probe) => {
      const hook = await probe.context.receiver.openEndpoint();
      const task = await probe.completeTask({ webhook: { url: hook.url } });
      const isTold = await heardTheEnd(probe, hook);
      receivedNotifications(probe, hook, task.id);
      probe.expect(some(hook.received), 'No notification arrived', {
        expected: `a POST to ${hook.url}`,
        actual: 'nothing',
      });
      probe.expect(isTold, 'The webhook was not told how the task ended');
    },
  ),
  definePushCheck(
    'push.lives',
    ['PUSH-002'],
    '3.1.7',
    'MUST',
    'A webhook lives until its task has ended, through every turn of the conversation.',
    'Keep configurations while a task waits.',
    async (probe) => {
      const { id: taskId } = await probe.sendPrompt('input-required');
      const hook = await probe.context.receiver.openEndpoint();
      const config = await registerWebhook(probe, taskId, { url: hook.url });
      await probe.expectResult('getPush', { taskId, id: pushConfigId(config) });
      await probe.call('send', { message: { text: 'this one', taskId } });
      const isTold = await heardTheEnd(probe, hook);
      receivedNotifications(probe, hook, taskId);
      probe.expect(isTold, 'The webhook of a task that waited was not told of its end', {
        actual: `${hook.received.length} notifications`,
      });
    },
  ),
  definePushCheck(
    'push.credentials',
    ['PUSH-011', 'PUSH-021'],
    '4.3.3',
    'MUST',
    'A notification carries the credentials of its webhook.',
    'Send Authorization: {scheme} {credentials} as the configuration says, each webhook its own.',
    async (probe) => {
      const secrets = [crypto.randomUUID(), Buffer.from(`me:${crypto.randomUUID()}`).toString('base64')];
      const schemes = ['Bearer', 'Basic'];
      const { id: taskId } = await probe.startSlowTask();
      const hooks: WebhookEndpoint[] = [];
      for (const [index, scheme] of schemes.entries()) {
        const hook = await probe.context.receiver.openEndpoint();
        await registerWebhook(probe, taskId, { url: hook.url, scheme, credentials: secrets[index] ?? '' });
        hooks.push(hook);
      }
      await Promise.all(hooks.map((hook) => hook.waitFor(some, notificationTimeout(probe))));
      await probe.call('cancel', { id: taskId });
      for (const [index, hook] of hooks.entries()) {
        receivedNotifications(probe, hook, taskId);
        probe.expect(some(hook.received), 'No notification arrived at a webhook with credentials');
        const wanted = `${schemes[index]} ${secrets[index]}`;
        for (const { headers } of hook.received) {
          const said = String(headers.authorization ?? '');
          const [scheme = '', ...rest] = said.split(' ');
          probe.expect(
            scheme.toLowerCase() === schemes[index]?.toLowerCase() && rest.join(' ') === secrets[index],
            'A notification has not the credentials of its webhook',
            { expected: `Authorization: ${wanted}`, actual: said === '' ? 'no Authorization' : said },
          );
        }
      }
    },
  ),
  definePushCheck(
    'push.two',
    ['PUSH-017'],
    '4.3.3',
    'MUST',
    'Every webhook of a task is told, and one that fails does not keep the others from it.',
    'Deliver to each webhook by itself.',
    async (probe) => {
      const { receiver } = probe.context;
      const { id: taskId } = await probe.startSlowTask();
      const hooks = [
        await receiver.openEndpoint(() => 500),
        await receiver.openEndpoint(),
        await receiver.openEndpoint(),
      ];
      for (const hook of hooks) await registerWebhook(probe, taskId, { url: hook.url });
      const all = hooks.map((hook) => hook.waitFor(some, notificationTimeout(probe)));
      const told = await Promise.all(all);
      await probe.call('cancel', { id: taskId });
      for (const hook of hooks) receivedNotifications(probe, hook, taskId);
      probe.expect(told.every(Boolean), 'Not every webhook of a task was told', {
        expected: `${hooks.length} webhooks`,
        actual: `${told.filter(Boolean).length} were told`,
      });
    },
  ),
  definePushCheck(
    'push.delete-stops',
    ['PUSH-009'],
    '3.1.10',
    'MUST',
    'A webhook that was deleted is told nothing more.',
    'Look up the webhooks of a task whenever there is news, and drop what waits for a deleted one.',
    async (probe) => {
      const { id: taskId } = await probe.startSlowTask();
      const [goes, stays] = [
        await probe.context.receiver.openEndpoint(),
        await probe.context.receiver.openEndpoint(),
      ];
      const config = await registerWebhook(probe, taskId, { url: goes.url });
      await registerWebhook(probe, taskId, { url: stays.url });
      await goes.waitFor(some, notificationTimeout(probe));
      await probe.expectResult('deletePush', { taskId, id: pushConfigId(config) });
      // What was on its way may arrive.
      await pause(150);
      const before = goes.received.length;
      await probe.call('cancel', { id: taskId });
      const isTold = await heardTheEnd(probe, stays);
      await pause(250);
      for (const hook of [goes, stays]) receivedNotifications(probe, hook, taskId);
      probe.expect(isTold, 'The webhook that stayed was not told of the end');
      probe.expect(goes.received.length === before, 'A deleted webhook was told of something', {
        expected: `${before} notifications`,
        actual: `${goes.received.length} notifications`,
      });
    },
  ),
  definePushCheck(
    'push.retries',
    ['PUSH-018', 'PUSH-023'],
    '13.2',
    'SHOULD',
    'A notification that failed is sent again.',
    'Try again with growing pauses when a webhook answers 5xx or not at all.',
    async (probe) => {
      const refused = new Set<string>();
      const hook = await probe.context.receiver.openEndpoint(({ body }) => {
        // Whatever comes is refused once.
        if (refused.has(body)) return 200;
        refused.add(body);
        return 503;
      });
      const task = await probe.completeTask({ webhook: { url: hook.url } });
      const isAgain = await hook.waitFor(
        (received) =>
          received.some(({ body }, index) => received.some((each, i) => i < index && each.body === body)),
        notificationTimeout(probe),
      );
      receivedNotifications(probe, hook, task.id);
      probe.expect(isAgain, 'A notification that was answered with 503 was not sent again', {
        expected: `a second attempt within ${notificationTimeout(probe)} ms`,
        actual: `${hook.received.length} notifications, each once`,
      });
    },
  ),
  definePushCheck(
    'push.hangs',
    ['PUSH-019', 'PUSH-022'],
    '4.3.3',
    'SHOULD',
    'A webhook that does not answer does not hold up its task.',
    'Deliver beside the work, and give up on an answer after 10 to 30 seconds.',
    async (probe) => {
      const hook = await probe.context.receiver.openEndpoint(() => 'hang');
      const began = performance.now();
      const response = await probe.call('send', {
        message: probe.context.prompts.promptFor('completed'),
        webhook: { url: hook.url },
      });
      if (probe.driver.decodeMessage(response.result))
        throw new InconclusiveError(
          'The agent answers with a message and makes no task, so nothing can be held up.',
        );
      const id = probe.driver.decodeTask(response.result)?.id;
      // A task that waits for its caller is not held up by its webhook.
      if (id !== undefined) await probe.waitUntilTerminalOrInterrupted(id);
      hook.release();
      receivedNotifications(probe, hook, id ?? '');
      probe.expect(id !== undefined, 'No task was made while its webhook hung', {
        actual: `${response.decodeError ?? 'no answer'} after ${Math.round(performance.now() - began)} ms`,
      });
    },
  ),
]);
