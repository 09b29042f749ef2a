import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripTrailing } from '../../primitives/text.ts';

/** A received notification. */
export interface WebhookDelivery {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Returns the HTTP status of the response to a notification; `hang` sends no response. */
export type HookResponse = (notification: WebhookDelivery, count: number) => number | 'hang';

/** A webhook URL of a single check. */
export interface WebhookEndpoint {
  readonly url: string;
  readonly received: WebhookDelivery[];
  /** Waits until the predicate is true. @returns false if it is still false after `deadline` milliseconds. */
  waitFor(predicate: (received: readonly WebhookDelivery[]) => boolean, deadline: number): Promise<boolean>;
  /** Responds to hanging requests. Agents may throttle a hanging host, and all webhooks share one host. */
  release(): void;
}

interface EndpointState {
  readonly endpoint: WebhookEndpoint;
  respond: HookResponse;
  readonly hanging: Set<ServerResponse>;
  readonly wake: () => void;
}

/** HTTP server for notifications of the agent under test, on loopback or behind a public URL. */
export class WebhookReceiver {
  readonly #endpoints = new Map<string, EndpointState>();
  readonly #publicUrl: string | undefined;
  readonly #port: number;
  #server: Server | undefined;
  #listening: Promise<number> | undefined;

  /**
   * @param publicUrl - URL under which the agent reaches the receiver. @defaultValue `http://127.0.0.1` with a free port
   * @param port - port to listen on. @defaultValue the port of `publicUrl`, or a free port
   */
  constructor(publicUrl?: string, port?: number) {
    this.#publicUrl = publicUrl;
    this.#port = port ?? Number(publicUrl === undefined ? 0 : new URL(publicUrl).port);
  }

  async openEndpoint(respond: HookResponse = () => 200): Promise<WebhookEndpoint> {
    const port = await (this.#listening ??= this.#listen());
    const path = `/hook/${crypto.randomUUID()}`;
    const received: WebhookDelivery[] = [];
    const waiting = new Set<() => void>();
    const endpoint: WebhookEndpoint = {
      url: `${stripTrailing(this.#publicUrl ?? `http://127.0.0.1:${port}`, '/')}${path}`,
      received,
      waitFor: (predicate, deadline) =>
        new Promise((resolve) => {
          const check = (): void => {
            if (predicate(received)) finish(true);
          };
          const timer = setTimeout(() => finish(predicate(received)), deadline);
          const finish = (isTrue: boolean): void => {
            clearTimeout(timer);
            waiting.delete(check);
            resolve(isTrue);
          };
          waiting.add(check);
          check();
        }),
      release: () => {
        state.respond = () => 200;
        for (const response of state.hanging) response.writeHead(200).end();
        state.hanging.clear();
      },
    };
    const state: EndpointState = {
      endpoint,
      respond,
      hanging: new Set(),
      wake: () => waiting.forEach((check) => check()),
    };
    this.#endpoints.set(path, state);
    return endpoint;
  }

  #listen(): Promise<number> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= 1_048_576) chunks.push(chunk);
      });
      request.on('end', () => {
        // A reverse proxy may have added a path prefix.
        const [path = '/'] = /\/hook\/[\w-]+$/.exec((request.url ?? '/').split('?')[0] ?? '/') ?? [];
        const state = this.#endpoints.get(path);
        if (!state) {
          response.writeHead(404).end();
          return;
        }
        const notification = {
          method: request.method ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        };
        if (state.endpoint.received.length < 1_000) state.endpoint.received.push(notification);
        const status = state.respond(notification, state.endpoint.received.length);
        if (status === 'hang') state.hanging.add(response);
        else response.writeHead(status).end();
        state.wake();
      });
    });
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      const onListening = (): void => resolve((server.address() as AddressInfo).port);
      // With a public URL the requests may come from other hosts.
      if (this.#publicUrl === undefined) server.listen(this.#port, '127.0.0.1', onListening);
      else server.listen(this.#port, onListening);
    });
  }

  close(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }
}
