import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a port. Disconnecting it looks to the target as if the client process had been killed. */
export interface TcpRelay {
  readonly port: number;
  /** Destroys all connections and rejects new ones until `restore()` is called. */
  disconnect(): void;
  restore(): void;
  /** Passes on no more bytes of the open connections, as if a cable had been pulled. */
  silence(): void;
  remove(): Promise<void>;
}

/** Starts a relay to a loopback port. */
export async function startTcpRelay(target: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let isDisconnected = false;
  const server = createServer((client) => {
    client.on('error', () => {});
    if (isDisconnected) {
      client.destroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const disconnect = (): void => {
    isDisconnected = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    disconnect,
    restore: () => {
      isDisconnected = false;
    },
    silence: () => {
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    remove: async () => {
      disconnect();
      server.close();
      await once(server, 'close');
    },
  };
}
