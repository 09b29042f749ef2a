import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { GrpcAcceptor } from '../../server/grpc/grpc-acceptor.ts';
import type { TestClock } from '../clock/test-clock.ts';

/** Simulates an outage: closes the port of a server and reopens it later. */
export class PortOutage {
  readonly #server: Server | SecureServer;
  readonly #clock: TestClock;
  #address: AddressInfo | undefined;
  #cancelTimer: (() => void) | undefined;
  #reopening: Promise<void> | undefined;

  readonly #grpc: GrpcAcceptor | undefined;

  /** @param grpc - has connections of its own */
  constructor(server: Server | SecureServer, clock: TestClock, grpc?: GrpcAcceptor) {
    this.#server = server;
    this.#grpc = grpc;
    this.#clock = clock;
  }

  get isActive(): boolean {
    return this.#address !== undefined;
  }

  /** Closes all connections and refuses new ones. @param milliseconds - until `end()` if undefined */
  start(milliseconds?: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (milliseconds !== undefined)
      this.#cancelTimer = this.#clock.after(milliseconds, () => {
        // The error is reported to callers of end(); here it has no handler.
        this.end().catch(() => {});
      });
    if (this.#address) return;
    this.#address = this.#server.address() as AddressInfo;
    this.#server.close();
    this.#server.closeAllConnections();
    this.#grpc?.destroyAllConnections();
  }

  /** Reopens the port. Rejects if another process uses it now. */
  end(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  /** Cancels the reopening, because the server stops. */
  cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
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
