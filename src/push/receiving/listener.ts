import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from '../../primitives/node/read-body.ts';
import { isJsonMediaType, SameOriginCheck } from '../../primitives/web/same-origin-check.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { ReceivedNotification, PushReceiver } from './receiver.ts';

/** Handles a verified notification that is not a duplicate. If it throws, the response is 500 and the sender retries. */
export type NotificationHandler = (notification: ReceivedNotification) => void | Promise<void>;

/** Options of {@link pushListener}. */
export interface PushListenerOptions {
  /** Maximum size of a notification, in bytes. @defaultValue 10 MiB */
  maxBytes?: number;
  /** Host names that senders may use, besides local names. Used if the receiver requires no authentication. */
  allowedHosts?: readonly string[];
  /** Called with errors of the handler. */
  onError?: (error: unknown, notification: ReceivedNotification) => void;
}

/**
 * Creates a request listener for `node:http` or a compatible framework. It also responds to GET requests with a
 * `validationToken`, with which some senders verify a webhook.
 */
export function pushListener(
  receiver: PushReceiver,
  handle: NotificationHandler,
  { maxBytes = 10 * 1_048_576, allowedHosts, onError }: PushListenerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const sameOrigin = receiver.requiresAuthentication ? undefined : new SameOriginCheck({ allowedHosts });
  async function respond(request: IncomingMessage): Promise<readonly [number, string]> {
    const { method, headers, socket } = request;
    const problem = sameOrigin?.problem(headers, socket);
    if (problem !== undefined) return [403, problem];
    if (method === 'GET') return validationResponse(request);
    if (method !== 'POST') return [405, 'Use POST'];
    if (sameOrigin && !isJsonMediaType(headers['content-type']))
      return [415, 'The notification must be application/json'];
    const body = await readBody(request, maxBytes, () => new A2AError('PAYLOAD_TOO_LARGE'));
    const notification = await receiver.receive({ headers, body });
    if (!notification.ok) return [notification.status, notification.reason];
    if (notification.isDuplicate) return [200, ''];
    try {
      await handle(notification);
      return [200, ''];
    } catch (error) {
      receiver.forget(notification.id);
      onError?.(error, notification);
      return [500, 'The notification could not be processed'];
    }
  }
  return (request, response) => {
    respond(request).then(
      ([status, text]) => sendText(response, status, text),
      (thrown: unknown) => {
        const isTooLarge = thrown instanceof A2AError && thrown.reason === 'PAYLOAD_TOO_LARGE';
        response.setHeader('connection', 'close');
        sendText(response, isTooLarge ? 413 : 400, 'The notification could not be read');
      },
    );
  };
}

function validationResponse({ url = '' }: IncomingMessage): readonly [number, string] {
  const token = new URL(url, 'http://webhook').searchParams.get('validationToken') ?? '';
  return /^[\w.~-]{1,256}$/.test(token) ? [200, token] : [405, 'Use POST'];
}

function sendText(response: ServerResponse, status: number, text: string): void {
  if (status === 405) response.setHeader('allow', 'POST');
  response.writeHead(status, { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' });
  response.end(text);
}
