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
import { serve } from '../../../src/server/node/serve.ts';
import {
  readTrafficFile,
  runTap,
  type RunTapOptions,
  TrafficLog,
  writeTrafficFile,
} from '../../../src/tap/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { collect, say } from '../../interop/sdk-1.3-messages.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { startRawServer } from '../../support/http/raw-server.ts';
import { summarizeRecords, recordsIn, waitForRecord } from '../../support/tap/traffic-log.ts';
import { httpGet, httpOpen as ask, httpPost } from '../../support/http/http-calls.ts';

const open = closeAfterEach();

async function served(options: Parameters<typeof serve>[1] = {}): Promise<string> {
  const server = await serve(sampleAgent(), options);
  open.push({ close: () => server.stop(0) });
  return server.url;
}

async function tapped(to: string, options: Partial<RunTapOptions> = {}) {
  const tape = new TrafficLog();
  const tap = await runTap({ to, trafficLog: tape, ...options });
  open.push({ close: () => tap.stop(0) });
  return { tape, tap, url: tap.url };
}

const streamed = [
  'stream: stream',
  'stream begins',
  'task submitted',
  'status working',
  'artifact answer (begins): 0',
  'artifact answer (chunk): 1',
  'artifact answer (chunk): 2',
  'artifact answer (chunk): 3',
  'artifact answer (last chunk): 4',
  'status completed',
  'The stream ended',
];

/** What was said over the way that is meant, without cards. */
function gistsOf(tape: TrafficLog, version: string, binding: string): string[] {
  return recordsIn(tape)
    .filter(({ decoded: meaning }) => meaning?.operation !== 'card' && meaning?.operation !== 'extendedCard')
    .map(({ decoded: meaning }) => {
      expect({ version: meaning?.version, binding: meaning?.binding }).toEqual({ version, binding });
      return meaning?.summary ?? '';
    });
}

describe('the official clients through a tap', () => {
  it.each([
    ['JSONRPC', new Rpc1_3()],
    ['HTTP+JSON', new Rest1_3()],
  ])('1.0 over %s', async (transport, factory) => {
    const { tape, url } = await tapped(await served());
    const client = await new Factory1_3({
      transports: [factory],
      preferredTransports: [transport],
    }).createFromUrl(url);
    await client.sendMessage(say('hello'));
    await collect(client.sendMessageStream(say('stream')) as AsyncIterable<any>);
    await waitForRecord(tape, ({ kind }) => kind === 'end');
    expect(gistsOf(tape, '1.0', transport)).toEqual(['send: hello', 'task completed: hello', ...streamed]);
  });

  it.each([
    ['JSONRPC', new Rpc0_3()],
    ['HTTP+JSON', new Rest0_3()],
  ])('0.3 over %s', async (transport, factory) => {
    const { tape, url } = await tapped(await served());
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
    await waitForRecord(tape, ({ kind }) => kind === 'end');
    expect(gistsOf(tape, '0.3', transport)).toEqual(['send: hello', 'task completed: hello', ...streamed]);
  });

  it('and the raw words of 0.1', async () => {
    const { tape, url } = await tapped(await served());
    const words = (method: string, text: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { id: crypto.randomUUID(), message: { role: 'user', parts: [{ type: 'text', text }] } },
    });
    await httpPost(url, words('tasks/send', 'hello'));
    await httpPost(url, words('tasks/sendSubscribe', 'stream'));
    await waitForRecord(tape, ({ kind }) => kind === 'end');
    expect(gistsOf(tape, '0.1', 'JSONRPC')).toEqual(['send: hello', 'task completed: hello', ...streamed]);
    const [request] = recordsIn(tape);
    expect(request).toMatchObject({ kind: 'request', from: 'caller', to: 'Sample', sequence: 1 });
  });
});

