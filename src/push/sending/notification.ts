import { dialectForVersion } from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { PushConfig } from '../../protocol/push.ts';
import type { Task } from '../../protocol/task.ts';

/** The header that names a notification; one that comes again has the same name. */
export const deliveryIdHeader = 'x-a2a-delivery-id';
/** The header that gives the webhook its token back. */
export const tokenHeader = 'x-a2a-notification-token';

/** One notification, ready to be sent as often as it takes. */
export interface Notification {
  /** The same in every attempt. */
  readonly id: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The dialect that registered a webhook, in which it is spoken to. */
export function dialectForConfig({ version = '1.0' }: PushConfig): Dialect {
  return dialectForVersion(version as ProtocolVersion);
}

/** True when an event is worth a notification: before 1.0 they carry the whole task, and only its status counts. */
export function isNotifiable(event: StreamEvent, dialect: Dialect): boolean {
  return dialect.version === '1.0' || event.kind === 'status' || event.kind === 'task';
}

/** What was written for one webhook of a task is good for the others. */
const written = new WeakMap<StreamEvent, string>();

/** Writes the notification of an event. */
export function writeNotification(config: PushConfig, event: StreamEvent, task: () => Task): Notification {
  const dialect = dialectForConfig(config);
  const { token, authentication } = config;
  const headers: Record<string, string> = {
    'content-type': dialect.restMediaType,
    [deliveryIdHeader]: idOf(config, event.sequence ?? 0),
  };
  if (token !== undefined && token !== '') headers[tokenHeader] = token;
  if (authentication?.scheme && authentication.credentials)
    headers['authorization'] = `${authentication.scheme} ${authentication.credentials}`;
  return {
    id: headers[deliveryIdHeader] ?? '',
    url: config.url,
    headers,
    body: dialect.version === '1.0' ? wrapped(event, dialect, task) : bodyOf(event, dialect, task),
  };
}

function wrapped(event: StreamEvent, dialect: Dialect, task: () => Task): string {
  let body = written.get(event);
  if (body === undefined) written.set(event, (body = bodyOf(event, dialect, task)));
  return body;
}

function bodyOf(event: StreamEvent, dialect: Dialect, task: () => Task): string {
  // 1.0 says the event and needs no task, which is not at hand in the middle of one.
  const whole = dialect.version === '1.0' ? undefined : task();
  return JSON.stringify(dialect.notification.write(event, whole as Task));
}

/** Ids are anybody's words, and a header takes few characters. */
function idOf({ taskId, id }: PushConfig, sequence: number): string {
  return `${plain(taskId)}:${plain(id)}:${sequence}`;
}

function plain(text: string): string {
  // By way of UTF-8, which has no half characters.
  return encodeURIComponent(Buffer.from(text).toString());
}
