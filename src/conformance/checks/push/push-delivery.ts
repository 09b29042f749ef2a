import { sleep, systemClock } from '../../../primitives/clock.ts';
import { may, must, should } from '../../rule-model.ts';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import { terminalStates } from '../../observation/task-tracker.ts';
import type { WebhookEndpoint, WebhookDelivery } from '../../wire/webhook-receiver.ts';
import {
  expectNotified,
  receivedNotifications,
  pushConfigId,
  notificationTimeout,
  openWebhook,
  registerWebhook,
  notificationState,
  waitForFirst,
} from './webhook-steps.ts';

/** Waits for a terminal state or an undecodable notification, which another rule reports. @returns false on timeout. */
function waitForEnd(probe: Probe, webhook: WebhookEndpoint): Promise<boolean> {
  const isEnd = ({ body }: WebhookDelivery): boolean => {
    const event = probe.driver.decodeEvent(parseJsonOrUndefined(body));
    return event.kind === 'unknown' || terminalStates.has(notificationState(event) ?? '');
  };
  return webhook.waitFor((received) => received.some(isEnd), notificationTimeout(probe));
}

const shared = { category: 'lifecycle', versions: ['1.0'], preconditions: ['push'] } as const;

/** Delivery of notifications: sections 3.1.7, 4.3.3 and 13.2. */
export const pushDeliveryChecks = defineChecks(shared, [
  {
    id: 'push.delivers',
    ...must('3.1.7', 'PUSH-001', 'PUSH-012'),
    sentence: 'The agent sends updates of a working task to its webhooks.',
    remedy: 'Post each update of the task to its webhooks, including the last one.',
    async run(probe) {
      const { id: taskId } = await probe.startSlowTask();
      const webhook = await openWebhook(probe);
      await registerWebhook(probe, taskId, { url: webhook.url });
      const hasArrived = await waitForFirst(probe, webhook);
      await probe.call('cancel', { id: taskId });
      const hasEnd = hasArrived && (await waitForEnd(probe, webhook));
      receivedNotifications(probe, webhook, taskId);
      expectNotified(probe, webhook);
      probe.expect(hasEnd, 'The webhook did not receive the terminal state', {
        actual: `${webhook.received.length} other notifications`,
      });
    },
  },
  {
    id: 'push.inline',
    ...must('3.2.2', 'PUSH-001', 'PUSH-017'),
    sentence: 'The agent notifies a webhook that is registered with a message.',
    remedy: 'Register configuration.taskPushNotificationConfig for the task of the message.',
    async run(probe) {
      const webhook = await openWebhook(probe);
      const task = await probe.completeTask({ webhook: { url: webhook.url } });
      const hasEnd = await waitForEnd(probe, webhook);
      receivedNotifications(probe, webhook, task.id);
      expectNotified(probe, webhook);
      probe.expect(hasEnd, 'The webhook did not receive the terminal state');
    },
  },
  {
    id: 'push.lives',
    ...must('3.1.7', 'PUSH-002'),
    sentence: 'The agent keeps push configurations until the task ends, also while it is interrupted.',
    remedy: 'Keep configurations while a task is interrupted.',
    async run(probe) {
      const { id: taskId } = await probe.sendPrompt('input-required');
      const webhook = await openWebhook(probe);
      const config = await registerWebhook(probe, taskId, { url: webhook.url });
      await probe.expectResult('getPush', { taskId, id: pushConfigId(config) });
      await probe.call('send', { message: { text: 'this one', taskId } });
      const hasEnd = await waitForEnd(probe, webhook);
      receivedNotifications(probe, webhook, taskId);
      probe.expect(hasEnd, 'The webhook of an interrupted task did not receive the terminal state', {
        actual: `${webhook.received.length} notifications`,
      });
    },
  },
  {
    id: 'push.credentials',
    ...must('4.3.3', 'PUSH-011', 'PUSH-021'),
    sentence: 'The agent sends the configured credentials with each notification.',
    remedy:
      'Send Authorization: {scheme} {credentials} of the push configuration, separately for each webhook.',
    async run(probe) {
      const secrets = [crypto.randomUUID(), Buffer.from(`me:${crypto.randomUUID()}`).toString('base64')];
      const schemes = ['Bearer', 'Basic'];
      const { id: taskId } = await probe.startSlowTask();
      const webhooks: WebhookEndpoint[] = [];
      for (const [index, scheme] of schemes.entries()) {
        const webhook = await openWebhook(probe);
        await registerWebhook(probe, taskId, { url: webhook.url, scheme, credentials: secrets[index] ?? '' });
        webhooks.push(webhook);
      }
      await Promise.all(webhooks.map((webhook) => waitForFirst(probe, webhook)));
      await probe.call('cancel', { id: taskId });
      for (const [index, webhook] of webhooks.entries()) {
        receivedNotifications(probe, webhook, taskId);
        probe.expect(webhook.received.length > 0, 'No notification arrived at a webhook with credentials');
        const expected = `${schemes[index]} ${secrets[index]}`;
        for (const { headers } of webhook.received) {
          const header = String(headers.authorization ?? '');
          const [scheme = '', ...rest] = header.split(' ');
          probe.expect(
            scheme.toLowerCase() === schemes[index]?.toLowerCase() && rest.join(' ') === secrets[index],
            'A notification lacks the credentials of its webhook',
            { expected: `Authorization: ${expected}`, actual: header === '' ? 'no Authorization' : header },
          );
        }
      }
    },
  },
  {
    id: 'push.token',
    ...may('4.3.1', 'PUSH-011'),
    sentence: 'The agent sends the token of a push configuration with each notification.',
    remedy: 'Send the token as X-A2A-Notification-Token, as all SDKs do.',
    async run(probe) {
      const token = crypto.randomUUID();
      const webhook = await openWebhook(probe);
      const task = await probe.completeTask({ webhook: { url: webhook.url, token } });
      await waitForEnd(probe, webhook);
      receivedNotifications(probe, webhook, task.id);
      expectNotified(probe, webhook);
      for (const { headers } of webhook.received) {
        const message = 'A notification lacks the token of its webhook';
        probe.expectEqual(headers['x-a2a-notification-token'], token, message);
      }
    },
  },
  {
    id: 'push.two',
    ...must('4.3.3', 'PUSH-017'),
    sentence: 'The agent notifies every webhook of a task; a failing one does not block the others.',
    remedy: 'Deliver to each webhook independently.',
    async run(probe) {
      const { id: taskId } = await probe.startSlowTask();
      const failing = await openWebhook(probe, () => 500);
      const webhooks = [failing, await openWebhook(probe), await openWebhook(probe)];
      for (const webhook of webhooks) await registerWebhook(probe, taskId, { url: webhook.url });
      const notified = await Promise.all(webhooks.map((webhook) => waitForFirst(probe, webhook)));
      await probe.call('cancel', { id: taskId });
      for (const webhook of webhooks) receivedNotifications(probe, webhook, taskId);
      const count = notified.filter(Boolean).length;
      probe.expectEqual(count, webhooks.length, 'Not every webhook of the task was notified');
    },
  },
  {
    id: 'push.delete-stops',
    ...must('3.1.10', 'PUSH-009'),
    sentence: 'The agent sends no notifications to a deleted webhook.',
    remedy:
      'Look up the webhooks of a task for each event, and discard pending notifications of a deleted one.',
    async run(probe) {
      const { id: taskId } = await probe.startSlowTask();
      const [deleted, remaining] = [await openWebhook(probe), await openWebhook(probe)];
      const config = await registerWebhook(probe, taskId, { url: deleted.url });
      await registerWebhook(probe, taskId, { url: remaining.url });
      await waitForFirst(probe, deleted);
      await probe.expectResult('deletePush', { taskId, id: pushConfigId(config) });
      // Notifications in flight may still arrive.
      await sleep(systemClock, 150);
      const before = deleted.received.length;
      await probe.call('cancel', { id: taskId });
      const hasEnd = await waitForEnd(probe, remaining);
      await sleep(systemClock, 250);
      for (const webhook of [deleted, remaining]) receivedNotifications(probe, webhook, taskId);
      probe.expect(hasEnd, 'The remaining webhook did not receive the terminal state');
      probe.expectEqual(deleted.received.length, before, 'A deleted webhook received a notification');
    },
  },
  {
    id: 'push.retries',
    ...should('13.2', 'PUSH-018', 'PUSH-023'),
    sentence: 'The agent retries a failed notification.',
    remedy: 'Retry with exponential backoff if a webhook returns 5xx or does not respond.',
    async run(probe) {
      const rejected = new Set<string>();
      const webhook = await openWebhook(probe, ({ body }) => {
        // Each notification fails once.
        if (rejected.has(body)) return 200;
        rejected.add(body);
        return 503;
      });
      const task = await probe.completeTask({ webhook: { url: webhook.url } });
      const hasRepeated = (received: readonly WebhookDelivery[]): boolean =>
        new Set(received.map(({ body }) => body)).size < received.length;
      const isRetried = await webhook.waitFor(hasRepeated, notificationTimeout(probe));
      receivedNotifications(probe, webhook, task.id);
      probe.expect(isRetried, 'A notification was not retried after 503', {
        expected: `a second attempt within ${notificationTimeout(probe)} ms`,
        actual: `${webhook.received.length} notifications, each once`,
      });
    },
  },
  {
    id: 'push.hangs',
    ...should('4.3.3', 'PUSH-019', 'PUSH-022'),
    sentence: 'A webhook that does not respond does not block its task.',
    remedy: 'Deliver in the background, with a timeout of 10 to 30 seconds.',
    async run(probe) {
      const webhook = await openWebhook(probe, () => 'hang');
      const startedAt = performance.now();
      const message = probe.prompts.promptFor('completed');
      const response = await probe.call('send', { message, webhook: { url: webhook.url } });
      if (probe.driver.decodeMessage(response.result))
        throw new InconclusiveError('The agent responds with a direct message and creates no task.');
      const id = probe.driver.decodeTask(response.result)?.id;
      // An interrupted task is not blocked by its webhook.
      if (id !== undefined) await probe.waitUntilTerminalOrInterrupted(id);
      webhook.release();
      receivedNotifications(probe, webhook, id ?? '');
      probe.expect(id !== undefined, 'No task was created while its webhook did not respond', {
        actual: `${response.decodeError ?? 'no response'} after ${Math.round(performance.now() - startedAt)} ms`,
      });
    },
  },
]);
