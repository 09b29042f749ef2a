import { dialectForVersion } from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { previewOf } from '../../dialects/v1_1/index.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { PushConfig } from '../../protocol/push.ts';
import type { Task } from '../../protocol/task.ts';

/** Header with the delivery id; a redelivery has the same id, so that receivers can deduplicate. */
export const deliveryIdHeader = 'x-a2a-delivery-id';
/** Header with the token of the push configuration. */
export const tokenHeader = 'x-a2a-notification-token';

/** One push notification request. */
export interface Notification {
  /** The same in every attempt. */
  readonly id: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the dialect in which the webhook was registered. Notifications use the same. */
export function dialectForConfig({ version = '1.0' }: PushConfig): Dialect {
  return dialectForVersion(version as ProtocolVersion);
}

/** Returns true if an event causes a notification. Before 1.0 only status changes do, with the complete task. */
export function isNotifiable(event: StreamEvent, dialect: Dialect): boolean {
  return dialect.version === '1.0' || event.kind === 'status' || event.kind === 'task';
}

/** Serialized 1.0 bodies, shared by all webhooks of a task. */
const bodyCache = new WeakMap<StreamEvent, string>();

/** Creates the notification of an event. */
export function writeNotification(config: PushConfig, event: StreamEvent, task: () => Task): Notification {
  const dialect = dialectForConfig(config);
  const { token, authentication } = config;
  const headers: Record<string, string> = {
    'content-type': dialect.restMediaType,
    [deliveryIdHeader]: deliveryId(config, event.sequence ?? 0),
  };
  if (token !== undefined && token !== '') headers[tokenHeader] = token;
  if (authentication?.scheme && authentication.credentials)
    headers['authorization'] = `${authentication.scheme} ${authentication.credentials}`;
  return {
    id: headers[deliveryIdHeader] ?? '',
    url: config.url,
    headers,
    body: dialect.version === '1.0' ? cachedBody(event, dialect, task) : serializeBody(event, dialect, task),
  };
}

function cachedBody(event: StreamEvent, dialect: Dialect, task: () => Task): string {
  let body = bodyCache.get(event);
  if (body === undefined) bodyCache.set(event, (body = serializeBody(event, dialect, task)));
  return body;
}

function serializeBody(event: StreamEvent, registered: Dialect, task: () => Task): string {
  const dialect = hasGeneration(event) ? previewOf(registered) : registered;
  // A 1.0 notification contains only the event.
  const fullTask = dialect.version === '1.0' ? undefined : task();
  return JSON.stringify(dialect.notification.write(event, fullTask as Task));
}

/** Returns true for events of tasks that a server with a preview of 1.1 has created. */
function hasGeneration(event: StreamEvent): boolean {
  const { generation } = event.kind === 'task' ? event.task : (event as { generation?: number });
  return generation !== undefined;
}

/** Encodes ids, which may contain any characters, for a header. */
function deliveryId({ taskId, id }: PushConfig, sequence: number): string {
  return `${encodeId(taskId)}:${encodeId(id)}:${sequence}`;
}

function encodeId(text: string): string {
  // The conversion to UTF-8 replaces lone surrogates, for which encodeURIComponent() throws.
  return encodeURIComponent(Buffer.from(text).toString());
}