describe('a tap', () => {
  const send = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] } };
  const slow = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'slow' }] } };
  const version = { 'a2a-version': '1.0' };

  it('lets a task be canceled in the middle of its stream', async () => {
    const { tape, url } = await tapped(await served());
    const response = await ask(`${url}/message:stream`, slow, version);
    const { decoded: meaning } = await waitForRecord(
      tape,
      ({ decoded: said }) => said?.summary === 'status working: This takes a while.',
    );
    await httpPost(`${url}/tasks/${meaning?.taskId}:cancel`, undefined, version);
    expect(await response.text()).toContain('TASK_STATE_CANCELED');
    await waitForRecord(tape, ({ kind }) => kind === 'end');
    expect(
      summarizeRecords(recordsIn(tape))
        .filter((line) => /cancel/.test(line))
        .toSorted(),
    ).toEqual([
      'frame Sample → caller 1.0 HTTP+JSON status canceled',
      `request caller → Sample 1.0 HTTP+JSON cancel task ${meaning?.taskId}`,
      'response Sample → caller 1.0 HTTP+JSON task canceled',
    ]);
  });

  it('hangs up when the caller does, and says so', async () => {
    let isGone: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      isGone = resolve;
    });
    const raw = await startRawServer((request, response) => {
      if (request.method === 'GET') return response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"message":{"messageId":"1","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}\n\n');
      return response.on('close', isGone);
    });
    open.push(raw);
    const { tape, url } = await tapped(raw.url);
    const leave = new AbortController();
    await ask(`${url}/message:stream`, slow, version, 'POST', leave.signal);
    await waitForRecord(tape, ({ kind }) => kind === 'frame');
    leave.abort();
    await gone;
    const end = await waitForRecord(tape, ({ kind }) => kind === 'end');
    expect(end).toMatchObject({
      text: 'The caller hung up',
      meaning: { isError: true, operation: 'stream' },
    });
  });

  it('breaks off when the agent does, and says so', async () => {
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
    const { tape, url } = await tapped(raw.url);
    const response = await ask(`${url}/message:stream`, slow, version);
    await expect(response.text()).rejects.toThrow();
    const end = await waitForRecord(tape, ({ kind }) => kind === 'end');
    expect(end.text).toMatch(/^The agent broke off/);
    expect(end.decoded?.findings).toBeUndefined();
  });

  it('finds what is not legal about a stream', async () => {
    const raw = await startRawServer((request, response) => {
      if (request.method === 'GET') return response.writeHead(404).end();
      const status = (state: string) =>
        `data: {"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_${state}"}}}\n\n`;
      const task = 'data: {"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}\n\n';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(task + status('COMPLETED') + status('WORKING'));
    });
    open.push(raw);
    const { tape, url } = await tapped(raw.url);
    await httpPost(`${url}/message:stream`, slow, version);
    await waitForRecord(tape, ({ kind }) => kind === 'end');
    const found = recordsIn(tape).flatMap(({ decoded: meaning }) => meaning?.findings ?? []);
    expect(found.map(({ rule }) => rule)).toContain('after-terminal');
  });

  it('answers 502 in plain words where there is no agent', async () => {
    const raw = await startRawServer(() => undefined);
    await raw.close();
    const { tape, url } = await tapped(raw.url);
    const { status, json } = await httpPost(`${url}/message:send`, send, version);
    expect(status).toBe(502);
    expect(json.error.message).toBe(
      `The tap cannot reach ${raw.url}: nothing listens there (ECONNREFUSED). Is the agent running?`,
    );
    expect(recordsIn(tape).map(({ kind }) => kind)).toEqual(['request', 'response', 'end']);
    expect(recordsIn(tape)[1]).toMatchObject({ http: { status: 502 }, meaning: { isError: true } });
  });

  it('passes everything on as it is: methods, headers, bytes, statuses', async () => {
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
    const { tape, url } = await tapped(raw.url);
    const body = 'ä'.repeat(50_000);
    const response = await ask(`${url}/any/where?x=1`, body, { 'x-mine': 'Yes' }, 'DELETE');
    expect(response.status).toBe(418);
    expect(response.statusText).toBe('As It Is');
    expect(response.headers.get('x-seen')).toBe(`DELETE /any/where?x=1 Yes ${new URL(raw.url).host}`);
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
    expect(response.headers.get('x-body')).toBe(createHash('sha256').update(body).digest('hex'));
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    const seen = await waitForRecord(tape, ({ kind, http }) => kind === 'response' && http?.status === 418);
    expect(seen.text).toBe('(100000 bytes of application/octet-stream)');
  });

  it('keeps so much of a body, says how much is missing, and passes all of it', async () => {
    const { tape, url } = await tapped(await served(), { keep: 1_000 });
    const long = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x'.repeat(30_000) }] } };
    const { json } = await httpPost(`${url}/message:send`, long, version);
    expect(json.task.artifacts[0].parts[0].text).toHaveLength(30_000);
    const [request] = recordsIn(tape);
    expect(request?.text).toHaveLength(1_000);
    expect(request?.truncatedBy).toBeGreaterThan(29_000);
    expect(request?.decoded).toMatchObject({
      operation: 'send',
      gist: expect.stringMatching(/^send: x{79}…$/),
    });
    expect(request?.decoded?.model).toBeUndefined();
  });

  it('reads answers that are compressed, and passes them as they are', async () => {
    const task = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } };
    const packed = gzipSync(JSON.stringify(task));
    const raw = await startRawServer((request, response) => {
      if (request.method === 'GET') return response.writeHead(404).end();
      return response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(packed);
    });
    open.push(raw);
    const { tape, url } = await tapped(raw.url);
    expect((await httpPost(`${url}/message:send`, send, version)).json).toEqual(task);
    const seen = await waitForRecord(tape, ({ kind }) => kind === 'response');
    expect(seen).toMatchObject({
      text: JSON.stringify(task),
      meaning: { gist: 'task completed', taskId: 't' },
    });
  });

  it('says what it can of what nobody understands', async () => {
    const { tape, url } = await tapped(await served());
    await httpPost(url, 'no JSON at all');
    await httpGet(`${url}/favicon.ico`);
    await httpPost(url, [
      { jsonrpc: '2.0', id: 1, method: 'GetTask' },
      { jsonrpc: '2.0', id: 2, method: 'GetTask' },
    ]);
    await httpPost(url, { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: 1 } });
    const requests = recordsIn(tape).filter(({ kind }) => kind === 'request');
    expect(requests.map(({ decoded: meaning }) => [meaning?.operation, meaning?.summary])).toEqual([
      [undefined, 'POST /'],
      [undefined, 'GET /favicon.ico'],
      [undefined, 'batch of 2'],
      ['send', expect.stringMatching(/^send, not readable: message/)],
    ]);
  });

  it('keeps no secret, wherever it is', async () => {
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
    const { tape, url } = await tapped(raw.url);
    await httpGet(`${url}/.well-known/agent-card.json`);
    await waitForRecord(tape, ({ kind }) => kind === 'response');
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
    await waitForRecord(tape, ({ sequence }) => sequence === 4);
    const file = writeTrafficFile(recordsIn(tape));
    expect(file).not.toContain(secret);
    expect(file).toContain('[removed]');
    expect(readTrafficFile(file)).toEqual(recordsIn(tape));
  });
});

