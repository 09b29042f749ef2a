/** Limits of the HTTP servers that serve no agent: bridge, MCP, console and tap. */
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { bridge } from '../../src/bridge/bridge.ts';
import { serveActions } from '../../src/bridge/http/serve-actions.ts';
import { serveMcp } from '../../src/bridge/mcp/server/serve-mcp.ts';
import { serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { bearerAuth } from '../../src/server/auth/schemes/bearer.ts';
import type { ExchangeLimitOptions } from '../../src/server/node/exchange-limits.ts';
import { runTap } from '../../src/tap/proxy/run-tap.ts';
import { TrafficLog } from '../../src/tap/traffic-log.ts';
import { rawRequest, type RawHttpResponse, sendRawRequest } from '../support/http/raw-http.ts';

const token = 'a-token-for-this-test';
const large = 16_000_000;
const agent = defineAgent({
  name: 'Large',
  description: 'Returns as many letters as requested',
  process: ({ text }) => 'x'.repeat(Number(text)),
});
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});
afterAll(() => agent.close());

interface Target {
  readonly name: string;
  /** Starts the server. @returns its port. */
  readonly start: (options: ExchangeLimitOptions) => Promise<number>;
  /** Path of requests with a body. */
  readonly path: string;
  /** Method, path and body of a request with a large response. */
  readonly largeRequest: readonly [method: string, path: string, body: string];
}

async function startActions(options: ExchangeLimitOptions): Promise<number> {
  const actions = await bridge({ agentName: 'large', agent });
  const auth = { authenticators: [bearerAuth({ tokens: { [token]: 'ann' } })] };
  const server = await serveActions(actions, { ...options, auth });
  closers.push(() => server.stop(0));
  return server.port;
}

async function startMcp(options: ExchangeLimitOptions): Promise<number> {
  const actions = await bridge({ agentName: 'large', agent });
  const server = await serveMcp(actions, { http: { ...options, token } });
  closers.push(() => server.close());
  return Number(new URL(server.url ?? '').port);
}

async function startConsole(options: ExchangeLimitOptions): Promise<number> {
  const trafficLog = new TrafficLog();
  trafficLog.add({
    at: 0,
    exchangeId: 'e',
    kind: 'message',
    from: 'a',
    to: 'b',
    text: 'x'.repeat(large),
  });
  const running = await serveConsole({ ...options, token, trafficLog });
  closers.push(() => running.stop());
  return Number(new URL(running.origin).port);
}

const call = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const parameters = { prompt: String(large) };
const targets: readonly Target[] = [
  {
    name: 'bridge',
    start: startActions,
    path: '/actions/large/default:invoke',
    largeRequest: ['POST', '/actions/large/default:invoke', JSON.stringify({ parameters })],
  },
  {
    name: 'MCP server',
    start: startMcp,
    path: '/mcp',
    largeRequest: ['POST', '/mcp', call('tools/call', { name: 'large_default', arguments: parameters })],
  },
  {
    name: 'console',
    start: startConsole,
    path: '/api/traffic/scenario',
    largeRequest: ['GET', '/api/traffic/file', ''],
  },
];

/** Builds the bytes of a request with credentials. */
function toBytes(
  port: number,
  [method, path, body]: readonly [string, string, string],
  headers: Record<string, string> = {},
): Buffer {
  return rawRequest(method, path, body, {
    Host: `127.0.0.1:${port}`,
    Accept: 'application/json, text/event-stream',
    Authorization: `Bearer ${token}`,
    ...headers,
  });
}

/** Sends bytes and never reads. */
function sendWithoutReading(port: number, bytes: Buffer): { close: () => void } {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(bytes);
  const close = (): void => void socket.destroy();
  closers.push(close);
  return { close };
}

