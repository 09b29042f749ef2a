import { isJsonObject } from '../primitives/json.ts';
import { InconclusiveError } from './check-errors.ts';
import { isLoopbackUrl } from './checks/push/loopback.ts';
import type { DecodedResponse } from './drivers/protocol-driver.ts';
import type { Advise } from './prompts/missing-input.ts';
import type { Probe } from './probe.ts';

/** A webhook that is not on the local host. It is never called, because its task sends no events. */
const publicUrl = 'https://webhook.example.com/a2a';

const rejection = (): InconclusiveError =>
  new InconclusiveError('The agent rejects webhooks on the local host.', { kind: 'webhook-url' });

/** Finds out once whether the agent accepts the webhooks of the suite. */
export class WebhookAccess {
  #isRejected: Promise<boolean> | undefined;

  /** @throws InconclusiveError if the agent rejects webhooks on the local host, but not all others. */
  async require(probe: Probe): Promise<void> {
    if (await (this.#isRejected ??= rejectsLocalWebhooks(probe))) throw rejection();
  }

  /** Returns the warning for the report, or undefined if webhooks are accepted or were not tested. */
  async warning(advise: Advise): Promise<string | undefined> {
    return (await this.#isRejected) ? rejection().messageWith(advise) : undefined;
  }
}

async function rejectsLocalWebhooks(probe: Probe): Promise<boolean> {
  const { url } = await probe.context.receiver.openEndpoint();
  if (!isLoopbackUrl(url)) return false;
  try {
    const task = await (probe.prompts.knows('input-required')
      ? probe.sendPrompt('input-required')
      : probe.completeTask());
    const create = (webhookUrl: string): Promise<DecodedResponse> =>
      probe.call('createPush', { taskId: task.id, webhook: { url: webhookUrl } });
    const { error } = await create(url);
    if (!error) return false;
    const reason = error.message + JSON.stringify(error.details ?? '');
    return mentionsAddress(reason) || isJsonObject((await create(publicUrl)).result);
  } catch {
    // The checks report the error.
    return false;
  }
}

function mentionsAddress(text: string): boolean {
  return /loopback|private|local|egress|ssrf|https|not (allowed|permitted|public)|forbidden|blocked/i.test(
    text,
  );
}
