import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { Metrics } from '../../../src/metrics/metrics.ts';
import type { LogEntry } from '../../../src/primitives/log.ts';
import { apiKeyAuth } from '../../../src/server/auth/schemes/api-key.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { toFetchHandler } from '../../../src/server/fetch.ts';
import { type ServeOptions, type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { parseExposition, type ExpositionSample } from '../../support/metrics/exposition.ts';
import { readSseFrames } from '../../support/http/sse-frames.ts';
import { httpGet, httpOpen, httpPost } from '../../support/http/http-calls.ts';

const v1 = { 'a2a-version': '1.0' };

let server: RunningServer | undefined;

async function start(options: ServeOptions, metrics?: Metrics): Promise<RunningServer> {
  const agent = defineAgent(
    {
      name: 'Watched',
      description: 'Is watched',
      async *process({ text }) {
        if (text === 'fail') throw new Error('no');
        yield text;
      },
    },
    { metrics },
  );
  server = await serve(agent, options);
  return server;
}

afterEach(async () => {
  await server?.stop(0);
  server = undefined;
});

const message = (text = 'hi') => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] });
const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });

async function samplesAt(url: string): Promise<(name: string, labels?: object) => number | undefined> {
  const { text, headers } = await httpGet(`${url}/metrics`);
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const { samples } = parseExposition(text);
  const fits = ({ labels }: ExpositionSample, wanted: object) =>
    Object.entries(wanted).every(([label, value]) => labels[label] === value);
  return (name, labels = {}) => samples.find((each) => each.name === name && fits(each, labels))?.value;
}

describe('metrics endpoint', () => {
  it('returns metrics of requests, streams, tasks and bytes', async () => {
    const metrics = new Metrics();
    const { url } = await start({ metrics: { metrics } }, metrics);
    await httpPost(url, rpc('SendMessage', { message: message() }), v1);
    await httpPost(url, rpc('SendMessage', { message: message('fail') }), v1);
    await httpPost(`${url}/message:send`, { message: message() }, v1);
    await httpPost(url, rpc('GetTask', { id: 'no-such-task' }), v1);
    await httpPost(url, rpc('tasks/get', { id: 'no-such-task' }));
    await httpPost(url, '{', v1);
    const events = await readSseFrames(
      await httpOpen(url, rpc('SendStreamingMessage', { message: message() }), v1),
    );
    await expect
      .poll(async () =>
        (await samplesAt(url))('dragoman_requests_total', { operation: 'stream', outcome: 'OK' }),
      )
      .toBe(1);
    const value = await samplesAt(url);
    const requests = (labels: object) => value('dragoman_requests_total', labels);
    expect(requests({ operation: 'send', version: '1.0', transport: 'JSONRPC', outcome: 'OK' })).toBe(2);
    expect(requests({ operation: 'send', version: '1.0', transport: 'HTTP+JSON', outcome: 'OK' })).toBe(1);
    expect(requests({ operation: 'getTask', version: '1.0', outcome: 'TASK_NOT_FOUND' })).toBe(1);
    expect(requests({ operation: 'getTask', version: '0.3', outcome: 'TASK_NOT_FOUND' })).toBe(1);
    expect(requests({ operation: 'none', outcome: 'PARSE_ERROR' })).toBe(1);
    expect(
      value('a2a_server_operation_duration_seconds_count', {
        a2a_method_name: 'SendMessage',
        a2a_protocol_version: '1.0',
        a2a_protocol_binding: 'JSONRPC',
        error_type: '',
      }),
    ).toBe(2);
    expect(value('dragoman_stream_events_total')).toBe(events.length);
    expect(value('dragoman_streams_open')).toBe(0);
    expect(value('dragoman_tasks_total', { state: 'completed' })).toBe(3);
    expect(value('dragoman_tasks_total', { state: 'failed' })).toBe(1);
    expect(value('dragoman_tasks_total', { state: 'submitted' })).toBe(4);
    expect(value('dragoman_runs')).toBe(0);
    expect(value('dragoman_received_bytes_total')).toBeGreaterThan(1_000);
    expect(value('dragoman_sent_bytes_total')).toBeGreaterThan(1_000);
  });

  it('counts rejected requests', async () => {
    const auth = { authenticators: [bearerAuth({ tokens: { secret: 'alice' } })] };
    const { url } = await start({ metrics: true, auth, maxBodyBytes: 100 });
    expect((await httpPost(url, rpc('GetTask', { id: '1' }), v1)).status).toBe(401);
    const large = { ...v1, authorization: 'Bearer secret' };
    expect((await httpPost(url, rpc('GetTask', { id: 'x'.repeat(200) }), large)).status).toBe(413);
    const value = await samplesAt(url);
    expect(value('dragoman_requests_total', { outcome: 'UNAUTHENTICATED' })).toBe(1);
    expect(value('dragoman_requests_total', { outcome: 'PAYLOAD_TOO_LARGE' })).toBe(1);
    expect(value('dragoman_limits_hit_total', { limit: 'maxBodyBytes' })).toBe(1);
  });

  it('responds 404 to /metrics by default', async () => {
    const { url } = await start({});
    expect((await httpGet(`${url}/metrics`)).status).toBe(404);
  });

  it('serves metrics at the configured path below basePath', async () => {
    const { url } = await start({ basePath: '/echo', metrics: { path: '/numbers' } });
    expect((await httpGet(`${url}/echo/numbers`)).status).toBe(200);
    expect((await httpGet(`${url}/echo/metrics`)).status).toBe(404);
  });

  it('responds according to metrics.allow', async () => {
    const allow = ({ headers }: { headers: { authorization?: unknown } }) =>
      headers.authorization === 'Bearer scrape';
    const auth = { authenticators: [bearerAuth({ tokens: { secret: 'alice' } })] };
    const { url } = await start({ auth, metrics: { allow } });
    expect((await httpGet(`${url}/metrics`)).status).toBe(403);
    expect((await httpGet(`${url}/metrics`, { authorization: 'Bearer secret' })).status).toBe(403);
    expect((await httpGet(`${url}/metrics`, { authorization: 'Bearer scrape' })).status).toBe(200);
  });

  it('denies remote clients by default', async () => {
    const agent = defineAgent({ name: 'A', description: 'B', process: ({ text }) => text });
    const ask = (metrics: ServeOptions['metrics']) =>
      toFetchHandler(agent, { metrics })(new Request('http://agent.example/metrics'));
    expect((await ask(true)).status).toBe(403);
    expect((await ask({ allow: () => true })).status).toBe(200);
  });
});

