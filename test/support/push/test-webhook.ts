import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A notification as it came. */
export interface ReceivedPost {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // oxlint-disable-next-line no-explicit-any
  body: any;
  /** The name of the delivery. */
  id: string;
}

/** What a webhook does with a notification: an HTTP status, with headers perhaps, silence, or a broken connection. */
export type WebhookBehavior = number | 'hang' | 'reset' | { status: number; headers: Record<string, string> };

/** A webhook on this machine that answers as it is told and remembers everything. */
export class TestWebhook {
  readonly posted: ReceivedPost[] = [];
  /** Those that were answered with 200. */
  readonly taken: ReceivedPost[] = [];
  manner: (posted: ReceivedPost) => WebhookBehavior;
  port = 0;
  /** What every answer waits for. */
  hold: Promise<void> = Promise.resolve();
  #server: Server | undefined = undefined;
  #sockets = new Set<Socket>();
  #waiting: { isSo: () => boolean; resolve: () => void }[] = [];

  constructor(manner: (posted: ReceivedPost) => WebhookBehavior = () => 200) {
    this.manner = manner;
  }

  /** Begins to listen, at the same port as before if there was one. */
  async start(): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => {});
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { headers, url: path = '' } = request;
        const id = String(headers['x-a2a-delivery-id']);
        const posted: ReceivedPost = { path, headers, text, body: JSON.parse(text), id };
        this.posted.push(posted);
        this.#tell();
        void this.hold.then(() => this.#answer(posted, response));
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

  /** Is gone, connections and all. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  /** Waits until something is so; it is looked at with every notification. */
  until(isSo: () => boolean): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ isSo, resolve }));
  }

  #answer(posted: ReceivedPost, response: ServerResponse): void {
    const manner = this.manner(posted);
    if (manner === 200) this.taken.push(posted);
    if (manner === 'reset') response.socket?.resetAndDestroy();
    else if (typeof manner === 'object') response.writeHead(manner.status, manner.headers).end();
    else if (manner !== 'hang') response.writeHead(manner).end();
    this.#tell();
  }

  #tell(): void {
    this.#waiting = this.#waiting.filter(({ isSo, resolve }) => {
      if (!isSo()) return true;
      resolve();
      return false;
    });
  }
}

/** Waits, turn by turn of the event loop, until something is so. */
export async function waitUntilTrue(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}
