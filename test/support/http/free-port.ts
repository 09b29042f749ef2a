import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Finds an unused port on the loopback interface, for programs that cannot listen on port 0. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
