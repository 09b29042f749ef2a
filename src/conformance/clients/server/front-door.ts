import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Server as HttpServer } from 'node:http';

/**
 * Accepts HTTP/1.1 and HTTP/2 at one port, so that all interfaces of an agent have the same origin: clients may send
 * credentials to the origin of the card only.
 */
export class FrontDoor {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(http: HttpServer, http2Port: () => number) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#track(socket);
      socket.once('data', (first: Buffer) => {
        socket.pause();
        if (first.toString('latin1').startsWith('PRI ')) this.#forward(socket, first, http2Port());
        else {
          socket.unshift(first);
          http.emit('connection', socket);
          process.nextTick(() => socket.resume());
        }
      });
    });
  }

  /** @returns the port */
  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', () => {
        const address = this.#server.address();
        resolve(typeof address === 'object' && address ? address.port : 0);
      });
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The HTTP/2 server of Node reads from the file descriptor, which no longer has the first bytes. */
  #forward(socket: Socket, first: Buffer, port: number): void {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#track(upstream);
    upstream.write(first);
    socket.pipe(upstream).pipe(socket);
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
    socket.resume();
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
