import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** A TCP proxy in front of the database of one replica. */
export interface Relay {
  readonly port: number;
  /** Destroys all connections and rejects new ones until `restore()` is called. */
  disconnect(): void;
  restore(): void;
}

/** TCP proxies to loopback ports, in a thread of their own. */
export class Relays {
  readonly all: readonly Relay[];
  readonly #worker: Worker;

  private constructor(worker: Worker, ports: readonly number[]) {
    this.#worker = worker;
    this.all = ports.map((port, index) => ({
      port,
      disconnect: () => worker.postMessage({ index, isConnected: false }, []),
      restore: () => worker.postMessage({ index, isConnected: true }, []),
    }));
  }

  static async start(targets: readonly number[]): Promise<Relays> {
    const script = new URL('../fixtures/relays.mjs', import.meta.url);
    const worker = new Worker(script, { workerData: { targets } });
    const [ports] = (await once(worker, 'message')) as [number[]];
    return new Relays(worker, ports);
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
