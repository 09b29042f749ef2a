import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Clock } from '../primitives/clock.ts';
import type { LogSink } from '../primitives/log.ts';
import type { TlsOptions } from '../server/node/tls.ts';

/** Milliseconds between two checks whether a certificate was renewed. */
const checkInterval = 60_000;

/** Applies renewed certificates to a server. Connections that are open keep theirs. */
export class CertificateRenewal {
  readonly #server: SecureServer;
  readonly #read: () => TlsOptions | undefined;
  readonly #log: LogSink;
  readonly #stopChecks: () => void;
  #current: string;

  /** @param read - reads the files that are configured now. */
  constructor(
    server: Server | SecureServer,
    read: () => TlsOptions | undefined,
    { clock, log }: { clock: Clock; log: LogSink },
  ) {
    this.#server = server as SecureServer;
    this.#read = read;
    this.#log = log;
    this.#current = JSON.stringify(read());
    this.#stopChecks = clock.every(checkInterval, () => this.#check());
  }

  /** Applies the files if they have changed. @throws A2AError if they are invalid; the server keeps its certificate. */
  apply(tls: TlsOptions | undefined): void {
    const text = JSON.stringify(tls);
    if (!tls || text === this.#current) return;
    this.#server.setSecureContext(tls);
    this.#current = text;
    this.#log({ level: 'info', message: 'The TLS certificate was renewed' });
  }

  stop(): void {
    this.#stopChecks();
  }

  #check(): void {
    try {
      this.apply(this.#read());
    } catch (error) {
      // A program that renews certificates may not have written all files yet.
      this.#log({
        level: 'warn',
        message: 'The TLS files cannot be used; the gateway keeps its certificate',
        error,
      });
    }
  }
}
