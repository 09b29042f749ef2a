import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import type { ProcessFunction } from '../../../src/engine/agent-definition.ts';
import { Metrics } from '../../../src/metrics/metrics.ts';
import { toFetchHandler } from '../../../src/server/fetch.ts';
import { type ServeOptions, type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { streamSseFrames } from '../../support/http/sse-frames.ts';
import { RawConnection, sendRawRequest, rawRequest } from '../../support/http/raw-http.ts';
import { httpOpen, httpPost } from '../../support/http/http-calls.ts';
import { userMessage, streamClients } from '../../support/server/stream-clients.ts';

const v1 = { 'a2a-version': '1.0' };

let server: RunningServer | undefined;
let metrics = new Metrics();

async function start(
  options: ServeOptions,
  process: ProcessFunction = ({ text }) => text,
): Promise<RunningServer> {
  metrics = new Metrics();
  const agent = defineAgent({ name: 'Limited', description: 'Has limits', process });
  server = await serve(agent, { ...options, metrics: { metrics } });
  return server;
}

afterEach(async () => {
  await server?.stop(0);
  server = undefined;
});

const send = (message: unknown) => ({
  jsonrpc: '2.0',
  id: 'mine',
  method: 'SendMessage',
  params: { message },
});
const message = (more: object = {}) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text: 'hi' }],
  ...more,
});

/** Returns the metric of an exceeded limit. */
const hits = (limit: string): string | undefined =>
  new RegExp(`^dragoman_limits_hit_total\\{limit="${limit}"\\} (\\d+)$`, 'm').exec(
    metrics.registry.text(),
  )?.[1];

describe('rate limit', () => {
  const limits = { rate: { perSecond: 0.01, burst: 1 } };

  it('responds 429 with request id and Retry-After over JSON-RPC', async () => {
    const { url } = await start({ limits });
    expect((await httpPost(url, send(message()), v1)).status).toBe(200);
    const late = await httpPost(url, send(message()), v1);
    expect(late.status).toBe(429);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(90);
    expect(late.json).toMatchObject({ id: 'mine', error: { code: -32603 } });
    expect(hits('rate')).toBe('1');
  });

  it('responds 429 with Retry-After over REST', async () => {
    const { url } = await start({ limits });
    expect((await httpPost(`${url}/message:send`, { message: message() }, v1)).status).toBe(200);
    const late = await httpPost(`${url}/message:send`, { message: message() }, v1);
    expect(late.status).toBe(429);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(90);
    expect(late.json.error).toMatchObject({ code: 429, status: 'RESOURCE_EXHAUSTED' });
  });

  it.each(streamClients)('applies to streams in $name', async (voice) => {
    const { url } = await start({ limits });
    const first = await voice.stream(url, userMessage('hi'));
    expect(first.status).toBe(200);
    await first.text();
    const late = await voice.stream(url, userMessage('hi'));
    expect(late.status).toBe(429);
    expect(late.headers.get('retry-after')).not.toBeNull();
    await late.text();
  });

  it('applies to all clients together without address', async () => {
    const handler = toFetchHandler(
      defineAgent({ name: 'Limited', description: 'Has limits', process: ({ text }) => text }),
      { limits },
    );
    const ask = () =>
      handler(
        new Request('http://localhost/', {
          method: 'POST',
          body: JSON.stringify(send(message())),
          headers: { 'content-type': 'application/json', ...v1 },
        }),
      );
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
  });
});

describe('concurrency limits', () => {
  it('limits open streams per client', async () => {
    const work = createDeferred();
    const { url } = await start({ limits: { streamsPerClient: 1 } }, async ({ text }) => {
      await work.promise;
      return text;
    });
    const subscribe = {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message: message() },
    };
    const first = await httpOpen(url, subscribe, v1);
    const reader = streamSseFrames(first);
    await reader.next();
    const refused = await httpPost(url, { ...subscribe, params: { message: message() } }, v1);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(hits('streamsPerClient')).toBe('1');
    work.resolve();
    for await (const frame of reader) void frame;
    await expect
      .poll(async () => (await httpPost(url, { ...subscribe, params: { message: message() } }, v1)).status)
      .toBe(200);
  });

  it('releases the slot of a stream that failed to open', async () => {
    const { url } = await start({ limits: { streamsPerClient: 1 } });
    for (let each = 0; each < 3; each++) {
      const { json } = await httpPost(
        url,
        { jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: 'no-such-task' } },
        v1,
      );
      expect(json.error.code).toBe(-32001);
    }
  });

  it('limits concurrent requests per client', async () => {
    const work = createDeferred();
    const begun = createDeferred();
    const { url } = await start({ limits: { requestsPerClient: 1 } }, async ({ text }) => {
      begun.resolve();
      await work.promise;
      return text;
    });
    const first = httpPost(url, send(message()), v1);
    await begun.promise;
    expect((await httpPost(url, send(message()), v1)).status).toBe(429);
    expect(hits('requestsPerClient')).toBe('1');
    work.resolve();
    expect((await first).status).toBe(200);
    expect((await httpPost(url, send(message()), v1)).status).toBe(200);
  });
});

