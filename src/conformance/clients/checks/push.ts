import { InconclusiveError, NotApplicableError } from '../../check-errors.ts';
import { asText } from '../../drivers/normalized-views.ts';
import { must, should } from '../../rule-model.ts';
import type { JsonObject } from '../../../primitives/json.ts';
import { type ClientCheck, clientVersions, defineClientChecks } from '../client-check.ts';
import type { ClientProbe } from '../client-probe.ts';
import { callsOf, type ClientRun, describeExit, messagesOf } from '../client-run.ts';
import {
  isAuthenticated,
  isOnLoopback,
  type NotificationKind,
  webhookOf,
} from '../server/webhook-notifier.ts';
import { isUrl } from '../../../primitives/web/parse-url.ts';

function expectWebhook(probe: ClientProbe, run: ClientRun): JsonObject {
  const calls = [...callsOf(run, 'createPush'), ...messagesOf(run)];
  const webhook = calls.map(({ call }) => webhookOf(call)).find((each) => each !== undefined);
  const url = asText(webhook?.url) ?? '';
  probe.expect(
    run,
    isUrl(url) && /^https?:/.test(url),
    'The client registered a webhook without a usable URL.',
    {
      actual: url,
    },
  );
  return webhook ?? {};
}

/** Notifies the webhook of the client. @returns the status of the response to the first notification */
async function notify(
  probe: ClientProbe,
  kinds: readonly NotificationKind[],
): Promise<[run: ClientRun, status: number]> {
  const known = expectWebhook(probe, probe.require('push'));
  if (!isOnLoopback(known)) throw new NotApplicableError('The client registers no webhook on loopback.');
  if (kinds.includes('forged') && !isAuthenticated(known))
    throw new NotApplicableError('The client registers webhooks without a token and without credentials.');
  const run = await probe.run('push', { notifications: kinds });
  const [first] = run.notifications;
  if (!first || first.status === 0)
    throw new InconclusiveError(
      `The webhook of the client did not respond (${describeExit(run)}): run it until the task is completed.`,
    );
  return [run, first.status];
}

const isAcknowledged = (status: number): boolean => status >= 200 && status < 300;

/** Checks how a client registers webhooks and receives notifications. */
export const pushChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'lifecycle', versions: clientVersions, needs: 'push' },
  [
    {
      id: 'client-push.registers',
      ...must('3.1.7', 'PUSH-001'),
      sentence: 'A client registers a webhook with an absolute URL.',
      remedy: 'Send the member url in the form of the version.',
      async run(probe) {
        const run = probe.require('push');
        expectWebhook(probe, run);
        probe.expectExitZero(run, 'the agent stored the webhook');
      },
    },
    {
      id: 'client-push.token',
      ...should('13.2', 'PUSH-035'),
      sentence: 'A client uses a new token for each webhook that it registers.',
      remedy: 'Create a random token for each configuration, and compare it with that of the notifications.',
      async run(probe) {
        const first = probe.require('push');
        const second = await probe.run('push');
        const tokens = [first, second].map((run) => asText(expectWebhook(probe, run).token));
        if (tokens[0] === undefined && tokens[1] === undefined)
          throw new NotApplicableError('The client registers webhooks without a token.');
        probe.expect(second, tokens[0] !== tokens[1], 'Two webhooks have the same token.');
      },
    },
    {
      id: 'client-push.acknowledges',
      ...must('4.3.3', 'PUSH-013', 'PUSH-028'),
      sentence: 'The webhook of a client acknowledges a notification with a status of 2xx.',
      remedy: 'Respond with 200 or 204 as soon as the notification is received.',
      async run(probe) {
        const [run, status] = await notify(probe, ['valid']);
        probe.expect(run, isAcknowledged(status), 'The webhook did not acknowledge a valid notification.', {
          expected: '2xx',
          actual: status,
        });
      },
    },
    {
      id: 'client-push.verifies',
      ...must('13.2', 'PUSH-026', 'PUSH-016'),
      sentence: 'The webhook of a client rejects notifications without the registered token or credentials.',
      remedy:
        'Compare X-A2A-Notification-Token and Authorization with the registered values, in constant time.',
      async run(probe) {
        const [run, status] = await notify(probe, ['forged', 'valid']);
        probe.expect(
          run,
          !isAcknowledged(status),
          'The webhook acknowledged a notification with a wrong token.',
          {
            expected: '401 or 403',
            actual: status,
          },
        );
      },
    },
  ],
);
