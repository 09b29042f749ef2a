import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A port of the loopback interface at which connections are refused.
 *
 * A connection to itself keeps the port: the system would assign a free one to another server, which then received the
 * requests of the client.
 */
export class ClosedPort {
  readonly port: number;
  readonly #keepers: readonly Socket[];

  private constructor(port: number, keepers: readonly Socket[]) {
    this.port = port;
    this.#keepers = keepers;
  }

  static async reserve(): Promise<ClosedPort> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const outgoing = connect(port, '127.0.0.1');
    const [incoming] = (await once(server, 'connection')) as [Socket];
    const keepers = [outgoing, incoming];
    for (const socket of keepers) socket.on('error', () => {}).unref();
    // The server stops listening at once; the connection stays open.
    server.close();
    return new ClosedPort(port, keepers);
  }

  release(): void {
    for (const socket of this.#keepers) socket.destroy();
  }
}
