import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Listens on a port of the loopback interface, until `close` is called. */
export async function occupyPort(): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}
