import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchHttpClient } from './fetch-driver.ts';
import { BodyTooLargeError, type HttpClient, HttpTransportError, type HttpRequest } from './http-client.ts';
import { undiciHttpClient } from './undici-driver.ts';

/** What every driver does. */
describe.each<[string, () => HttpClient]>([
  ['undici', () => undiciHttpClient({ connectTimeout: 5000, maxConnections: 4 })],
  ['fetch', () => fetchHttpClient(globalThis.fetch)],
])('the %s driver', (_name, make) => {
  let client: HttpClient;
  let server: Server;
  let answer: (response: ServerResponse) => void;
  let request: HttpRequest;

  beforeEach(async () => {
    client = make();
    server = createServer((incoming, response) => {
      incoming.resume();
      incoming.on('end', () => answer(response));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    request = { method: 'POST', origin, path: '/x?y=1', headers: { 'x-a': 'b' }, body: '{}' };
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('gives status, headers and text', async () => {
    answer = (response) => {
      response.writeHead(201, { 'X-Answer': 'yes' });
      response.write('hé');
      response.end('llo');
    };
    const response = await client.request(request);
    expect(response.status).toBe(201);
    expect(response.header('x-answer')).toBe('yes');
    expect(response.header('x-other')).toBeUndefined();
    expect(await response.text(100)).toBe('héllo');
  });

  it('gives an empty text', async () => {
    answer = (response) => response.writeHead(204).end();
    expect(await (await client.request(request)).text(100)).toBe('');
  });

  it('does not read more than it may', async () => {
    answer = (response) => response.end('x'.repeat(200_000));
    const response = await client.request(request);
    await expect(response.text(100)).rejects.toBeInstanceOf(BodyTooLargeError);
  });

  it('gives chunks of any amount, however slowly they are read', async () => {
    const size = 3_000_000;
    answer = (response) => response.end(Buffer.alloc(size, 'x'));
    let read = 0;
    for await (const chunk of (await client.request(request)).chunks()) {
      read += chunk.length;
      await new Promise(setImmediate);
    }
    expect(read).toBe(size);
  });

  it('closes the connection when the loop over the chunks is left', async () => {
    const closed = new Promise<void>((resolve) => {
      answer = (response) => {
        response.on('close', resolve);
        response.write('first');
      };
    });
    for await (const chunk of (await client.request(request)).chunks()) {
      expect(Buffer.from(chunk).toString()).toBe('first');
      break;
    }
    await closed;
  });

  it('fails when the answer breaks off', async () => {
    answer = (response) => response.write('first', () => response.destroy());
    const response = await client.request(request);
    await expect(response.text(100)).rejects.toBeInstanceOf(HttpTransportError);
  });

  it('says that nothing was sent when nobody listens', async () => {
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(dead.address() as AddressInfo).port}`;
    await new Promise((resolve) => dead.close(resolve));
    await expect(client.request({ ...request, origin })).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      sent: false,
    });
  });

  it('says that something may have been sent when the answer does not come', async () => {
    answer = (response) => response.destroy();
    await expect(client.request(request)).rejects.toMatchObject({ sent: true });
  });

  it('ends with the signal, before and after the answer began', async () => {
    const stop = new AbortController();
    answer = (response) => {
      response.write('first');
    };
    const response = await client.request({ ...request, signal: stop.signal });
    const text = response.text(100);
    stop.abort();
    await expect(text).rejects.toBeInstanceOf(HttpTransportError);
    await expect(client.request({ ...request, signal: stop.signal })).rejects.toBeInstanceOf(
      HttpTransportError,
    );
  });
});