describe('message limits', () => {
  it('limits the number of parts and names the field', async () => {
    const { url } = await start({ limits: { parts: 2 } });
    const parts = [{ text: 'a' }, { text: 'b' }, { text: 'c' }];
    const { json } = await httpPost(url, send(message({ parts })), v1);
    expect(json.error.code).toBe(-32602);
    expect(json.error.message).toBe('message.parts must have at most 2 parts (has 3)');
    const rest = await httpPost(`${url}/message:send`, { message: message({ parts }) }, v1);
    expect(rest.status).toBe(400);
    expect(hits('parts')).toBe('2');
    expect((await httpPost(url, send(message({ parts: parts.slice(1) })), v1)).json.result).toBeDefined();
  });

  it.each([
    ['the message', { metadata: { x: 'y'.repeat(100) } }],
    ['a part', { parts: [{ text: 'a', metadata: { x: 'y'.repeat(100) } }] }],
  ])('limits the size of metadata of %s', async (_where, more) => {
    const { url } = await start({ limits: { metadataBytes: 100 } });
    const { json } = await httpPost(url, send(message(more)), v1);
    expect(json.error.code).toBe(-32602);
    expect(json.error.message).toMatch(/^metadata must have at most 100 bytes \(has 10\d\)$/);
    expect(hits('metadataBytes')).toBe('1');
    expect((await httpPost(url, send(message({ metadata: { x: 'y' } })), v1)).json.result).toBeDefined();
  });

  it('limits the nesting depth of JSON', async () => {
    const { url } = await start({ limits: { jsonDepth: 6 } });
    const deep = { parts: [{ data: { a: { b: {} } } }] };
    const { json } = await httpPost(url, send(message(deep)), v1);
    expect(json.error).toMatchObject({ code: -32600 });
    expect(json.error.message).toContain('6 levels');
    expect(hits('jsonDepth')).toBe('1');
    expect((await httpPost(url, send(message()), v1)).json.result).toBeDefined();
  });
});

describe('header limits', () => {
  it('responds 431 to too many headers', async () => {
    const { port } = await start({ limits: { headers: 5 } });
    const many = Object.fromEntries(Array.from({ length: 6 }, (_, each) => [`x-${each}`, 'y']));
    const reply = await sendRawRequest(port, rawRequest('POST', '/', JSON.stringify(send(message())), many));
    expect(reply?.status).toBe(431);
    expect(JSON.parse(reply?.body ?? '').error.message).toBe('Request has more than 5 headers');
    expect(hits('headers')).toBe('1');
    const few = await sendRawRequest(port, rawRequest('GET', '/healthz', '', { 'x-1': 'y' }));
    expect(few?.status).toBe(200);
  });

  it('responds 431 to headers above headerBytes', async () => {
    const { port } = await start({ limits: { headerBytes: 1_000 } });
    const reply = await sendRawRequest(port, rawRequest('GET', '/healthz', '', { 'x-1': 'y'.repeat(2_000) }));
    expect(reply?.status).toBe(431);
    expect(hits('headerBytes')).toBe('1');
  });
});

describe('timeouts', () => {
  it('responds 408 when headers arrive too slowly', async () => {
    const { port } = await start({ limits: { headersTimeout: 100, requestTimeout: 100 } });
    const connection = new RawConnection(port);
    connection.write('POST / HTTP/1.1\r\nHost: localhost\r\n');
    const drip = setInterval(() => connection.write('X-Slow: 1\r\n'), 20);
    const reply = await connection.nextResponse();
    clearInterval(drip);
    expect(reply?.status).toBe(408);
    await connection.waitForEnd();
    connection.destroy();
    expect(hits('requestTimeout')).toBe('1');
  });

  it('responds 408 when the body arrives too slowly', async () => {
    const { port } = await start({ limits: { headersTimeout: 100, requestTimeout: 150 } });
    const connection = new RawConnection(port);
    connection.write(rawRequest('POST', '/', '{', { 'Content-Length': '100000' }));
    const drip = setInterval(() => connection.write(' '), 20);
    const reply = await connection.nextResponse();
    clearInterval(drip);
    expect(reply?.status).toBe(408);
    await connection.waitForEnd();
    connection.destroy();
  });

  it('closes a connection without a request', async () => {
    const { port } = await start({ limits: { keepAliveTimeout: 50 } });
    const connection = new RawConnection(port);
    connection.write(rawRequest('GET', '/healthz'));
    expect((await connection.nextResponse())?.status).toBe(200);
    await connection.waitForEnd();
    connection.destroy();
  });

  it('does not close an open stream', async () => {
    const work = createDeferred();
    const { url } = await start(
      { limits: { headersTimeout: 500, requestTimeout: 500 } },
      async ({ text }) => {
        await work.promise;
        return text;
      },
    );
    const stream = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message: message() } };
    const reader = streamSseFrames(await httpOpen(url, stream, v1));
    await reader.next();
    // A later connection has timed out, so the timeout of the first one has passed.
    const other = new RawConnection(Number(new URL(url).port));
    other.write('POST / HTTP/1.1\r\n');
    await other.waitForEnd();
    other.destroy();
    work.resolve();
    const states: string[] = [];
    for await (const { data } of reader) states.push(data?.result?.statusUpdate?.status.state ?? '');
    expect(states).toContain('TASK_STATE_COMPLETED');
  });

  it('responds with TIMEOUT after responseTimeout while the task continues', async () => {
    const work = createDeferred();
    const { url } = await start({ limits: { responseTimeout: 50 } }, async ({ text }) => {
      await work.promise;
      return text;
    });
    const { json } = await httpPost(url, send(message()), v1);
    expect(json).toMatchObject({ id: 'mine', error: { code: -32603 } });
    expect(json.error.message).toContain('50 ms');
    expect(hits('responseTimeout')).toBe('1');
    const list = await httpPost(url, { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }, v1);
    expect(list.json.result.tasks[0].status.state).toBe('TASK_STATE_WORKING');
    work.resolve();
  });
});
