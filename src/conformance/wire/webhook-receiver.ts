import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A notification that arrived. */
export interface WebhookDelivery {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Milliseconds since the receiver began. */
  readonly at: number;
}

/** How a hook answers: with a status, or not at all. */
export type HookResponse = (notification: WebhookDelivery, count: number) => number | 'hang';

/** One address for notifications, for one check alone. */
export interface WebhookEndpoint {
  readonly url: string;
  readonly received: WebhookDelivery[];
  /** Waits until enough arrived. @returns false when they did not within the deadline. */
  waitFor(enough: (received: readonly WebhookDelivery[]) => boolean, deadline: number): Promise<boolean>;
  /** Answers whoever was left hanging: careful agents send little to a host that hangs, and all hooks are at one. */
  release(): void;
}

/** A hook and what belongs to it. */
interface Kept {
  readonly hook: WebhookEndpoint;
  answer: HookResponse;
  readonly hanging: Set<ServerResponse>;
  readonly wake: () => void;
}

/** Where agents under test send notifications: a server on loopback, or behind an address that the person gave. */
export class WebhookReceiver {
  readonly #hooks = new Map<string, Kept>();
  readonly #publicUrl: string | undefined;
  readonly #port: number;
  readonly #began = performance.now();
  #server: Server | undefined;
  #opening: Promise<number> | undefined;

  /**
   * @param publicUrl - how the agent reaches us. @defaultValue `http://127.0.0.1` and a free port
   * @param port - where we listen. @defaultValue the port in the address, or a free one
   */
  constructor(publicUrl?: string, port?: number) {
    this.#publicUrl = publicUrl;
    this.#port = port ?? Number(publicUrl === undefined ? 0 : new URL(publicUrl).port);
  }

  /** Opens an address. */
  async openEndpoint(answer: HookResponse = () => 200): Promise<WebhookEndpoint> {
    const port = await (this.#opening ??= this.#open());
    const path = `/hook/${crypto.randomUUID()}`;
    const received: WebhookDelivery[] = [];
    const waiting = new Set<() => void>();
    const hook: WebhookEndpoint = {
      url: `${this.#publicUrl?.replace(/\/+$/, '') ?? `http://127.0.0.1:${port}`}${path}`,
      received,
      waitFor: (enough, deadline) =>
        new Promise((resolve) => {
          const look = (): void => {
            if (enough(received)) finish(true);
          };
          const timer = setTimeout(() => finish(enough(received)), deadline);
          const finish = (isEnough: boolean): void => {
            clearTimeout(timer);
            waiting.delete(look);
            resolve(isEnough);
          };
          waiting.add(look);
          look();
        }),
      release: () => {
        kept.answer = () => 200;
        for (const response of kept.hanging) response.writeHead(200).end();
        kept.hanging.clear();
      },
    };
    const kept: Kept = { hook, answer, hanging: new Set(), wake: () => waiting.forEach((look) => look()) };
    this.#hooks.set(path, kept);
    return hook;
  }

  #open(): Promise<number> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= 1_048_576) chunks.push(chunk);
      });
      request.on('end', () => {
        // Whoever leads others here may have put something before it.
        const [path = '/'] = /\/hook\/[\w-]+$/.exec((request.url ?? '/').split('?')[0] ?? '/') ?? [];
        const there = this.#hooks.get(path);
        if (!there) {
          response.writeHead(404).end();
          return;
        }
        const notification = {
          path,
          method: request.method ?? '',
          headers: request.headers,
          body: Buffer.concat(chunks).toString('utf8'),
          at: performance.now() - this.#began,
        };
        if (there.hook.received.length < 1_000) there.hook.received.push(notification);
        const status = there.answer(notification, there.hook.received.length);
        if (status === 'hang') there.hanging.add(response);
        else response.writeHead(status).end();
        there.wake();
      });
    });
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      const listening = (): void => resolve((server.address() as AddressInfo).port);
      // Whoever names an address wants others to come in.
      if (this.#publicUrl === undefined) server.listen(this.#port, '127.0.0.1', listening);
      else server.listen(this.#port, listening);
    });
  }

  /** Closes every address. */
  close(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }
}
