import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a port that can be cut: to the other end it looks as if the process at this end had been killed. */
export interface TcpRelay {
  readonly port: number;
  /** Breaks what is connected, and lets nobody through until it is mended. */
  cut(): void;
  restore(): void;
  remove(): Promise<void>;
}

/** Starts a relay to a port on loopback. */
export async function startTcpRelay(target: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    near.on('error', () => {});
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    restore: () => {
      isCut = false;
    },
    remove: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
