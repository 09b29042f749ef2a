import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A received notification. */
export interface ReceivedPost {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // oxlint-disable-next-line no-explicit-any
  body: any;
  /** Value of `X-A2A-Delivery-Id`. */
  id: string;
}

/** Response to a notification: an HTTP status, optionally with headers, no response, or a connection reset. */
export type WebhookBehavior = number | 'hang' | 'reset' | { status: number; headers: Record<string, string> };

/** A local webhook that records all notifications. */
export class TestWebhook {
  readonly received: ReceivedPost[] = [];
  /** Notifications with the response 200. */
  readonly accepted: ReceivedPost[] = [];
  behavior: (post: ReceivedPost) => WebhookBehavior;
  port = 0;
  /** All responses wait for this promise. */
  hold: Promise<void> = Promise.resolve();
  #server: Server | undefined = undefined;
  #sockets = new Set<Socket>();
  #waiting: { predicate: () => boolean; resolve: () => void }[] = [];

  constructor(behavior: (post: ReceivedPost) => WebhookBehavior = () => 200) {
    this.behavior = behavior;
  }

  /** Starts listening; after a restart on the same port as before. */
  async start(): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => {});
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { headers, url: path = '' } = request;
        const id = String(headers['x-a2a-delivery-id']);
        const post: ReceivedPost = { path, headers, text, body: JSON.parse(text), id };
        this.received.push(post);
        this.#wakeWaiters();
        void this.hold.then(() => this.#respond(post, response));
      });
    });
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Stops listening and destroys all connections. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  /** Waits until a predicate holds; it is evaluated with every notification. */
  waitUntil(predicate: () => boolean): Promise<void> {
    if (predicate()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ predicate, resolve }));
  }

  #respond(post: ReceivedPost, response: ServerResponse): void {
    const behavior = this.behavior(post);
    if (behavior === 200) this.accepted.push(post);
    if (behavior === 'reset') response.socket?.resetAndDestroy();
    else if (typeof behavior === 'object') response.writeHead(behavior.status, behavior.headers).end();
    else if (behavior !== 'hang') response.writeHead(behavior).end();
    this.#wakeWaiters();
  }

  #wakeWaiters(): void {
    this.#waiting = this.#waiting.filter(({ predicate, resolve }) => {
      if (!predicate()) return true;
      resolve();
      return false;
    });
  }
}

/** Waits until a predicate holds; it is evaluated once per turn of the event loop. */
export async function waitUntilTrue(predicate: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await predicate())) await new Promise((resolve) => setImmediate(resolve));
}
