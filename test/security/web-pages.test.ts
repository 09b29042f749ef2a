/** Requests that a web page in a local browser can send to every HTTP server of the project. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveActions } from '../../src/bridge/http/serve-actions.ts';
import { serveMcp } from '../../src/bridge/mcp/server/serve-mcp.ts';
import { serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { createGateway } from '../../src/gateway/gateway.ts';
import { pushListener } from '../../src/push/receiving/listener.ts';
import { pushReceiver } from '../../src/push/receiving/receiver.ts';
import { bearerAuth } from '../../src/server/auth/schemes/bearer.ts';
import { toFetchHandler } from '../../src/server/fetch.ts';
import { serve } from '../../src/server/node/serve.ts';
import { runTap } from '../../src/tap/proxy/run-tap.ts';
import { TrafficLog } from '../../src/tap/traffic-log.ts';
import { TestAgentServer } from '../../src/testkit/test-agent-server.ts';
import { bridge } from '../../src/bridge/bridge.ts';
import { rawRequest, sendRawRequest } from '../support/http/raw-http.ts';

const agent = defineAgent({ name: 'Echo', description: 'Repeats the text', process: ({ text }) => text });
const closers: (() => unknown)[] = [];
const portOf = (url: string): number => Number(new URL(url).port);

interface Target {
  readonly name: string;
  /** Starts the server. @returns its port. */
  readonly start: () => Promise<number>;
  /** A path with a response below 400 for GET requests of the server itself. */
  readonly path: string;
  readonly headers?: Record<string, string>;
}

async function startConsole(): Promise<number> {
  const running = await serveConsole({ token: 'a-token-for-this-test' });
  closers.push(() => running.stop());
  return portOf(running.origin);
}

async function startPushReceiver(): Promise<number> {
  const server = createServer(pushListener(pushReceiver({ allowUnauthenticated: true }), () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function startAgent(fastPath: boolean): Promise<number> {
  const server = await serve(agent, { fastPath });
  closers.push(() => server.stop(0));
  return server.port;
}

async function startGateway(): Promise<number> {
  const gateway = createGateway();
  gateway.addAgent('echo', { agent });
  const server = await gateway.listen();
  closers.push(() => server.stop(0));
  return server.port;
}

async function startTap(): Promise<number> {
  const upstream = await serve(agent);
  const tap = await runTap({ to: upstream.url, trafficLog: new TrafficLog() });
  closers.push(
    () => tap.stop(0),
    () => upstream.stop(0),
  );
  return portOf(tap.url);
}

async function startMock(): Promise<number> {
  const mock = await TestAgentServer.start();
  closers.push(() => mock.stop());
  return mock.port;
}

async function startBridge(kind: 'actions' | 'mcp'): Promise<number> {
  const actions = await bridge({ agentName: 'echo', agent });
  if (kind === 'actions') {
    const server = await serveActions(actions);
    closers.push(() => server.stop(0));
    return server.port;
  }
  const server = await serveMcp(actions, { http: {} });
  closers.push(() => server.close());
  return portOf(server.url ?? '');
}

const card = '/.well-known/agent-card.json';
const targets: readonly Target[] = [
  { name: 'serve (fast path)', start: () => startAgent(true), path: card },
  { name: 'serve (node:http)', start: () => startAgent(false), path: card },
  { name: 'gateway', start: startGateway, path: '/agents' },
  { name: 'agent of a gateway', start: startGateway, path: `/agents/echo${card}` },
  { name: 'mock agent', start: startMock, path: card },
  { name: 'admin API of a mock agent', start: startMock, path: '/__admin/requests' },
  { name: 'tap', start: startTap, path: card },
  { name: 'bridge', start: () => startBridge('actions'), path: '/actions' },
  { name: 'MCP server', start: () => startBridge('mcp'), path: '/mcp' },
  { name: 'push receiver', start: startPushReceiver, path: '/?validationToken=x' },
  { name: 'console', start: startConsole, path: '/' },
];

afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  await agent.close();
});

describe.each(targets)('$name without authentication', ({ start, path }) => {
  let port: number;
  beforeAll(async () => {
    port = await start();
  });

  async function get(headers: Record<string, string>): Promise<number> {
    const filled = Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', `${port}`)]);
    const response = await sendRawRequest(port, rawRequest('GET', path, '', Object.fromEntries(filled)));
    if (!response) throw new Error('no response');
    return response.status;
  }

  it.each([
    'evil.example',
    'evil.example:PORT',
    'localhost.evil.example:PORT',
    '127.0.0.1.evil.example:PORT',
    '127.0.0.1:PORT.evil.example',
    'notlocalhost:PORT',
    '[::2]:PORT',
    '10.0.0.1:PORT',
  ])('responds 403 to the host %s', async (host) => {
    expect(await get({ Host: host })).toBe(403);
  });

  it.each([
    '127.0.0.1:PORT',
    'localhost:PORT',
    'LOCALHOST:PORT',
    'agent.localhost:PORT',
    '[::1]:PORT',
    '127.8.9.1:PORT',
  ])('accepts the host %s', async (host) => {
    expect(await get({ Host: host })).not.toBe(403);
  });

  it.each(['https://evil.example', 'null', 'http://localhost:1', 'http://127.0.0.1:PORT.evil.example'])(
    'responds 403 to the origin %s',
    async (origin) => {
      expect(await get({ Host: 'localhost:PORT', Origin: origin })).toBe(403);
    },
  );

  it('responds 403 to an embedded resource of another site', async () => {
    const headers = {
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'no-cors',
      'Sec-Fetch-Dest': 'image',
    };
    expect(await get({ Host: 'localhost:PORT', ...headers })).toBe(403);
  });

  it('accepts its own origin', async () => {
    expect(await get({ Host: 'localhost:PORT', Origin: 'http://localhost:PORT' })).not.toBe(403);
  });

  it('sends no CORS headers', async () => {
    const preflight = rawRequest('OPTIONS', path, '', {
      Host: `localhost:${port}`,
      Origin: 'https://evil.example',
      'Access-Control-Request-Method': 'POST',
    });
    const response = await sendRawRequest(port, preflight);
    expect(response?.headers.get('access-control-allow-origin')).toBeUndefined();
  });
});

describe('bodies', () => {
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} });
  const body = Buffer.from(call);
  const head = (type: string): string =>
    `POST / HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\n${type}Content-Length: ${body.length}\r\n\r\n`;

  it.each([true, false])('without a JSON content type get 415 (fastPath: %s)', async (fastPath) => {
    const port = await startAgent(fastPath);
    for (const type of [
      '',
      'Content-Type: text/plain\r\n',
      'Content-Type: application/x-www-form-urlencoded\r\n',
    ])
      expect((await sendRawRequest(port, Buffer.concat([Buffer.from(head(type)), body])))?.status).toBe(415);
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/a2a+json',
    'APPLICATION/JSON;x=y',
  ])('with the content type %s are accepted', async (type) => {
    const port = await startAgent(true);
    const bytes = Buffer.concat([Buffer.from(head(`Content-Type: ${type}\r\n`)), body]);
    expect((await sendRawRequest(port, bytes))?.status).toBe(200);
  });

  it('of unauthenticated push receivers and action servers need a JSON content type', async () => {
    for (const [port, path] of [
      [await startPushReceiver(), '/'],
      [await startBridge('actions'), '/actions/echo/echo:invoke'],
    ] as const)
      expect(
        (await sendRawRequest(port, rawRequest('POST', path, '{}', { 'Content-Type': 'text/plain' })))
          ?.status,
      ).toBeOneOf([404, 415]);
  });
});

