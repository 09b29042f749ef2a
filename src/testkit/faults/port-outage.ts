import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestClock } from '../clock/test-clock.ts';

/** Closes the port of a server and opens the same one again, as if the agent had not been there in between. */
export class PortOutage {
  readonly #server: Server | SecureServer;
  readonly #clock: TestClock;
  #address: AddressInfo | undefined;
  #cancel: (() => void) | undefined;
  #reopening: Promise<void> | undefined;

  constructor(server: Server | SecureServer, clock: TestClock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** True while connections are refused. */
  get isRefusing(): boolean {
    return this.#address !== undefined;
  }

  /** Refuses connections, and ends those that there are. @param milliseconds - how long; until `end` when absent. */
  begin(milliseconds?: number): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (milliseconds !== undefined)
      this.#cancel = this.#clock.after(milliseconds, () => {
        // Who waits for the port hears of the error; nobody else could do anything about it.
        this.end().catch(() => {});
      });
    if (this.#address) return;
    this.#address = this.#server.address() as AddressInfo;
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Takes connections again. @returns when it does; rejects when somebody else has taken the port meanwhile. */
  end(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  /** Leaves the port closed, because the server stops anyway. */
  forget(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #reopen(): Promise<void> {
    const address = this.#address;
    if (!address) return;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(address.port, address.address, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#address = undefined;
  }
}
