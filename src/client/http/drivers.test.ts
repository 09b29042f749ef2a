import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchHttpClient } from './fetch-driver.ts';
import { BodyTooLargeError, type HttpClient, HttpTransportError, type HttpRequest } from './http-client.ts';
import { undiciHttpClient } from './undici-driver.ts';

describe.each<[string, () => HttpClient]>([
  ['undici', () => undiciHttpClient({ connectTimeout: 5000, maxConnections: 4 })],
  ['fetch', () => fetchHttpClient(globalThis.fetch)],
])('%s driver', (_name, createClient) => {
  let client: HttpClient;
  let server: Server;
  let respond: (response: ServerResponse) => void;
  let request: HttpRequest;

  beforeEach(async () => {
    client = createClient();
    server = createServer((incoming, response) => {
      incoming.resume();
      incoming.on('end', () => respond(response));
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

  it('returns status, headers and text', async () => {
    respond = (response) => {
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

  it('returns an empty text for 204', async () => {
    respond = (response) => response.writeHead(204).end();
    expect(await (await client.request(request)).text(100)).toBe('');
  });

  it('rejects a body beyond the limit', async () => {
    respond = (response) => response.end('x'.repeat(200_000));
    const response = await client.request(request);
    await expect(response.text(100)).rejects.toBeInstanceOf(BodyTooLargeError);
  });

  it('returns all chunks to a slow reader', async () => {
    const size = 3_000_000;
    respond = (response) => response.end(Buffer.alloc(size, 'x'));
    let read = 0;
    for await (const chunk of (await client.request(request)).chunks()) {
      read += chunk.length;
      await new Promise(setImmediate);
    }
    expect(read).toBe(size);
  });

  it('closes the connection when the loop over the chunks is left', async () => {
    const closed = new Promise<void>((resolve) => {
      respond = (response) => {
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

  it('rejects when the response is interrupted', async () => {
    respond = (response) => response.write('first', () => response.destroy());
    const response = await client.request(request);
    await expect(response.text(100)).rejects.toBeInstanceOf(HttpTransportError);
  });

  it('reports sent: false when the connection is refused', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
    await new Promise((resolve) => closed.close(resolve));
    await expect(client.request({ ...request, origin })).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      sent: false,
    });
  });

  it('reports sent: true when the connection is closed without a response', async () => {
    respond = (response) => response.destroy();
    await expect(client.request(request)).rejects.toMatchObject({ sent: true });
  });

  it('rejects when the signal aborts, before and after the response started', async () => {
    const abort = new AbortController();
    respond = (response) => {
      response.write('first');
    };
    const response = await client.request({ ...request, signal: abort.signal });
    const text = response.text(100);
    abort.abort();
    await expect(text).rejects.toBeInstanceOf(HttpTransportError);
    await expect(client.request({ ...request, signal: abort.signal })).rejects.toBeInstanceOf(
      HttpTransportError,
    );
  });
});
