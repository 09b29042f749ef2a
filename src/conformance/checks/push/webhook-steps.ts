import { readJson } from '../../../primitives/json.ts';
import { Broken, Inconclusive } from '../../check-errors.ts';
import { described, type Probe } from '../../probe.ts';
import type { Webhook } from '../../drivers/protocol-driver.ts';
import { type EventView, isObject, type Json, textIn } from '../../drivers/normalized-views.ts';
import type { Exchange } from '../../wire/http-exchange.ts';
import type { Hook, Notification } from '../../wire/webhook-receiver.ts';
import { isLoopback } from './loopback.ts';

/** For how many milliseconds a notification is waited for. */
export function patience(probe: Probe): number {
  return Math.min(probe.tools.deadline, 10_000);
}

/** Registers a webhook for a task, which must succeed. */
export async function register(probe: Probe, taskId: string, webhook: Webhook): Promise<Json> {
  const heard = await probe.ask('createPush', { taskId, webhook });
  if (
    heard.fault &&
    isLoopback(webhook.url) &&
    isAboutAddress(heard.fault.message + JSON.stringify(heard.fault.details ?? ''))
  )
    throw new Inconclusive(
      `The agent takes no webhook on this machine (${described(heard)}). Give an address that it reaches with --webhook-url.`,
    );
  if (!isObject(heard.result))
    throw new Broken(`A webhook could not be registered: ${described(heard)}`, {
      expected: 'the configuration with its id',
      actual: described(heard),
      exchanges: [heard.exchange],
    });
  return heard.result;
}

function isAboutAddress(text: string): boolean {
  return /loopback|private|local|egress|ssrf|https|not (allowed|permitted|public)|forbidden|blocked/i.test(
    text,
  );
}

/** The id of a configuration, which must have one. */
export function idOf(config: Json): string {
  const id = textIn(config.id);
  if (!id) throw new Broken('The configuration has no id', { actual: JSON.stringify(config).slice(0, 200) });
  return id;
}

/** What arrived at a webhook, shown to every invariant. */
export function arrivals(probe: Probe, hook: Hook, taskId: string): EventView[] {
  const { speech, tools } = probe;
  return hook.received.map((notification) => {
    const exchange = exchangeOf(hook, notification);
    const body = readJson(notification.body);
    const event = speech.eventOf(body);
    tools.see({ kind: 'push', speech, exchange, body, event, taskId });
    if (event.kind === 'task')
      tools.see({ kind: 'task', speech, exchange, task: event.task, from: 'push', shadow: undefined });
    return event;
  });
}

/** The state that an event tells of, if it does. */
export function stateOf(event: EventView): string | undefined {
  if (event.kind === 'task') return event.task.state;
  return event.kind === 'status' ? event.state : undefined;
}

/** A notification as one more exchange, in which the agent was the one who asked. */
function exchangeOf(hook: Hook, { method, headers, body }: Notification): Exchange {
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
    isBroken: false,
    frames: [],
    end: 'complete',
    trouble: undefined,
    headAfter: 0,
    endAfter: 0,
  };
}
