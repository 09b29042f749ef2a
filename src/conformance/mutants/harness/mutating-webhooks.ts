import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { parseJsonOrUndefined } from '../../../primitives/json.ts';
import type { WireMutation } from './mutant-agent.ts';

/** The webhooks of a run, put behind a wire, so that what is sent to them can be bent as well. */
export class MutatingWebhooks {
  readonly #url: string;
  readonly #fault: WireMutation;

  /** @param url - where the wire is. */
  constructor(url: string, fault: WireMutation) {
    this.#url = url;
    this.#fault = fault;
  }

  /** What the agent is told: that the webhooks are here. */
  outward(text: string): string {
    return text.replaceAll(/http:\/\/127\.0\.0\.1:(\d+)\/hook\/([\w-]+)/g, `${this.#url}/relay/$1/$2`);
  }

  /** What the caller is told: that they are where it said. */
  inward(text: string): string {
    return text
      .replaceAll(`${this.#url}/relay/`, 'http://127.0.0.1:')
      .replaceAll(/(127\.0\.0\.1:\d+)\/([\w]{8}-[\w-]{27})\b/g, '$1/hook/$2');
  }

  /** Passes a notification on. @returns false when it is none. */
  passed(incoming: IncomingMessage, body: string, response: ServerResponse): boolean {
    const [, port, id] = /^\/relay\/(\d+)\/([\w-]+)$/.exec(incoming.url ?? '') ?? [];
    if (port === undefined || id === undefined) return false;
    const { 'content-length': _length, ...headers } = incoming.headers;
    const notification = {
      method: incoming.method ?? 'POST',
      url: `http://127.0.0.1:${port}/hook/${id}`,
      headers,
      json: parseJsonOrUndefined(body),
    };
    const fate = this.#fault.notification?.(notification);
    if (fate === 'lost') {
      response.writeHead(200).end();
      return true;
    }
    const { method, url } = notification;
    const outgoing = httpRequest(url, { method, headers: notification.headers }, (answer) => {
      answer.resume();
      response.writeHead(fate === 'blind' ? 200 : (answer.statusCode ?? 200)).end();
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    outgoing.end(
      typeof notification.json === 'string' ? notification.json : JSON.stringify(notification.json),
    );
    return true;
  }
}
