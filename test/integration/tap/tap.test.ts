import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  ClientFactory as Factory1_3,
  JsonRpcTransportFactory as Rpc1_3,
  RestTransportFactory as Rest1_3,
} from 'sdk-1.3/client';
import {
  ClientFactory as Factory0_3,
  JsonRpcTransportFactory as Rpc0_3,
  RestTransportFactory as Rest0_3,
} from 'sdk-0.3/client';
import { describe, expect, it } from 'vitest';
import {
  readTrafficFile,
  type RunTapOptions,
  type TrafficLog,
  writeTrafficFile,
} from '../../../src/tap/index.ts';
import { collect, say } from '../../interop/sdk-1.3-messages.ts';
import { startSampleAgent, startTapTo } from '../../support/tap/start-tap.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { startRawServer } from '../../support/http/raw-server.ts';
import { summarizeRecords, recordsIn, waitForRecord } from '../../support/tap/traffic-log.ts';
import { httpGet, httpOpen as ask, httpPost } from '../../support/http/http-calls.ts';

const open = closeAfterEach();

const startAgent = (options?: Parameters<typeof startSampleAgent>[1]) => startSampleAgent(open, options);
const startTap = (to: string, options?: Partial<RunTapOptions>) => startTapTo(open, to, options);

const streamSummaries = [
  'stream: stream',
  'stream begins',
  'task submitted',
  'status working',
  'artifact answer (first chunk): 0',
  'artifact answer (chunk): 1',
  'artifact answer (chunk): 2',
  'artifact answer (chunk): 3',
  'artifact answer (last chunk): 4',
  'status completed',
  'The stream ended',
];

/** Returns the summaries of all records except cards, and checks their version and transport. */
function summariesOf(log: TrafficLog, version: string, transport: string): string[] {
  return recordsIn(log)
    .filter(({ decoded }) => decoded?.operation !== 'card' && decoded?.operation !== 'extendedCard')
    .map(({ decoded }) => {
      expect({ version: decoded?.version, transport: decoded?.transport }).toEqual({ version, transport });
      return decoded?.summary ?? '';
    });
}

describe('tap with official clients', () => {
  it.each([
    ['JSONRPC', new Rpc1_3()],
    ['HTTP+JSON', new Rest1_3()],
  ])('records a 1.0 client over %s', async (transport, factory) => {
    const { log, url } = await startTap(await startAgent());
    const client = await new Factory1_3({
      transports: [factory],
      preferredTransports: [transport],
    }).createFromUrl(url);
    await client.sendMessage(say('hello'));
    await collect(client.sendMessageStream(say('stream')) as AsyncIterable<any>);
    await waitForRecord(log, ({ kind }) => kind === 'end');
    expect(summariesOf(log, '1.0', transport)).toEqual([
      'send: hello',
      'task completed: hello',
      ...streamSummaries,
    ]);
  });

  it.each([
    ['JSONRPC', new Rpc0_3()],
    ['HTTP+JSON', new Rest0_3()],
  ])('records a 0.3 client over %s', async (transport, factory) => {
    const { log, url } = await startTap(await startAgent());
    const client = await new Factory0_3({
      transports: [factory],
      preferredTransports: [transport],
    }).createFromUrl(url);
    const message = (text: string) => ({
      message: {
        kind: 'message' as const,
        messageId: crypto.randomUUID(),
        role: 'user' as const,
        parts: [{ kind: 'text' as const, text }],
      },
    });
    await client.sendMessage(message('hello'));
    for await (const event of client.sendMessageStream(message('stream'))) expect(event).toBeDefined();
    await waitForRecord(log, ({ kind }) => kind === 'end');
    expect(summariesOf(log, '0.3', transport)).toEqual([
      'send: hello',
      'task completed: hello',
      ...streamSummaries,
    ]);
  });

  it('records raw 0.1 requests', async () => {
    const { log, url } = await startTap(await startAgent());
    const rpcRequest = (method: string, text: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { id: crypto.randomUUID(), message: { role: 'user', parts: [{ type: 'text', text }] } },
    });
    await httpPost(url, rpcRequest('tasks/send', 'hello'));
    await httpPost(url, rpcRequest('tasks/sendSubscribe', 'stream'));
    await waitForRecord(log, ({ kind }) => kind === 'end');
    expect(summariesOf(log, '0.1', 'JSONRPC')).toEqual([
      'send: hello',
      'task completed: hello',
      ...streamSummaries,
    ]);
    const [request] = recordsIn(log);
    expect(request).toMatchObject({ kind: 'request', from: 'client', to: 'Sample', sequence: 1 });
  });
});

