import type { IncomingMessage, ServerResponse } from 'node:http';
import { A2AError } from '../../protocol/errors.ts';
import type { ReceivedNotification, PushReceiver } from './receiver.ts';

/** Handles news that are real and new. When it throws, the sender is asked to come again. */
export type NotificationHandler = (news: ReceivedNotification) => void | Promise<void>;

/** How a listener treats those who knock. */
export interface PushListenerOptions {
  /** How many bytes a notification may have. @defaultValue 10 MiB */
  maxBytes?: number;
  /** Hears of what the handler threw. */
  onError?: (error: unknown, news: ReceivedNotification) => void;
}

/**
 * Makes a listener for `node:http`, or for a framework that takes one, out of a receiver. It also answers the GET with
 * a `validationToken` by which some senders make sure that a webhook is wanted.
 */
export function pushListener(
  receiver: PushReceiver,
  handle: NotificationHandler,
  { maxBytes = 10 * 1_048_576, onError }: PushListenerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  async function answer(request: IncomingMessage): Promise<readonly [number, string]> {
    const { method, headers } = request;
    if (method === 'GET') return proof(request);
    if (method !== 'POST') return [405, 'A webhook takes POST'];
    const body = await bodyOf(request, maxBytes);
    const news = await receiver.receive({ headers, body });
    if (!news.ok) return [news.status, news.reason];
    if (news.isDuplicate) return [200, ''];
    try {
      await handle(news);
      return [200, ''];
    } catch (error) {
      receiver.forget(news.id);
      onError?.(error, news);
      return [500, 'The notification could not be handled'];
    }
  }
  return (request, response) => {
    answer(request).then(
      ([status, text]) => reply(response, status, text),
      (thrown: unknown) => {
        const isTooLarge = thrown instanceof A2AError && thrown.reason === 'PAYLOAD_TOO_LARGE';
        response.setHeader('connection', 'close');
        reply(response, isTooLarge ? 413 : 400, 'The notification could not be read');
      },
    );
  };
}

function proof({ url = '' }: IncomingMessage): readonly [number, string] {
  const token = new URL(url, 'http://webhook').searchParams.get('validationToken') ?? '';
  return /^[\w.~-]{1,256}$/.test(token) ? [200, token] : [405, 'A webhook takes POST'];
}

function reply(response: ServerResponse, status: number, text: string): void {
  if (status === 405) response.setHeader('allow', 'POST');
  response.writeHead(status, { 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' });
  response.end(text);
}

function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else reject(new A2AError('PAYLOAD_TOO_LARGE'));
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
