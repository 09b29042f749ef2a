import type { JsonObject } from '../../../primitives/json.ts';
import { asText, objectOf } from '../../drivers/normalized-views.ts';
import { RawHttpClient } from '../../wire/raw-http-client.ts';
import type { ReceivedCall } from './received-request.ts';
import { type TaskContent, wireFormat } from './wire-content.ts';
import { parseUrl } from '../../../primitives/web/parse-url.ts';

/** A notification to the webhook of the client, and its response. */
export interface SentNotification {
  readonly kind: NotificationKind;
  /** 0 if there was no response. */
  readonly status: number;
}

/** `valid`: as the client registered it. `forged`: with a wrong token and wrong credentials. */
export type NotificationKind = 'valid' | 'forged';

/** Returns the webhook that a call registers, in the form of any version. */
export function webhookOf({ params }: ReceivedCall): JsonObject | undefined {
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

/** Returns true if the notifications of a webhook can be authenticated. */
export function isAuthenticated({ token, authentication }: JsonObject): boolean {
  return asText(token) !== undefined || asText(objectOf(authentication).credentials) !== undefined;
}

/** Returns true if the suite may send requests to the webhook: it must not reach other hosts. */
export function isOnLoopback({ url }: JsonObject): boolean {
  const parsed = parseUrl(asText(url) ?? '');
  if (!parsed) return false;
  const { protocol, hostname } = parsed;
  return /^https?:$/.test(protocol) && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

/** Sends notifications about a completed task to a webhook, one after the other. */
export async function notifyWebhook(
  call: ReceivedCall,
  webhook: JsonObject,
  task: TaskContent,
  kinds: readonly NotificationKind[],
): Promise<SentNotification[]> {
  const { version, transport } = call;
  const http = new RawHttpClient({ deadline: 10_000, insecure: true });
  const format = wireFormat(version, version === '0.3' ? 'JSONRPC' : transport);
  // Before 1.0, a notification is a task without a wrapper.
  const body = JSON.stringify(version === '1.0' ? format.event({ kind: 'task', task }) : format.task(task));
  const sent: SentNotification[] = [];
  try {
    for (const kind of kinds) {
      const headers = {
        'content-type': version === '1.0' ? 'application/a2a+json' : 'application/json',
        ...(version === '1.0' ? { 'a2a-version': '1.0' } : {}),
        ...credentialsOf(webhook, kind),
      };
      const { status } = await http.send({ method: 'POST', url: asText(webhook.url) ?? '', headers, body });
      sent.push({ kind, status });
    }
  } finally {
    http.close();
  }
  return sent;
}

function credentialsOf(
  { token, authentication }: JsonObject,
  kind: NotificationKind,
): Record<string, string> {
  const { scheme, schemes, credentials } = objectOf(authentication);
  const name = asText(scheme) ?? (Array.isArray(schemes) ? asText(schemes[0]) : undefined);
  const forge = (text: string): string => (kind === 'forged' ? `not-${text}` : text);
  return {
    ...(asText(token) === undefined ? {} : { 'x-a2a-notification-token': forge(asText(token) ?? '') }),
    ...(name === undefined ? {} : { authorization: `${name} ${forge(asText(credentials) ?? '')}` }),
  };
}
