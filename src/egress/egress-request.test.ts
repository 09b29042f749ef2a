import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EgressOptions } from './egress-options.ts';
import { type EgressPolicy, egressPolicy } from './egress-policy.ts';
import { type EgressRequest, egressRequest } from './egress-request.ts';

/** Name of a public host; the tests choose its addresses. */
const host = 'agent.example.com';

describe('egressRequest', () => {
  const servers: Server[] = [];
  const policies: EgressPolicy[] = [];
  let respond: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  let connections: string[];
  let port: number;

  async function listen(address: string, port: number): Promise<number> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => respond(request, response, Buffer.concat(chunks).toString()));
    });
    server.on('connection', () => connections.push(address));
    server.listen(port, address);
    await once(server, 'listening');
    servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  function policyOf(options: EgressOptions): EgressPolicy {
    const policy = egressPolicy(options);
    policies.push(policy);
    return policy;
  }

  const ask = (request: Omit<EgressRequest, 'url'> & { path?: string }, options: EgressOptions = {}) => {
    const url = `http://127.0.0.1:${port}${request.path ?? '/'}`;
    return egressRequest(policyOf({ allowLoopback: true, ...options }), { ...request, url });
  };

  beforeEach(async () => {
    connections = [];
    respond = (_request, response) => response.end('ok');
    port = await listen('127.0.0.1', 0);
  });
  afterEach(async () => {
    for (const policy of policies.splice(0)) policy.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('returns status, headers and body', async () => {
    respond = (request, response, body) => {
      response.writeHead(201, { 'X-Answer': 'yes', 'Set-Cookie': ['a=1', 'b=2'] });
      response.end(
        JSON.stringify([request.method, request.url, body, request.headers['x-a'], request.headers.host]),
      );
    };
    const request = { method: 'POST', path: '/x?y=1', headers: { 'X-A': 'b' }, body: 'hé' } as const;
    const response = await ask(request);
    expect(response).toMatchObject({
      status: 201,
      headers: { 'x-answer': 'yes', 'set-cookie': 'a=1, b=2' },
      url: `http://127.0.0.1:${port}/x?y=1`,
    });
    expect(JSON.parse(response.text)).toEqual(['POST', '/x?y=1', 'hé', 'b', `127.0.0.1:${port}`]);
    expect(Buffer.from(response.bytes).toString()).toBe(response.text);
  });

  it('sends bytes and accepts a response without a body', async () => {
    respond = (_request, response, body) => response.writeHead(body === 'ab' ? 204 : 500).end();
    expect(await ask({ method: 'POST', body: new Uint8Array([97, 98]) })).toMatchObject({
      status: 204,
      text: '',
    });
  });

  it('ignores the content-length of a HEAD response', async () => {
    respond = (_request, response) => response.writeHead(200, { 'content-length': '1000' }).end();
    expect((await ask({ method: 'HEAD' }, { maxBytes: 10 })).status).toBe(200);
  });

  it('ignores connection headers of the caller', async () => {
    respond = (request, response) => response.end(JSON.stringify(request.headers));
    const headers = {
      Host: 'internal',
      'Transfer-Encoding': 'chunked',
      'Accept-Encoding': 'gzip',
      Upgrade: 'x',
    };
    const { text } = await ask({ headers });
    expect(JSON.parse(text)).toEqual({
      host: `127.0.0.1:${port}`,
      connection: 'keep-alive',
      'accept-encoding': 'identity',
    });
  });

  it.each<[Record<string, string>]>([
    [{ 'x-a': 'b\r\nx-evil: 1' }],
    [{ 'x a': 'b' }],
    [{ 'x-a': 'b\u0000' }],
  ])('rejects the headers %j', async (headers) => {
    await expect(ask({ headers })).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    expect(connections).toEqual([]);
  });

  it('reuses connections', async () => {
    const policy = policyOf({ allowLoopback: true });
    const url = `http://127.0.0.1:${port}/`;
    for (let round = 0; round < 3; round++) await egressRequest(policy, { url });
    expect(connections).toEqual(['127.0.0.1']);
  });

  it('rejects with UNAVAILABLE when the connection is refused', async () => {
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
    await expect(ask({})).rejects.toMatchObject({ reason: 'UNAVAILABLE', cause: { code: 'ECONNREFUSED' } });
  });

  it('rejects with UNAVAILABLE when the name does not exist', async () => {
    const resolve = () => Promise.resolve([]);
    const response = egressRequest(policyOf({ resolve }), { url: `http://${host}/` });
    await expect(response).rejects.toMatchObject({ reason: 'UNAVAILABLE', cause: { code: 'ENOTFOUND' } });
  });

  describe('name resolution', () => {
    it('connects to the checked address when a second lookup would differ', async () => {
      const answers = ['127.0.0.2', '127.0.0.1'];
      let looks = 0;
      const resolve = () => Promise.resolve([answers[looks++] ?? '']);
      await listen('127.0.0.2', port);
      const attempts: string[] = [];
      // 127.0.0.2 represents a public address, 127.0.0.1 is denied.
      const onConnect = (address: string) => attempts.push(address);
      const policy = policyOf({ allow: ['127.0.0.2'], resolve, onConnect });
      const url = `http://${host}:${port}/`;
      expect((await egressRequest(policy, { url })).text).toBe('ok');
      expect((await egressRequest(policy, { url })).text).toBe('ok');
      expect([looks, connections, attempts]).toEqual([1, ['127.0.0.2'], ['127.0.0.2']]);

      policy.close();
      await expect(egressRequest(policy, { url })).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
      expect([looks, connections, attempts]).toEqual([2, ['127.0.0.2'], ['127.0.0.2']]);
    });

    it('connects to none of the addresses if one is denied', async () => {
      const attempts: string[] = [];
      const policy = policyOf({
        allow: ['127.0.0.2'],
        resolve: () => Promise.resolve(['127.0.0.2', '127.0.0.1']),
        onConnect: (address) => attempts.push(address),
      });
      const response = egressRequest(policy, { url: `http://${host}:${port}/` });
      await expect(response).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
      expect([connections, attempts]).toEqual([[], []]);
    });

    it('tries the next address when the first refuses the connection', async () => {
      const attempts: string[] = [];
      const policy = policyOf({
        allowLoopback: true,
        resolve: () => Promise.resolve(['127.0.0.3', '127.0.0.1']),
        onConnect: (address, origin) => attempts.push(`${address} ${origin}`),
      });
      await egressRequest(policy, { url: `http://${host}:${port}/` });
      const origin = `http://${host}:${port}`;
      expect(attempts).toEqual([`127.0.0.3 ${origin}`, `127.0.0.1 ${origin}`]);
    });
  });

  describe('limits', () => {
    it('rejects with TIMEOUT when the server does not respond', async () => {
      respond = () => {};
      await expect(ask({}, { timeout: 50 })).rejects.toMatchObject({ reason: 'TIMEOUT' });
    });

    it('rejects with TIMEOUT when the response does not end', async () => {
      respond = (_request, response) => {
        const drip = setInterval(() => response.write('x'), 5);
        response.on('close', () => clearInterval(drip));
      };
      await expect(ask({}, { timeout: 80 })).rejects.toMatchObject({ reason: 'TIMEOUT' });
    });

    it('rejects with TIMEOUT when name resolution hangs', async () => {
      const policy = policyOf({ resolve: () => new Promise(() => {}), connectTimeout: 30 });
      const response = egressRequest(policy, { url: `http://${host}/` });
      await expect(response).rejects.toMatchObject({
        reason: 'TIMEOUT',
        hint: expect.stringContaining('connect'),
      });
    });

    it('rejects with CANCELED when the signal aborts', async () => {
      const controller = new AbortController();
      respond = () => controller.abort(new Error('stop'));
      const response = ask({ signal: controller.signal });
      await expect(response).rejects.toMatchObject({ reason: 'CANCELED', cause: { message: 'stop' } });
      await expect(ask({ signal: controller.signal })).rejects.toMatchObject({ reason: 'CANCELED' });
      expect(connections).toHaveLength(1);
    });

    it('rejects with CANCELED during name resolution', async () => {
      const controller = new AbortController();
      const resolve = () => {
        controller.abort();
        return new Promise<string[]>(() => {});
      };
      const policy = policyOf({ resolve });
      const response = egressRequest(policy, { url: `http://${host}/`, signal: controller.signal });
      await expect(response).rejects.toMatchObject({ reason: 'CANCELED' });
    });

    it('accepts responses up to maxBytes', async () => {
      respond = (_request, response) => response.end('x'.repeat(1000));
      expect((await ask({}, { maxBytes: 1000 })).text).toHaveLength(1000);
      await expect(ask({}, { maxBytes: 999 })).rejects.toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
    });

    it('closes the connection when the body exceeds maxBytes', async () => {
      const closed = new Promise<void>((resolve) => {
        respond = (_request, response) => {
          const more = () => {
            while (!response.destroyed && response.write('x'.repeat(65_536)));
          };
          response.on('drain', more);
          response.on('close', () => resolve());
          more();
        };
      });
      await expect(ask({}, { maxBytes: 100_000 })).rejects.toMatchObject({
        reason: 'INVALID_AGENT_RESPONSE',
      });
      await closed;
    });

    it('closes the connection when the headers exceed the limit', async () => {
      respond = (_request, response) => {
        const endless = function* () {
          yield 'HTTP/1.1 200 OK\r\n';
          for (;;) yield `x-${'y'.repeat(100)}: z\r\n`;
        };
        // Ends with an error when the client disconnects.
        if (response.socket) pipeline(Readable.from(endless()), response.socket, () => {});
      };
      await expect(ask({})).rejects.toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
    });

    it.each<[string, string, string]>([
      ['another protocol', 'SSH-2.0-x\r\n', 'INVALID_AGENT_RESPONSE'],
      ['an empty response', '', 'UNAVAILABLE'],
      ['a truncated body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'UNAVAILABLE'],
      ['a protocol upgrade', 'HTTP/1.1 101 X\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'UNAVAILABLE'],
    ])('rejects %s', async (_name, text, reason) => {
      respond = (_request, response) => void response.socket?.end(text);
      await expect(ask({})).rejects.toMatchObject({ reason });
    });
  });
});
