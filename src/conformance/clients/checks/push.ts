import { NotApplicableError } from '../../check-errors.ts';
import { asText, objectOf } from '../../drivers/normalized-views.ts';
import { must, should } from '../../rule-model.ts';
import type { JsonObject } from '../../../primitives/json.ts';
import { clientVersions, type ClientCheck, defineClientChecks } from '../client-check.ts';
import type { ClientProbe } from '../client-probe.ts';
import { type CallRequest, callsOf, type ClientRun, messagesOf } from '../client-run.ts';

/** Returns the webhook that a call registers, in the form of any version. */
function webhookOf({ call: { params } }: CallRequest): JsonObject | undefined {
  const configuration = objectOf(params.configuration);
  const candidates = [
    params,
    params.pushNotificationConfig,
    params.pushNotification,
    objectOf(params.config).pushNotificationConfig,
    configuration.taskPushNotificationConfig,
    configuration.pushNotificationConfig,
    configuration.pushNotification,
  ];
  return candidates.map(objectOf).find(({ url }) => typeof url === 'string');
}

function registeredWebhook(run: ClientRun): JsonObject | undefined {
  return [...callsOf(run, 'createPush'), ...messagesOf(run)]
    .map(webhookOf)
    .find((each) => each !== undefined);
}

function expectWebhook(probe: ClientProbe, run: ClientRun): JsonObject {
  const webhook = registeredWebhook(run);
  const url = asText(webhook?.url) ?? '';
  probe.expect(
    run,
    URL.canParse(url) && /^https?:/.test(url),
    'The client registered a webhook without a usable URL.',
    {
      actual: url,
    },
  );
  return webhook ?? {};
}

/** Checks how a client registers webhooks. */
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
  ],
);
