import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const checkInterval = 100;

/** A server behind a {@link LoadBalancer}. */
interface Backend {
  readonly port: number;
  isReady: boolean;
}

/** A TCP load balancer on the loopback interface: round-robin over the ports that respond 200 at `/readyz`. */
export class LoadBalancer {
  readonly #backends: readonly Backend[];
  readonly #server = createServer((client) => this.#connect(client, this.#backends.length));
  readonly #timer: NodeJS.Timeout;
  #next = 0;

  private constructor(ports: readonly number[]) {
    this.#backends = ports.map((port) => ({ port, isReady: true }));
    this.#timer = setInterval(() => this.#check(), checkInterval);
  }

  static async start(ports: readonly number[]): Promise<LoadBalancer> {
    const balancer = new LoadBalancer(ports);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Connects to the next server. Tries another one if it refuses the connection. */
  #connect(client: Socket, attempts: number): void {
    const ready = this.#backends.filter((each) => each.isReady);
    const backend = ready[this.#next++ % ready.length];
    if (!backend || attempts === 0 || client.destroyed) {
      client.destroy();
      return;
    }
    const upstream = connect(backend.port, '127.0.0.1');
    const onRefused = (): void => this.#connect(client, attempts - 1);
    upstream.once('error', onRefused);
    upstream.once('connect', () => {
      upstream.off('error', onRefused);
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
      client.on('close', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    });
  }

  #check(): void {
    for (const backend of this.#backends)
      void fetch(`http://127.0.0.1:${backend.port}/readyz`).then(
        ({ status }) => (backend.isReady = status === 200),
        () => (backend.isReady = false),
      );
  }
}
