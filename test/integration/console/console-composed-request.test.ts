import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComposedRequest, AgentEndpoint } from '../../../src/console/console-api.ts';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { writeOperationRequest } from '../../../src/dialects/http/operation-request.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { status } from '../../../src/engine/agent-output.ts';
import { bearerAuth } from '../../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { ConsolePage } from '../../support/console/console-page.ts';
import { type RawServer, respondJson, startRawServer } from '../../support/http/raw-server.ts';
import { wireCardFixture } from '../../support/http/wire-fixtures-1_0.ts';

const token = 'a-secret-of-the-agent';
const agent = defineAgent({
  name: 'Echo',
  description: 'Repeats',
  async *process({ text, signal }) {
    yield status('working', 'wait');
    if (text === 'slow') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield status('completed', text);
  },
});
let server: RunningServer;
let raw: RawServer;
let received: { method: string; path: string; headers: Record<string, unknown>; body: string }[] = [];
let running: RunningConsole;
let page: ConsolePage;

const idOf = (url: string): string =>
  createHash('sha256').update(new URL(url).href).digest('hex').slice(0, 12);

beforeAll(async () => {
  server = await serve(agent, { auth: { authenticators: [bearerAuth({ tokens: { [token]: 'me' } })] } });
  raw = await startRawServer(({ method, path, headers, text: body }, response, url) => {
    if (path.includes('/.well-known/'))
      return respondJson(
        response,
        wireCardFixture(url, {
          supportedInterfaces: [
            { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
            { url: 'http://192.168.0.1/agent', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
          ],
        }),
      );
    received.push({ method, path, headers, body });
    response.setHeader('x-answer', 'yes');
    return respondJson(response, { ok: true }, 418);
  });
  running = await serveConsole({
    agents: [
      { url: server.url, credentials: { kind: 'bearer', token } },
      { url: raw.url, credentials: { kind: 'header', name: 'X-Api-Key', value: token } },
    ],
  });
  page = new ConsolePage(running);
});
afterAll(async () => {
  await running.stop();
  await Promise.all([server.stop(0), raw.close()]);
  await agent.close();
});

const send = (url: string, request: Partial<ComposedRequest>): Promise<any[]> =>
  page.collect(`agents/${idOf(url)}/requests`, { method: 'POST', url, headers: [], ...request });

const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'Hi' }] };

