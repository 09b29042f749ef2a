import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import type { WireMutation } from './mutant-agent.ts';

/** Redirects the webhooks of the suite through the proxy, so that notifications can be mutated. */
export class MutatingWebhooks {
  readonly #url: string;
  readonly #mutation: WireMutation;

  /** @param url - URL of the proxy. */
  constructor(url: string, mutation: WireMutation) {
    this.#url = url;
    this.#mutation = mutation;
  }

  /** Replaces webhook URLs of the suite with URLs of the proxy. */
  toProxyUrls(text: string): string {
    return text.replaceAll(/http:\/\/127\.0\.0\.1:(\d+)\/hook\/([\w-]+)/g, `${this.#url}/relay/$1/$2`);
  }

  /** Replaces URLs of the proxy with the original webhook URLs. */
  toOriginalUrls(text: string): string {
    return text
      .replaceAll(`${this.#url}/relay/`, 'http://127.0.0.1:')
      .replaceAll(/(127\.0\.0\.1:\d{1,5}\/)(\w{8}-)/g, '$1hook/$2');
  }

  /** Forwards a notification. @returns false if the request is not a notification */
  forward(incoming: IncomingMessage, body: string, response: ServerResponse): boolean {
    const [, port, id] = /^\/relay\/(\d+)\/([\w-]+)$/.exec(incoming.url ?? '') ?? [];
    if (port === undefined || id === undefined) return false;
    const { 'content-length': _length, ...headers } = incoming.headers;
    const notification = {
      method: incoming.method ?? 'POST',
      url: `http://127.0.0.1:${port}/hook/${id}`,
      headers,
      json: parseJsonOrUndefined(body),
    };
    const outcome = this.#mutation.notification?.(notification);
    if (outcome === 'lost') {
      response.writeHead(200).end();
      return true;
    }
    const { method, url } = notification;
    const outgoing = httpRequest(url, { method, headers: notification.headers }, (webhookResponse) => {
      webhookResponse.resume();
      response.writeHead(outcome === 'blind' ? 200 : (webhookResponse.statusCode ?? 200)).end();
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    outgoing.end(
      typeof notification.json === 'string' ? notification.json : JSON.stringify(notification.json),
    );
    return true;
  }
}