describe('runTap', () => {
  const send = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] } };
  const slow = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'slow' }] } };
  const version = { 'a2a-version': '1.0' };

  it('records a cancellation during a stream', async () => {
    const { log, url } = await startTap(await startAgent());
    const response = await ask(`${url}/message:stream`, slow, version);
    const { decoded } = await waitForRecord(
      log,
      (record) => record.decoded?.summary === 'status working: This takes a while.',
    );
    await httpPost(`${url}/tasks/${decoded?.taskId}:cancel`, undefined, version);
    expect(await response.text()).toContain('TASK_STATE_CANCELED');
    await waitForRecord(log, ({ kind }) => kind === 'end');
    expect(
      summarizeRecords(recordsIn(log))
        .filter((line) => /cancel/.test(line))
        .toSorted(),
    ).toEqual([
      'frame Sample → client 1.0 HTTP+JSON status canceled',
      `request client → Sample 1.0 HTTP+JSON cancel task ${decoded?.taskId}`,
      'response Sample → client 1.0 HTTP+JSON task canceled',
    ]);
  });

  it('disconnects from the agent when the client disconnects', async () => {
    let onClose: () => void = () => {};
    const closed = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    const raw = await startRawServer((request, response) => {
      if (request.method === 'GET') return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"message":{"messageId":"1","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}\n\n');
      return response.on('close', onClose);
    });
    open.push(raw);
    const { log, url } = await startTap(raw.url);
    const disconnect = new AbortController();
    await ask(`${url}/message:stream`, slow, version, 'POST', disconnect.signal);
    await waitForRecord(log, ({ kind }) => kind === 'frame');
    disconnect.abort();
    await closed;
    const end = await waitForRecord(log, ({ kind }) => kind === 'end');
    expect(end).toMatchObject({
      text: 'The client disconnected',
      decoded: { isError: true, operation: 'stream' },
    });
  });

  it('disconnects the client when the agent closes the connection', async () => {
    const raw = await startRawServer((request, response) => {
      if (request.method === 'GET') return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        'data: {"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}\n\n',
      );
      setImmediate(() => response.destroy());
      return undefined;
    });
    open.push(raw);
    const { log, url } = await startTap(raw.url);
    const response = await ask(`${url}/message:stream`, slow, version);
    await expect(response.text()).rejects.toThrow();
    const end = await waitForRecord(log, ({ kind }) => kind === 'end');
    expect(end.text).toMatch(/^The agent closed the connection/);
    expect(end.decoded?.findings).toBeUndefined();
  });

  it('records protocol violations of a stream', async () => {
    const raw = await startRawServer((request, response) => {
      if (request.method === 'GET') return response.writeHead(404).end();
      const status = (state: string) =>
        `data: {"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_${state}"}}}\n\n`;
      const task = 'data: {"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}\n\n';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(task + status('COMPLETED') + status('WORKING'));
    });
    open.push(raw);
    const { log, url } = await startTap(raw.url);
    await httpPost(`${url}/message:stream`, slow, version);
    await waitForRecord(log, ({ kind }) => kind === 'end');
    const findings = recordsIn(log).flatMap(({ decoded }) => decoded?.findings ?? []);
    expect(findings.map(({ rule }) => rule)).toContain('after-terminal');
  });

  it('responds 502 when the connection to the agent is refused', async () => {
    const raw = await startRawServer(() => undefined);
    await raw.close();
    const { log, url } = await startTap(raw.url);
    const { status, json } = await httpPost(`${url}/message:send`, send, version);
    expect(status).toBe(502);
    expect(json.error.message).toBe(
      `The tap cannot reach ${raw.url}: connection refused (ECONNREFUSED). Is the agent running?`,
    );
    expect(recordsIn(log).map(({ kind }) => kind)).toEqual(['request', 'response', 'end']);
    expect(recordsIn(log)[1]).toMatchObject({ http: { status: 502 }, decoded: { isError: true } });
  });

  it('forwards methods, headers, bytes and status codes unchanged', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 256));
    const raw = await startRawServer((request, response) => {
      response.writeHead(request.method === 'DELETE' ? 418 : 200, 'As It Is', {
        'content-type': 'application/octet-stream',
        'x-seen': `${request.method} ${request.path} ${String(request.headers['x-mine'])} ${request.headers.host}`,
        'set-cookie': ['a=1; Path=/', 'b=2'],
        'x-body': createHash('sha256').update(request.text).digest('hex'),
      });
      response.end(bytes);
    });
    open.push(raw);
    const { log, url } = await startTap(raw.url);
    const body = 'ä'.repeat(50_000);
    const response = await ask(`${url}/any/where?x=1`, body, { 'x-mine': 'Yes' }, 'DELETE');
    expect(response.status).toBe(418);
    expect(response.statusText).toBe('As It Is');
    expect(response.headers.get('x-seen')).toBe(`DELETE /any/where?x=1 Yes ${new URL(raw.url).host}`);
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
    expect(response.headers.get('x-body')).toBe(createHash('sha256').update(body).digest('hex'));
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    const record = await waitForRecord(log, ({ kind, http }) => kind === 'response' && http?.status === 418);
    expect(record.text).toBe('(100000 bytes of application/octet-stream)');
  });

  it('truncates recorded bodies and forwards them completely', async () => {
    const { log, url } = await startTap(await startAgent(), { maxTextLength: 1_000 });
    const long = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x'.repeat(30_000) }] } };
    const { json } = await httpPost(`${url}/message:send`, long, version);
    expect(json.task.artifacts[0].parts[0].text).toHaveLength(30_000);
    const [request] = recordsIn(log);
    expect(request?.text).toHaveLength(1_000);
    expect(request?.truncatedBy).toBeGreaterThan(29_000);
    expect(request?.decoded).toMatchObject({
      operation: 'send',
      summary: expect.stringMatching(/^send: x{79}…$/),
    });
    expect(request?.decoded?.model).toBeUndefined();
  });

  it('decodes compressed responses and forwards them unchanged', async () => {
    const task = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } };
    const packed = gzipSync(JSON.stringify(task));
    const raw = await startRawServer((request, response) => {
      if (request.method === 'GET') return response.writeHead(404).end();
      return response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(packed);
    });
    open.push(raw);
    const { log, url } = await startTap(raw.url);
    expect((await httpPost(`${url}/message:send`, send, version)).json).toEqual(task);
    const record = await waitForRecord(log, ({ kind }) => kind === 'response');
    expect(record).toMatchObject({
      text: JSON.stringify(task),
      decoded: { summary: 'task completed', taskId: 't' },
    });
  });

  it('summarizes requests that are not A2A', async () => {
    const { log, url } = await startTap(await startAgent());
    await httpPost(url, 'no JSON at all');
    await httpGet(`${url}/favicon.ico`);
    await httpPost(url, [
      { jsonrpc: '2.0', id: 1, method: 'GetTask' },
      { jsonrpc: '2.0', id: 2, method: 'GetTask' },
    ]);
    await httpPost(url, { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: 1 } });
    const requests = recordsIn(log).filter(({ kind }) => kind === 'request');
    expect(requests.map(({ decoded }) => [decoded?.operation, decoded?.summary])).toEqual([
      [undefined, 'POST /'],
      [undefined, 'GET /favicon.ico'],
      [undefined, 'batch of 2'],
      ['send', expect.stringMatching(/^send, not readable: message/)],
    ]);
  });

  it('redacts secrets in URLs, headers and bodies', async () => {
    const secret = 'tok_live_4711_abcdef';
    const raw = await startRawServer((request, response) => {
      if (request.path.endsWith('agent-card.json'))
        return response.end(
          JSON.stringify({
            name: 'Keyed',
            url: 'http://x.test',
            securitySchemes: {
              k: { type: 'apiKey', in: 'query', name: 'k9' },
              h: { type: 'apiKey', in: 'header', name: 'X-Door' },
            },
            protocolVersion: '0.3.0',
          }),
        );
      response.setHeader('set-cookie', `session=${secret}`);
      return response.end(JSON.stringify({ echo: secret, headers: request.headers, path: request.path }));
    });
    open.push(raw);
    const { log, url } = await startTap(raw.url);
    await httpGet(`${url}/.well-known/agent-card.json`);
    await waitForRecord(log, ({ kind }) => kind === 'response');
    const config = {
      url: 'https://hook.test/x',
      token: `hook-${secret}`,
      authentication: { schemes: ['Bearer'], credentials: `cred-${secret}` },
    };
    const params = { taskId: 't', pushNotificationConfig: config };
    await httpPost(
      `${url}/?key=${secret}&k9=${secret}`,
      { jsonrpc: '2.0', id: 1, method: 'tasks/pushNotificationConfig/set', params },
      {
        authorization: `Bearer ${secret}`,
        cookie: `sid=${secret}`,
        'x-api-key': secret,
        'x-door': secret,
      },
    );
    await waitForRecord(log, ({ sequence }) => sequence === 4);
    const file = writeTrafficFile(recordsIn(log));
    expect(file).not.toContain(secret);
    expect(file).toContain('[redacted]');
    expect(readTrafficFile(file)).toEqual(recordsIn(log));
  });
});