describe.each(targets)('$name', ({ start, path, largeRequest }) => {
  it('limits wrong tokens of an address before it reads bodies', async () => {
    const port = await start({ limits: { failedAuthRate: { perSecond: 0, burst: 2 } } });
    const send = async (authorization?: string): Promise<RawHttpResponse | undefined> => {
      // The rest of the body never arrives.
      const bytes = rawRequest('POST', path, '{', {
        Host: `127.0.0.1:${port}`,
        'Content-Length': '1000000',
        ...(authorization !== undefined && { Authorization: authorization }),
      });
      return sendRawRequest(port, bytes);
    };
    for (let n = 0; n < 4; n++) expect((await send())?.status).toBe(401);
    expect((await send('Bearer wrong-1'))?.status).toBe(401);
    expect((await send('Bearer wrong-2'))?.status).toBe(401);
    const refused = await send(`Bearer ${token}`);
    expect(refused?.status).toBe(429);
    expect(refused?.headers.get('retry-after')).toBe('86400');
  });

  it('limits wrong tokens by default', async () => {
    const port = await start({});
    const statuses = new Map<number | undefined, number>();
    for (let n = 0; n < 300; n++) {
      const wrong = { Authorization: `Bearer wrong-${n}` };
      const response = await sendRawRequest(port, toBytes(port, ['POST', path, '{}'], wrong));
      statuses.set(response?.status, (statuses.get(response?.status) ?? 0) + 1);
    }
    expect(new Set(statuses.keys())).toEqual(new Set([401, 429]));
    expect(statuses.get(401)).toBeGreaterThanOrEqual(100);
  });

  it('counts requests with unreadable bodies', async () => {
    const port = await start({ limits: { rate: { perSecond: 0, burst: 1 } } });
    const send = async () => (await sendRawRequest(port, toBytes(port, ['POST', path, '{'])))?.status;
    expect(await send()).toBe(400);
    expect(await send()).toBe(429);
  });

  it('limits bytes of request bodies in transit per client', async () => {
    const port = await start({ limits: { bodyBytesPerClient: 300_000 } });
    const body = ' '.repeat(250_000);
    const send = async () => (await sendRawRequest(port, toBytes(port, ['POST', path, body])))?.status;
    const unfinished = toBytes(port, ['POST', path, body], { 'Content-Length': '400000' });
    const first = sendWithoutReading(port, unfinished);
    await expect.poll(send).toBe(429);
    first.close();
    await expect.poll(send).toBe(400);
  });

  it('limits bytes of unread responses per client and closes stalled connections', async () => {
    const limits = { outputBytesPerClient: large + 1_000_000 };
    const [method, target, body] = largeRequest;
    const headers = {
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    };
    const isComplete = async (port: number): Promise<boolean> => {
      const url = `http://127.0.0.1:${port}${target}`;
      const response = await fetch(url, { method, headers, ...(body !== '' && { body }) });
      return (await response.arrayBuffer()).byteLength > large;
    };
    const startUnread = async (stallTimeout: number): Promise<() => Promise<boolean>> => {
      const port = await start({ limits, stallTimeout });
      for (let n = 0; n < 3; n++) sendWithoutReading(port, toBytes(port, largeRequest));
      // The connection is closed if the limit is exceeded after the response has begun.
      return () => isComplete(port).catch(() => false);
    };
    await expect.poll(await startUnread(0)).toBe(false);
    await expect.poll(await startUnread(200)).toBe(true);
  });
});

describe('tap', () => {
  async function start(
    options: ExchangeLimitOptions,
    upstream = createServer((request, response) => request.resume().on('end', () => response.end('{}'))),
  ): Promise<{ port: number; trafficLog: TrafficLog }> {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const to = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const trafficLog = new TrafficLog();
    const tap = await runTap({ ...options, to, trafficLog, name: 'upstream' });
    closers.push(
      () => upstream.close(),
      () => upstream.closeAllConnections(),
      () => tap.stop(0),
    );
    return { port: Number(new URL(tap.url).port), trafficLog };
  }

  it('limits the rate of an address', async () => {
    const { port } = await start({ limits: { addressRate: { perSecond: 0, burst: 2 } } });
    const get = async () => (await sendRawRequest(port, rawRequest('GET', '/')))?.status;
    expect([await get(), await get(), await get()]).toEqual([200, 200, 429]);
  });

  it('closes connections that do not read, and those to the agent', async () => {
    let onClosed = (): void => {};
    const closed = new Promise<void>((resolve) => (onClosed = resolve));
    const upstream = createServer((request, response) => {
      if (request.url === '/large') response.on('close', onClosed).end('x'.repeat(large));
      else response.end('{}');
    });
    const { port } = await start({ stallTimeout: 200 }, upstream);
    sendWithoutReading(port, rawRequest('GET', '/large'));
    await closed;
  });

  it('forwards bodies above the limit in bytes and records the beginning', async () => {
    const { port, trafficLog } = await start({ limits: { bodyBytesPerClient: 300_000 } });
    const body = 'x'.repeat(250_000);
    const unfinished = rawRequest('POST', '/first', body, { 'Content-Length': '400000' });
    sendWithoutReading(port, unfinished);
    const send = async () => {
      const response = await sendRawRequest(port, rawRequest('POST', '/second', body));
      expect(response?.status).toBe(200);
      const record = trafficLog.recordsAfter().findLast(({ kind }) => kind === 'request');
      return record?.truncatedBy ?? 0;
    };
    await expect.poll(send).toBeGreaterThan(100_000);
  });
});
