import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Finds an unused port on the loopback interface, for programs that cannot listen on port 0.
 *
 * The port is below the ephemeral ranges of Linux and macOS: no outgoing connection and no listener on port 0 can take it before
 * the program listens, nor while the program restarts.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
