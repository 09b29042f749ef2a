import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { RawHttpClient } from './raw-http-client.ts';

const response = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

it('repeats a request on a new connection if the server has closed the idle ones', async () => {
  const sockets = new Set<Socket>();
  const waiting: Socket[] = [];
  let count = 0;
  // Responds to one request per connection, and resets the connection at the second one.
  const server = createServer((socket) => {
    count++;
    let requests = 0;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => {
      if (++requests > 1) socket.resetAndDestroy();
      else if (count > 2) socket.write(response);
      // The first two requests run at the same time, so that the pool has two connections.
      else if (waiting.push(socket) === 2) for (const each of waiting) each.write(response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new RawHttpClient({ deadline: 5_000 });
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const get = () => client.send({ method: 'GET', url });
    const first = await Promise.all([get(), get()]);
    expect(first.map(({ status }) => status)).toEqual([200, 200]);
    expect(await get()).toMatchObject({ status: 200, body: 'ok', end: 'complete' });
    expect(count).toBe(3);
  } finally {
    client.close();
    for (const each of sockets) each.destroy();
    server.close();
  }
});