describe('agent card through a tap', () => {
  const cards: [string, (url: string) => object, (url: string) => object][] = [
    [
      '0.1',
      (url) => ({
        name: 'A',
        url: `${url}/`,
        version: '1',
        authentication: { schemes: [] },
        capabilities: {},
        skills: [],
      }),
      (url) => ({ url: `${url}/` }),
    ],
    [
      '0.3',
      (url) => ({
        name: 'A',
        protocolVersion: '0.3.0',
        url: `${url}/a2a`,
        additionalInterfaces: [
          { url: `${url}/a2a`, transport: 'JSONRPC' },
          { url: `${url}/rest`, transport: 'HTTP+JSON' },
        ],
      }),
      (url) => ({
        url: `${url}/a2a`,
        additionalInterfaces: [
          { url: `${url}/a2a`, transport: 'JSONRPC' },
          { url: `${url}/rest`, transport: 'HTTP+JSON' },
        ],
      }),
    ],
    [
      '1.0',
      (url) => ({
        name: 'A',
        supportedInterfaces: [{ url: `${url}/a2a?x=1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      }),
      (url) => ({
        supportedInterfaces: [{ url: `${url}/a2a?x=1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      }),
    ],
    [
      'with another name of the local host',
      (url) => ({ name: 'A', url: url.replace('127.0.0.1', 'localhost') }),
      (url) => ({ url }),
    ],
    ['with a relative URL', () => ({ name: 'A', url: '/a2a' }), () => ({ url: '/a2a' })],
  ];

  it.each(cards)('contains the URL of the tap: %s', async (_version, written, expected) => {
    const raw = await startRawServer((request, response, url) => {
      const text = JSON.stringify(written(url));
      if (request.headers['if-none-match'] === '"mark"')
        return response.writeHead(304, { etag: '"mark"' }).end();
      return response
        .writeHead(200, { 'content-type': 'application/json', etag: '"mark"', 'content-length': text.length })
        .end(text);
    });
    open.push(raw);
    const { url } = await startTap(`${raw.url}/agents/a`);
    const { origin } = new URL(url);
    expect(url).toBe(`${origin}/agents/a`);
    const { json, text, headers } = await httpGet(`${url}/.well-known/agent-card.json`);
    expect(json).toMatchObject(expected(origin));
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    const etag = headers.get('etag') ?? '';
    expect((await httpGet(`${url}/.well-known/agent-card.json`, { 'if-none-match': etag })).status).toBe(304);
    expect(raw.requests.at(-1)?.headers['if-none-match']).toBe('"mark"');
  });

  it('contains the URL of the tap in an extended card over JSON-RPC', async () => {
    const { url } = await startTap(await startAgent());
    const request = { jsonrpc: '2.0', id: 7, method: 'GetExtendedAgentCard' };
    const { json } = await httpPost(url, request, { 'a2a-version': '1.0' });
    expect(json.id).toBe(7);
    const urls = json.result.supportedInterfaces.map((each: { url: string }) => each.url);
    // An address of gRPC has no scheme.
    expect(new Set(urls)).toEqual(new Set([url, new URL(url).host]));
  });

  it('causes a warning if it is signed or lists another origin', async () => {
    const raw = await startRawServer((_request, response, url) =>
      response.end(
        JSON.stringify({
          name: 'A',
          supportedInterfaces: [{ url }, { url: 'https://else.test/a2a' }],
          signatures: [{ protected: 'e30', signature: 'c2ln' }],
        }),
      ),
    );
    open.push(raw);
    const warnings: string[] = [];
    const { url, tap } = await startTap(raw.url, { onWarning: (warning) => warnings.push(warning) });
    await httpGet(`${url}/.well-known/agent-card.json`);
    expect(tap.name).toBe('A');
    expect(warnings).toEqual([
      expect.stringContaining('invalidates the signature'),
      expect.stringContaining('https://else.test'),
    ]);
  });
});