describe('composed request routes', () => {
  it('list the interfaces of the card', async () => {
    const endpoints: AgentEndpoint[] = await page.requestJson(`agents/${idOf(server.url)}/endpoints`);
    const variants = endpoints.map(({ version, transport }) => `${version} ${transport}`);
    expect(variants[0]).toBe('1.0 JSONRPC');
    expect(variants).toEqual(expect.arrayContaining(['1.0 HTTP+JSON', '1.0 GRPC', '0.3 JSONRPC']));
  });

  it('send text as written, also if it is invalid, and return the complete answer', async () => {
    received = [];
    const events = await send(raw.url, {
      url: `${raw.url}/any/path?x=1`,
      headers: [
        { name: 'Content-Type', value: 'application/json' },
        { name: 'X-Twice', value: 'a' },
        { name: 'x-twice', value: 'b' },
        { name: 'User-Agent', value: 'mine' },
      ],
      body: '{"jsonrpc": "2.0",\n  broken',
    });
    expect(received).toMatchObject([
      {
        method: 'POST',
        path: '/any/path?x=1',
        body: '{"jsonrpc": "2.0",\n  broken',
        headers: { 'x-twice': 'a, b', 'user-agent': 'mine', 'x-api-key': token },
      },
    ]);
    expect(events.map(({ kind }) => kind)).toEqual(['record', 'record', 'done']);
    const [request, response] = events.map(({ record }) => record);
    expect(request.http.headers).toMatchObject({ 'x-twice': 'a, b', 'x-api-key': '[redacted]' });
    expect(response).toMatchObject({ kind: 'response', text: '{"ok":true}', http: { status: 418 } });
    expect(response.http.headers).toMatchObject({ 'x-answer': 'yes' });
    expect(response.elapsed).toBeGreaterThanOrEqual(0);
  });

  it.each([
    ['fill in redacted headers', '[redacted]', true, token],
    ['leave headers of the user unchanged', 'mine', true, 'mine'],
    ['send no credentials if the user does not want it', '[redacted]', false, undefined],
  ])('%s', async (_what, value, hasCredentials, sent) => {
    received = [];
    await send(raw.url, { headers: [{ name: 'x-api-key', value }], hasCredentials, body: '' });
    expect(received[0]?.headers['x-api-key']).toBe(sent);
  });

  it.each(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)(
    'stream the events of %s, decoded and with times',
    async (transport) => {
      const variant = { version: '1.0', transport, operation: 'stream' } as const;
      const endpoints: AgentEndpoint[] = await page.requestJson(`agents/${idOf(server.url)}/endpoints`);
      const endpoint = endpoints.find((each) => each.transport === transport && each.version === '1.0');
      const { headers, body, ...rest } = writeOperationRequest(
        variant,
        { message },
        endpoint as AgentEndpoint,
      );
      const events = await send(server.url, {
        ...rest,
        headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
        body: JSON.stringify(body),
        isGrpc: transport === 'GRPC',
      });
      expect(events.at(-1)).toEqual({ kind: 'done' });
      const records = events.slice(0, -1).map(({ record }) => record);
      expect(records.map(({ kind }) => kind)).toEqual([
        'request',
        'response',
        ...records.slice(2, -1).map(() => 'frame'),
        'end',
      ]);
      expect(records[0].decoded).toMatchObject({ operation: 'stream', transport, version: '1.0' });
      expect(records.at(-2).decoded).toMatchObject({ state: 'completed' });
      expect(records.at(-2).elapsed).toBeGreaterThanOrEqual(0);
    },
  );

  it('end a stream that the page closes', async () => {
    const variant = { version: '1.0', transport: 'JSONRPC', operation: 'stream' } as const;
    const slow = { message: { ...message, messageId: 'slow', parts: [{ text: 'slow' }] } };
    const written = writeOperationRequest(variant, slow, { url: server.url });
    const headers = Object.entries(written.headers).map(([name, value]) => ({ name, value }));
    const input = { method: 'POST', url: written.url, headers, body: JSON.stringify(written.body) };
    for await (const { record } of page.stream(`agents/${idOf(server.url)}/requests`, input))
      if (record?.decoded?.state === 'working') break;
    // The console records the end of its own request.
    for await (const { record } of page.stream('traffic'))
      if (record?.kind === 'end' && /abort|disconnect|closed/i.test(record.text)) break;
  });

  it('report that an agent does not respond', async () => {
    const closed = await startRawServer((_request, response) => respondJson(response, {}));
    await page.requestJson('agents', { url: closed.url });
    await closed.close();
    expect((await send(closed.url, { body: '{}' })).at(-1)).toMatchObject({
      kind: 'error',
      reason: 'UNAVAILABLE',
    });
  });

  it.each([
    ['another origin', { url: 'http://127.0.0.1:1/' }, 'url must have the origin of the agent'],
    ['an address that the egress policy denies', { url: 'http://192.168.0.1/agent' }, '192.168.0.1'],
    ['gRPC without a method', { isGrpc: true, body: '{}' }, 'url must end with a method'],
  ])('reject %s', async (_what, request, expected) => {
    received = [];
    const events = await send(raw.url, request);
    expect(events).toMatchObject([{ kind: 'error', message: expect.stringContaining(expected) }]);
    expect(received).toEqual([]);
  });

  it.each([
    ['file URLs', { url: 'file:///etc/passwd' }],
    ['other methods', { method: 'PUT' }],
    ['headers of the HTTP client', { headers: [{ name: 'Host', value: 'evil.example' }] }],
    ['headers with line breaks', { headers: [{ name: 'x', value: 'a\r\nb: c' }] }],
    ['large bodies', { body: 'x'.repeat(8 * 1_024 * 1_024 + 1) }],
    ['unknown members', { egress: false }],
  ])('reject %s with 400', async (_what, request) => {
    const body = JSON.stringify({ method: 'POST', url: raw.url, headers: [], ...request });
    const response = await page.request(`agents/${idOf(raw.url)}/requests`, { method: 'POST', body });
    expect(response.status).toBe(400);
  });

  it('respond 404 for unknown agents', async () => {
    const body = JSON.stringify({ method: 'POST', url: raw.url, headers: [] });
    expect((await page.request('agents/unknown/requests', { method: 'POST', body })).status).toBe(404);
  });
});