describe('a card through a tap', () => {
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
      'with another name of this machine',
      (url) => ({ name: 'A', url: url.replace('127.0.0.1', 'localhost') }),
      (url) => ({ url }),
    ],
    ['with a relative address', () => ({ name: 'A', url: '/a2a' }), () => ({ url: '/a2a' })],
  ];

  it.each(cards)('leads back through it: %s', async (_version, written, expected) => {
    const raw = await startRawServer((request, response, url) => {
      const text = JSON.stringify(written(url));
      if (request.headers['if-none-match'] === '"mark"')
        return response.writeHead(304, { etag: '"mark"' }).end();
      return response
        .writeHead(200, { 'content-type': 'application/json', etag: '"mark"', 'content-length': text.length })
        .end(text);
    });
    open.push(raw);
    const { url } = await tapped(`${raw.url}/agents/a`);
    const { origin } = new URL(url);
    expect(url).toBe(`${origin}/agents/a`);
    const { json, text, headers } = await httpGet(`${url}/.well-known/agent-card.json`);
    expect(json).toMatchObject(expected(origin));
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    const etag = headers.get('etag') ?? '';
    expect((await httpGet(`${url}/.well-known/agent-card.json`, { 'if-none-match': etag })).status).toBe(304);
    expect(raw.requests.at(-1)?.headers['if-none-match']).toBe('"mark"');
  });

  it('leads back through it when it is an extended one over JSON-RPC', async () => {
    const { url } = await tapped(await served());
    const request = { jsonrpc: '2.0', id: 7, method: 'GetExtendedAgentCard' };
    const { json } = await httpPost(url, request, { 'a2a-version': '1.0' });
    expect(json.id).toBe(7);
    const urls = json.result.supportedInterfaces.map((each: { url: string }) => each.url);
    expect(new Set(urls)).toEqual(new Set([url]));
  });

  it('is warned about when it is signed, and when it leads elsewhere', async () => {
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
    const { url, tap } = await tapped(raw.url, { onWarning: (warning) => warnings.push(warning) });
    await httpGet(`${url}/.well-known/agent-card.json`);
    expect(tap.name).toBe('A');
    expect(warnings).toEqual([
      expect.stringContaining('signature does not fit'),
      expect.stringContaining('https://else.test'),
    ]);
  });

  const rpc = (url: string) => ({ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' });
  const grpc = { url: 'grpc.test:443', protocolBinding: 'GRPC', protocolVersion: '1.0' };
  const olderRpc = (url: string) => ({ url: `${url}/a2a`, transport: 'JSONRPC' });
  const olderGrpc = { url: 'https://grpc.test', transport: 'GRPC' };
  const withGrpc: [string, (url: string) => object, (url: string) => object, RegExp][] = [
    [
      'of 1.0, where it is the first',
      (url) => ({ supportedInterfaces: [grpc, rpc(url)] }),
      (url) => ({ supportedInterfaces: [rpc(url)] }),
      /^The card offers gRPC too, which the tap cannot record/,
    ],
    [
      'of 1.0 that has a relative address beside it',
      () => ({ supportedInterfaces: [grpc, rpc('')] }),
      () => ({ supportedInterfaces: [rpc('')] }),
      /^The card offers gRPC too/,
    ],
    [
      'of 1.0 that has nothing else',
      () => ({ supportedInterfaces: [grpc] }),
      () => ({ supportedInterfaces: [] }),
      /^The card offers nothing but gRPC, which the tap cannot record/,
    ],
    [
      'of 0.3, as an additional interface',
      (url) => ({ url: `${url}/a2a`, additionalInterfaces: [olderGrpc, olderRpc(url)] }),
      (url) => ({ url: `${url}/a2a`, additionalInterfaces: [olderRpc(url)] }),
      /^The card offers gRPC too/,
    ],
    [
      'of 0.3 that prefers it',
      (url) => ({
        url: olderGrpc.url,
        preferredTransport: 'GRPC',
        additionalInterfaces: [olderGrpc, olderRpc(url)],
      }),
      (url) => ({
        url: `${url}/a2a`,
        preferredTransport: 'JSONRPC',
        additionalInterfaces: [olderRpc(url)],
      }),
      /^The card offers gRPC too/,
    ],
    [
      'of 0.3 that has nothing else',
      () => ({ url: olderGrpc.url, preferredTransport: 'GRPC' }),
      () => ({}),
      /^The card offers nothing but gRPC/,
    ],
  ];

  it.each(withGrpc)('does not lead past it by gRPC: one %s', async (_which, written, expected, warning) => {
    const raw = await startRawServer((_request, response, url) =>
      response.end(JSON.stringify({ name: 'A', ...written(url) })),
    );
    open.push(raw);
    const warnings: string[] = [];
    const { tape, url } = await tapped(raw.url, { onWarning: (each) => warnings.push(each) });
    for (let i = 0; i < 2; i++)
      expect((await httpGet(`${url}/.well-known/agent-card.json`)).json).toEqual({
        name: 'A',
        ...expected(url),
      });
    expect(warnings).toEqual([expect.stringMatching(warning)]);
    const { text } = await waitForRecord(tape, ({ kind }) => kind === 'response');
    expect(text).not.toContain('grpc.test');
  });
});
