import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestAgentServer } from '../test-agent-server.ts';

let server: TestAgentServer;
beforeEach(async () => {
  server = await TestAgentServer.start();
});
afterEach(() => server.stop());

const script = (text: string): string =>
  `rules:\n  - name: hello\n    when: { text: hello }\n    then: [{ complete: ${text} }]\n`;

async function admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${server.adminUrl}${path}`, { method, body: text });
  return { status: response.status, body: await response.json() };
}

async function send(text: string): Promise<any> {
  const message = {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } });
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });
  return ((await response.json()) as { result: unknown }).result;
}

describe('AdminApi', () => {
  it('GET /health returns the status', async () => {
    expect(await admin('GET', '/health')).toEqual({
      status: 200,
      body: { status: 'ok', uptime: expect.any(Number), requests: 0, primed: 0 },
    });
  });

  it('replaces, adds and deletes scripts', async () => {
    expect((await admin('PUT', '/rules', script('one'))).status).toBe(200);
    expect(await send('hello')).toMatchObject({
      status: { state: 'completed', message: { parts: [{ text: 'one' }] } },
    });
    expect((await admin('POST', '/rules', { script: script('two'), file: 'two.yaml' })).status).toBe(200);
    expect(await send('hello')).toMatchObject({ status: { message: { parts: [{ text: 'two' }] } } });
    expect((await admin('GET', '/rules')).body).toMatchObject({
      scripts: [
        { file: 'two.yaml', text: script('two'), rules: [{ name: 'hello', matches: 1 }] },
        { file: 'rules.yaml', text: script('one') },
      ],
    });
    expect((await admin('DELETE', '/rules')).body).toEqual({ scripts: [] });
    expect(await send('hello')).toMatchObject({ status: { state: 'failed' } });
  });

  it('rejects an invalid script with diagnostics and keeps the previous rules', async () => {
    await admin('PUT', '/rules', script('one'));
    const rejected = await admin('PUT', '/rules', 'rules:\n  - wehn: {}\n');
    expect(rejected.status).toBe(400);
    expect(rejected.body.error.diagnostics[0]).toMatchObject({
      line: expect.any(Number),
      path: expect.stringContaining('rules[0]'),
    });
    expect(await send('hello')).toMatchObject({ status: { message: { parts: [{ text: 'one' }] } } });
  });

  it('adds, replaces, inserts and deletes single rules', async () => {
    const rule = (text: string): string => `when: { text: hello }\nthen: [{ complete: ${text} }]`;
    const sendHello = async (): Promise<string> => (await send('hello')).status.message.parts[0].text;
    expect(await admin('PUT', '/rules/greets%20back', rule('one'))).toMatchObject({
      status: 200,
      body: { name: 'greets back', matches: 0, rule: { when: { text: 'hello' } } },
    });
    expect(await sendHello()).toBe('one');
    await admin('PUT', '/rules/greets%20back', rule('two'));
    expect(await sendHello()).toBe('two');
    await admin('PUT', '/rules/first?before=greets%20back', rule('three'));
    expect(await sendHello()).toBe('three');
    const { body } = await admin('GET', '/rules');
    expect(body.scripts[0].rules.map(({ name }: any) => name)).toEqual(['first', 'greets back']);
    expect((await admin('DELETE', '/rules/first')).status).toBe(200);
    expect(await sendHello()).toBe('two');
    expect((await admin('GET', '/rules/greets%20back')).body.matches).toBe(2);
  });

  it('reports unknown and invalid rules', async () => {
    await admin('PUT', '/rules', script('one'));
    expect(await admin('GET', '/rules/bye')).toMatchObject({
      status: 404,
      body: { error: { message: 'Unknown rule: bye', hint: expect.stringContaining('/__admin/rules') } },
    });
    expect((await admin('DELETE', '/rules/bye')).status).toBe(404);
    expect((await admin('GET', '/rules/%E0%A4')).status).toBe(400);
    expect((await admin('PUT', '/rules/bye?before=missing', 'then: []')).body.error.message).toContain(
      'unknown rule missing',
    );
    const invalid = await admin('PUT', '/rules/hello', 'then: [{ sey: a }]');
    expect(invalid.body.error.diagnostics[0]).toMatchObject({ line: 1, path: 'then[0].sey' });
    expect(await send('hello')).toMatchObject({ status: { message: { parts: [{ text: 'one' }] } } });
  });

  it('POST /prime queues responses and reports invalid ones', async () => {
    const completed = { kind: 'task', status: { state: 'completed' } };
    expect((await admin('POST', '/prime', [completed])).body).toEqual({ primed: 1 });
    expect((await admin('POST', '/prime', { responses: [completed] })).body).toEqual({ primed: 2 });
    expect(await admin('POST', '/prime', [{ kind: 'x' }])).toEqual({
      status: 400,
      body: {
        error: { message: 'responses[0].kind must be task, status-update, artifact-update or message' },
      },
    });
    expect((await admin('POST', '/prime', '{')).body.error.message).toMatch(/^The body is not JSON/);
    expect(await send('hi')).toMatchObject({ status: { state: 'completed' } });
  });

  it('returns, filters and clears the journal', async () => {
    const task = await send('hi');
    const { body } = await admin('GET', `/journal?operation=send&taskId=${task.id}&unmatched=false`);
    expect(body).toMatchObject({
      total: 1,
      entries: [{ id: 1, call: { operation: 'send', taskId: task.id } }],
    });
    expect((await admin('GET', '/journal?method=get')).body.total).toBe(0);
    expect((await admin('GET', '/journal/1')).body).toMatchObject({ id: 1, response: { status: 200 } });
    expect((await admin('GET', '/journal/99')).status).toBe(404);
    expect((await admin('DELETE', '/journal')).body).toEqual({ entries: [], total: 0 });
    expect((await admin('GET', '/journal')).body.total).toBe(0);
  });

  it('returns near misses in the journal, also with a fallback', async () => {
    await admin('PUT', '/rules', script('one'));
    await send('hallo');
    await admin('PUT', '/rules', `${script('one')}otherwise: { then: [{ complete: what? }] }\n`);
    await send('hullo');
    await send('hello');
    const { entries } = (await admin('GET', '/journal')).body;
    const nearMiss = (text: string) => [
      { rule: 'hello', matched: 0, mismatches: [`text: expected "hello", was "${text}"`] },
    ];
    expect(entries.map(({ unmatched, nearMisses }: any) => ({ unmatched, nearMisses }))).toEqual([
      { unmatched: nearMiss('hallo'), nearMisses: nearMiss('hallo') },
      { unmatched: undefined, nearMisses: nearMiss('hullo') },
      { unmatched: undefined, nearMisses: undefined },
    ]);
    expect((await admin('GET', '/journal?unmatched=true')).body.total).toBe(1);
  });

  it('POST /reset resets all state except scripts', async () => {
    server.prime([{ kind: 'task', status: { state: 'completed' } }]);
    server.injectHttpError({ status: 500 });
    expect((await admin('POST', '/reset')).body).toEqual({ status: 'ok' });
    expect(server.primedCount).toBe(0);
    expect(await send('hi')).toMatchObject({ status: { state: 'failed' } });
  });

  it('POST /clock advances a virtual clock and rejects the system clock', async () => {
    expect(await admin('POST', '/clock', { advance: 1 })).toMatchObject({
      status: 400,
      body: { error: { hint: expect.stringContaining('--clock virtual') } },
    });
    await server.stop();
    server = await TestAgentServer.start({ clock: 'virtual' });
    const { body: before } = await admin('GET', '/clock');
    expect(before).toMatchObject({ isVirtual: true, isAuto: true });
    await admin('POST', '/clock', { auto: false });
    const { body: after } = await admin('POST', '/clock', { advance: 60_000 });
    expect(after.now - before.now).toBeGreaterThanOrEqual(60_000);
    expect(after.isAuto).toBe(false);
    expect((await admin('POST', '/clock', { advance: -1 })).body.error.message).toMatch(/^advance must be/);
  });

  it('responds 404 to unknown paths and 405 to wrong methods', async () => {
    expect(await admin('GET', '/nothing')).toMatchObject({
      status: 404,
      body: { error: { hint: expect.stringContaining('/__admin/health') } },
    });
    expect(await admin('PATCH', '/rules')).toMatchObject({
      status: 405,
      body: { error: { message: 'Allowed methods: GET, PUT, POST, DELETE' } },
    });
  });

  it.each<[string, Record<string, string>, number]>([
    ['local client', {}, 200],
    ['web page of the server', { host: 'localhost:1', origin: 'http://localhost:1' }, 200],
    ['web page of another local server', { origin: 'http://localhost:3000' }, 403],
    ['other host name', { host: 'agents.example.com' }, 403],
    ['host name that starts with a loopback address', { host: '127.0.0.1.example.com' }, 403],
    ['web page of another origin', { origin: 'https://example.com' }, 403],
    ['web page with origin null', { origin: 'null' }, 403],
  ])('checks Host and Origin: %s', async (_client, headers, expected) => {
    const { port } = server;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request({ port, host: '127.0.0.1', path: '/__admin/health', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(expected);
  });

  it('serves all clients with allowAdminFrom *, and none with admin: false', async () => {
    await server.stop();
    server = await TestAgentServer.start({ allowAdminFrom: '*' });
    const response = await fetch(`${server.adminUrl}/health`, { headers: { Origin: 'https://example.com' } });
    expect(response.status).toBe(200);
    await server.stop();
    server = await TestAgentServer.start({ admin: false });
    expect((await fetch(`${server.adminUrl}/health`)).status).toBe(404);
  });
});
