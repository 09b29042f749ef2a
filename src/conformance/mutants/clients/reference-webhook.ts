import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClientFlaw } from './client-flaws.ts';

/** The webhook of the reference client: it accepts notifications with its token. */
export class ReferenceWebhook {
  readonly token: string;
  /** Resolves when a valid notification was received. */
  readonly received: Promise<void>;
  readonly #server;
  url = '';

  constructor(has: (flaw: ClientFlaw) => boolean) {
    this.token = has('repeats-push-token') ? 'token' : crypto.randomUUID();
    let resolveReceived = (): void => {};
    this.received = new Promise((resolve) => {
      resolveReceived = resolve;
    });
    this.#server = createServer((request: IncomingMessage, response) => {
      request.resume();
      const isValid = request.headers['x-a2a-notification-token'] === this.token;
      const status = has('acknowledges-nothing') ? 500 : isValid || has('trusts-notifications') ? 204 : 401;
      response.writeHead(status).end(() => {
        if (isValid) resolveReceived();
      });
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => {
        this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
        resolve();
      });
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
