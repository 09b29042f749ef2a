import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { RuleViolationError, InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import type { WebhookDraft } from '../../drivers/protocol-driver.ts';
import { type NormalizedEvent, asText } from '../../drivers/normalized-views.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';
import type { WebhookEndpoint, WebhookDelivery } from '../../wire/webhook-receiver.ts';
import { isLoopbackUrl } from './loopback.ts';

/** For how many milliseconds a notification is waited for. */
export function notificationTimeout(probe: Probe): number {
  return Math.min(probe.context.deadline, 10_000);
}

/** Registers a webhook for a task, which must succeed. */
export async function registerWebhook(
  probe: Probe,
  taskId: string,
  webhook: WebhookDraft,
): Promise<JsonObject> {
  const response = await probe.call('createPush', { taskId, webhook });
  if (
    response.error &&
    isLoopbackUrl(webhook.url) &&
    isAboutAddress(response.error.message + JSON.stringify(response.error.details ?? ''))
  )
    throw new InconclusiveError(
      `The agent takes no webhook on this machine (${describeResponse(response)}). Give an address that it reaches with --webhook-url.`,
    );
  if (!isJsonObject(response.result))
    throw new RuleViolationError(`A webhook could not be registered: ${describeResponse(response)}`, {
      expected: 'the configuration with its id',
      actual: describeResponse(response),
      exchanges: [response.exchange],
    });
  return response.result;
}

function isAboutAddress(text: string): boolean {
  return /loopback|private|local|egress|ssrf|https|not (allowed|permitted|public)|forbidden|blocked/i.test(
    text,
  );
}

/** The id of a configuration, which must have one. */
export function pushConfigId(config: JsonObject): string {
  const id = asText(config.id);
  if (!id)
    throw new RuleViolationError('The configuration has no id', {
      actual: JSON.stringify(config).slice(0, 200),
    });
  return id;
}

/** What arrived at a webhook, shown to every invariant. */
export function receivedNotifications(
  probe: Probe,
  hook: WebhookEndpoint,
  taskId: string,
): NormalizedEvent[] {
  const { driver, context } = probe;
  return hook.received.map((notification) => {
    const exchange = exchangeOf(hook, notification);
    const body = parseJsonOrUndefined(notification.body);
    const event = driver.decodeEvent(body);
    context.observe({ kind: 'push', driver, exchange, body, event, taskId });
    if (event.kind === 'task')
      context.observe({
        kind: 'task',
        driver,
        exchange,
        task: event.task,
        from: 'push',
        trackedTask: undefined,
      });
    return event;
  });
}

/** The state that an event tells of, if it does. */
export function notificationState(event: NormalizedEvent): string | undefined {
  if (event.kind === 'task') return event.task.state;
  return event.kind === 'status' ? event.state : undefined;
}

/** A notification as one more exchange, in which the agent was the one who asked. */
function exchangeOf(hook: WebhookEndpoint, { method, headers, body }: WebhookDelivery): HttpExchange {
  const requestHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );
  return {
    number: 0,
    method,
    url: hook.url,
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
