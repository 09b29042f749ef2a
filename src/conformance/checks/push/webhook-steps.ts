import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { RuleViolationError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type { WebhookDraft } from '../../drivers/protocol-driver.ts';
import { type NormalizedEvent, asText } from '../../drivers/normalized-views.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';
import type { HookResponse, WebhookEndpoint, WebhookDelivery } from '../../wire/webhook-receiver.ts';

/** Returns the time to wait for a notification, in milliseconds. */
export function notificationTimeout(probe: Probe): number {
  return Math.min(probe.context.deadline, 10_000);
}

/** Waits for the first notification. @returns false on timeout. */
export function waitForFirst(probe: Probe, webhook: WebhookEndpoint): Promise<boolean> {
  return webhook.waitFor((received) => received.length > 0, notificationTimeout(probe));
}

/** Expects that a notification has arrived. */
export function expectNotified(probe: Probe, { received, url }: WebhookEndpoint): void {
  probe.expect(received.length > 0, 'No notification arrived', {
    expected: `a POST to ${url}`,
    actual: 'none',
  });
}

/** Opens a webhook. @throws InconclusiveError if the agent does not accept webhooks of the suite. */
export async function openWebhook(probe: Probe, respond?: HookResponse): Promise<WebhookEndpoint> {
  const { receiver, webhookAccess } = probe.context;
  await webhookAccess.require(probe);
  return receiver.openEndpoint(respond);
}

/** Creates a push configuration for a task, which must succeed. */
export async function registerWebhook(
  probe: Probe,
  taskId: string,
  webhook: WebhookDraft,
): Promise<JsonObject> {
  const response = await probe.call('createPush', { taskId, webhook });
  if (!isJsonObject(response.result))
    throw new RuleViolationError(
      `The push configuration could not be created: ${describeResponse(response)}`,
      { exchanges: [response.exchange] },
    );
  return response.result;
}

/** Returns the id of a push configuration. @throws RuleViolationError if it has none. */
export function pushConfigId(config: JsonObject): string {
  const id = asText(config.id);
  if (!id) throw new RuleViolationError('The push configuration has no id', { actual: config });
  return id;
}

/** Decodes the notifications of a webhook and reports them to the invariants. */
export function receivedNotifications(
  probe: Probe,
  webhook: WebhookEndpoint,
  taskId: string,
): NormalizedEvent[] {
  const { driver, context } = probe;
  return webhook.received.map((delivery) => {
    const exchange = toExchange(webhook, delivery);
    const body = parseJsonOrUndefined(delivery.body);
    const event = driver.decodeEvent(body);
    context.observe({ kind: 'push', driver, exchange, body, event, taskId });
    if (event.kind === 'task') {
      const { task } = event;
      context.observe({ kind: 'task', driver, exchange, task, from: 'push', trackedTask: undefined });
    }
    return event;
  });
}

/** Returns the task state of a notification, if it has one. */
export function notificationState(event: NormalizedEvent): string | undefined {
  if (event.kind === 'task') return event.task.state;
  return event.kind === 'status' ? event.state : undefined;
}

/** Converts a notification to an exchange in which the agent is the client. */
function toExchange({ url }: WebhookEndpoint, { method, headers, body }: WebhookDelivery): HttpExchange {
  const requestHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
  return {
    number: 0,
    method,
    url,
    requestHeaders,
    requestBody: body,
    status: 200,
    headers: {},
    body: '',
    hasInvalidUtf8: false,
    frames: [],
    end: 'complete',
    transportError: undefined,
    headersMs: 0,
    totalMs: 0,
  };
}