describe('configured access', () => {
  async function get(port: number, headers: Record<string, string>) {
    const response = await sendRawRequest(port, rawRequest('GET', card, '', headers));
    if (!response) throw new Error('no response');
    return response;
  }

  it('accepts allowedHosts and the host of publicUrl', async () => {
    const server = await serve(agent, { allowedHosts: ['agent.test'], publicUrl: 'https://public.test/x' });
    closers.push(() => server.stop(0));
    expect((await get(server.port, { Host: 'agent.test' })).status).toBe(200);
    expect((await get(server.port, { Host: 'public.test', Origin: 'https://public.test' })).status).toBe(200);
    expect((await get(server.port, { Host: 'localhost', Origin: 'https://public.test' })).status).toBe(200);
    expect((await get(server.port, { Host: 'other.test' })).status).toBe(403);
  });

  it.each([true, false])(
    'sends each header of a preflight response once (fastPath: %s)',
    async (fastPath) => {
      const server = await serve(agent, { cors: { origins: ['https://app.test'] }, fastPath });
      closers.push(() => server.stop(0));
      const response = await fetch(server.url, {
        method: 'OPTIONS',
        headers: { origin: 'https://app.test', 'access-control-request-headers': 'content-type' },
      });
      expect(response.status).toBe(204);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': 'https://app.test',
        'access-control-allow-headers': 'content-type',
        vary: 'Origin',
      });
      const other = await get(server.port, { Host: 'localhost', Origin: 'https://other.test' });
      expect(other.status).toBe(403);
    },
  );

  it('checks neither Host nor Origin if all clients are authenticated', async () => {
    const auth = { authenticators: [bearerAuth({ tokens: { secret: 'alice' } })] };
    const server = await serve(agent, { auth });
    closers.push(() => server.stop(0));
    expect((await get(server.port, { Host: 'agent.test', Origin: 'https://app.test' })).status).toBe(200);
    const optional = await serve(agent, { auth: { ...auth, allowAnonymous: true } });
    closers.push(() => optional.stop(0));
    expect((await get(optional.port, { Host: 'agent.test' })).status).toBe(403);
  });

  it('checks the host on other network interfaces only with allowedHosts', async () => {
    const request = (host: string, more: object = {}) =>
      toFetchHandler(agent, more)(new Request(`http://${host}${card}`)).then(({ status }) => status);
    expect(await request('service:4000')).toBe(200);
    expect(await request('service:4000', { allowedHosts: ['service'] })).toBe(200);
    expect(await request('evil.example', { allowedHosts: ['service'] })).toBe(403);
    expect(await request('10.1.2.3', { allowedHosts: ['service'] })).toBe(200);
    const foreign = new Request(`http://service${card}`, { headers: { origin: 'https://evil.example' } });
    expect((await toFetchHandler(agent)(foreign)).status).toBe(403);
  });
});

describe('tap', () => {
  it('forwards framing headers that Connection names', async () => {
    const received: (string | undefined)[] = [];
    const upstream = createServer((request, response) => {
      received.push(request.headers['content-length'], String(request.headers['x-private']));
      request.resume().on('end', () => response.end('{}'));
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    const tap = await runTap({ to: `http://127.0.0.1:${port}`, name: 'x', trafficLog: new TrafficLog() });
    received.length = 0;
    const headers = { Connection: 'content-length, x-private, host', 'X-Private': '1' };
    const response = await sendRawRequest(portOf(tap.url), rawRequest('POST', '/', '{"a":1}', headers));
    expect(response?.status).toBe(200);
    expect(received).toEqual(['7', 'undefined']);
    await tap.stop(0);
    upstream.close();
  });
});
