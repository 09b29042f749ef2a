import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EgressOptions } from './egress-options.ts';
import { type EgressPolicy, egressPolicy } from './egress-policy.ts';
import { type EgressRequest, egressRequest } from './egress-request.ts';

interface SeenRequest {
  method: string;
  host: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

describe('egressRequest redirects', () => {
  let server: Server;
  let policy: EgressPolicy | undefined;
  let port: number;
  let seenRequests: SeenRequest[];
  /** Status and location of the response per path, with `#` for the port. */
  let routes: Record<string, readonly [number, string]>;

  beforeEach(async () => {
    seenRequests = [];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        const { method = '', url: path = '', headers } = request;
        seenRequests.push({ method, host: headers.host ?? '', path, headers, body });
        const [status, location] = routes[path] ?? [200, ''];
        if (location !== '') response.setHeader('location', location.replaceAll('#', String(port)));
        response.writeHead(status).end(path);
      });
    });
    server.listen(0, '127.0.0.2');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterEach(async () => {
    policy?.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Sends a request with 127.0.0.2, the address of every name, as public address. */
  function ask(request: Omit<EgressRequest, 'url'>, options: EgressOptions = {}) {
    const resolve = () => Promise.resolve(['127.0.0.2']);
    policy = egressPolicy({ allow: ['127.0.0.2'], resolve, ...options });
    return egressRequest(policy, { ...request, url: `http://a.example.com:${port}/start` });
  }
  const denied = { reason: 'PERMISSION_DENIED' };
  const paths = () => seenRequests.map(({ path }) => path);

  it.each([301, 302, 303, 307, 308])('follows %d for GET', async (status) => {
    routes = { '/start': [status, '/next'], '/next': [status, 'http://b.example.com:#/end?x=1'] };
    const response = await ask({});
    expect(response).toMatchObject({
      status: 200,
      text: '/end?x=1',
      url: `http://b.example.com:${port}/end?x=1`,
    });
    expect(paths()).toEqual(['/start', '/next', '/end?x=1']);
    expect(seenRequests.map(({ host }) => host)).toEqual([
      `a.example.com:${port}`,
      `a.example.com:${port}`,
      `b.example.com:${port}`,
    ]);
  });

  it.each([301, 302, 303])('returns %d for POST', async (status) => {
    routes = { '/start': [status, '/next'] };
    expect(await ask({ method: 'POST', body: 'x' })).toMatchObject({
      status,
      headers: { location: '/next' },
    });
    expect(paths()).toEqual(['/start']);
  });

  it.each([307, 308])('follows %d for POST with method, headers and body', async (status) => {
    routes = { '/start': [status, '/next'] };
    await ask({ method: 'POST', body: 'x' });
    expect(seenRequests).toMatchObject([
      { method: 'POST', path: '/start', body: 'x' },
      { method: 'POST', path: '/next', body: 'x' },
    ]);
  });

  it('returns redirects of webhooks', async () => {
    routes = { '/start': [307, '/next'] };
    const options: EgressOptions = { schemes: ['http'] };
    expect(await ask({ method: 'POST', purpose: 'webhook' }, options)).toMatchObject({ status: 307 });
    expect(paths()).toEqual(['/start']);
  });

  it.each([
    'http://127.0.0.1:#/',
    'http://localhost:#/',
    'http://[::1]:#/',
    '//127.0.0.1:#/',
    'http://0x7f.1:#/',
    'http://169.254.169.254/latest/',
    'http://user:pass@a.example.com:#/',
    'file:///etc/passwd',
    'gopher://a.example.com:#/',
    'http://[oops/',
  ])('denies a redirect to %s', async (location) => {
    routes = { '/start': [302, location] };
    const attempts: string[] = [];
    const onConnect = (address: string) => attempts.push(address);
    await expect(ask({}, { onConnect })).rejects.toMatchObject(denied);
    expect(attempts).toEqual(['127.0.0.2']);
    expect(paths()).toEqual(['/start']);
  });

  it('denies a redirect to a name with a denied address', async () => {
    routes = { '/start': [302, 'http://b.example.com:#/'] };
    const resolve = (host: string) => Promise.resolve([host === 'a.example.com' ? '127.0.0.2' : '127.0.0.1']);
    await expect(ask({}, { resolve })).rejects.toMatchObject(denied);
    expect(paths()).toEqual(['/start']);
  });

  it('applies the rules of the purpose', async () => {
    routes = { '/start': [302, 'http://a.example.com:22/'] };
    const options: EgressOptions = { schemes: ['http'], ports: [port] };
    await expect(ask({ purpose: 'file' }, options)).rejects.toMatchObject(denied);
  });

  it('stops after maxRedirects', async () => {
    routes = { '/start': [302, '/next'], '/next': [302, '/start'] };
    await expect(ask({})).rejects.toMatchObject({
      ...denied,
      hint: expect.stringContaining('maxRedirects'),
    });
    expect(paths()).toEqual(['/start', '/next', '/start', '/next']);
    seenRequests = [];
    await expect(ask({}, { maxRedirects: 1 })).rejects.toMatchObject(denied);
    expect(paths()).toEqual(['/start', '/next']);
    expect(await ask({}, { maxRedirects: 0 })).toMatchObject({ status: 302 });
  });

  it('does not send secrets to another origin, nor back to the first', async () => {
    routes = {
      '/start': [302, '/same'],
      '/same': [302, 'http://b.example.com:#/other'],
      '/other': [302, 'http://a.example.com:#/back'],
    };
    const secrets = {
      Authorization: 'Bearer x',
      'X-A2A-Notification-Token': 't',
      'X-Api-Key': 'k',
      Cookie: 'c',
    };
    await ask({ headers: { ...secrets, Accept: 'text/plain', 'A2A-Version': '1.0' } });
    const names = Object.keys(secrets).map((name) => name.toLowerCase());
    const kept = seenRequests.map(({ path, headers }) => [
      path,
      names.filter((name) => name in headers).length,
    ]);
    expect(kept).toEqual([
      ['/start', 4],
      ['/same', 4],
      ['/other', 0],
      ['/back', 0],
    ]);
    expect(seenRequests[3]?.headers).toMatchObject({ accept: 'text/plain', 'a2a-version': '1.0' });
  });
});