describe('request log', () => {
  const entries: LogEntry[] = [];
  const log = (entry: LogEntry) => void entries.push(entry);
  afterEach(() => entries.splice(0));

  it('contains client, operation and outcome', async () => {
    const { url } = await start({ log });
    const { json } = await httpPost(url, rpc('SendMessage', { message: message() }), v1);
    await httpPost(`${url}/message:send`, { message: message() }, v1);
    await httpPost(url, rpc('GetTask', { id: 'no-such-task' }), v1);
    await httpGet(`${url}/healthz`);
    expect(entries).toHaveLength(3);
    expect(entries[0]).toEqual({
      level: 'info',
      message: 'request',
      taskId: json.result.task.id,
      fields: {
        method: 'POST',
        path: '/',
        operation: 'send',
        version: '1.0',
        transport: 'JSONRPC',
        status: 200,
        outcome: 'OK',
        duration: expect.any(Number),
        events: undefined,
        client: '127.0.0.1',
      },
    });
    expect(entries[1]?.fields).toMatchObject({ path: '/message:send', transport: 'HTTP+JSON' });
    expect(entries[2]).toMatchObject({ taskId: 'no-such-task', fields: { outcome: 'TASK_NOT_FOUND' } });
  });

  it('contains a stream after its end', async () => {
    const { url } = await start({ log });
    const events = await readSseFrames(
      await httpOpen(url, rpc('SendStreamingMessage', { message: message() }), v1),
    );
    await expect.poll(() => entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      taskId: events[0]?.data.result.task.id,
      fields: { operation: 'stream', events: events.length },
    });
  });

  it('contains no secrets', async () => {
    const auth = {
      authenticators: [
        bearerAuth({ tokens: { 'secret-1': 'alice' } }),
        apiKeyAuth({ name: 'key', in: 'query', keys: { 'secret-2': 'bob' } }),
      ],
    };
    const { url } = await start({ log, auth });
    const request = rpc('ListTasks', {});
    expect((await httpPost(url, request, { ...v1, authorization: 'Bearer secret-1' })).status).toBe(200);
    expect((await httpPost(`${url}/?key=secret-2`, request, v1)).status).toBe(200);
    expect((await httpPost(`${url}/?key=secret-3`, request, { ...v1, cookie: 'secret-4' })).status).toBe(401);
    expect((await httpGet(`${url}/tasks?key=secret-2`, v1)).status).toBe(200);
    expect(entries.map(({ fields }) => fields?.client)).toEqual(['alice', 'bob', '127.0.0.1', 'bob']);
    expect(JSON.stringify(entries)).not.toContain('secret');
  });

  it('does not affect the response when the log sink throws', async () => {
    const { url } = await start({
      log: () => {
        throw new Error('full');
      },
    });
    expect((await httpPost(url, rpc('ListTasks', {}), v1)).status).toBe(200);
  });
});
