import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalAgent } from '../../../src/engine/index.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { httpGet, httpOpen, httpPost, callRpc } from '../../support/http/http-calls.ts';

let agent: LocalAgent;
let server: RunningServer;

beforeAll(async () => {
  agent = sampleAgent({ extensions: [{ uri: 'urn:a' }, { uri: 'urn:b' }] });
  server = await serve(agent);
});
afterAll(async () => {
  await server.stop();
  await agent.close();
});

const modern = { 'a2a-version': '1.0' };
const says = (text: string, more: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
});
const rpcRequest = (params: unknown, method = 'SendMessage') => ({ jsonrpc: '2.0', id: 1, method, params });

describe('A2A-Version', () => {
  it.each(['1.0', '1.0.0', '1.0.1', ' 1.0 '])('accepts %j as 1.0', async (version) => {
    const { json } = await httpPost(server.url, rpcRequest(says('hi')), { 'a2a-version': version });
    expect(json.result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('accepts A2A-Version in the query', async () => {
    const { json } = await httpPost(`${server.url}/?A2A-Version=1.0`, rpcRequest(says('hi')));
    expect(json.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    const listed = await httpGet(`${server.url}/tasks?contextId=none&A2A-Version=1.0`);
    expect(listed.json).toMatchObject({ tasks: [] });
  });

  it('defaults to 0.3', async () => {
    const strict = await httpPost(server.url, rpcRequest(says('hi')));
    expect(strict.json).toMatchObject({ id: 1, error: { code: -32009 } });
    expect(strict.json.error.data[0]).toMatchObject({ reason: 'VERSION_NOT_SUPPORTED' });
    const empty = await httpPost(server.url, rpcRequest(says('hi')), { 'a2a-version': '' });
    expect(empty.json.error.code).toBe(-32009);
    const other = await serve(agent, { lenientVersion: true });
    const lenient = await httpPost(other.url, rpcRequest(says('hi')));
    expect(lenient.json.result.task.status.state).toBe('TASK_STATE_COMPLETED');
    await other.stop();
  });

  it.each(['2.0', '0.9', 'one'])('rejects %s', async (version) => {
    const over = await httpPost(server.url, rpcRequest(says('hi')), { 'a2a-version': version });
    expect(over).toMatchObject({ status: 200, json: { id: 1, error: { code: -32009 } } });
    const rest = await httpPost(`${server.url}/message:send`, says('hi'), { 'a2a-version': version });
    expect(rest).toMatchObject({
      status: 400,
      json: { error: { code: 400, status: 'FAILED_PRECONDITION' } },
    });
    expect(rest.json.error.details[0]).toMatchObject({
      reason: 'VERSION_NOT_SUPPORTED',
      metadata: { supported: '1.0, 0.3, 0.2, 0.1' },
    });
  });

  it('selects the available methods', async () => {
    expect((await callRpc(server.url, 'message/send', {}, '1.0')).error.code).toBe(-32601);
    expect((await callRpc(server.url, 'SendMessage', {}, '0.3')).error.code).toBe(-32601);
    expect((await callRpc(server.url, 'constructor', {}, '1.0')).error.code).toBe(-32601);
  });
});

describe('JSON-RPC envelope', () => {
  it.each([
    ['has no jsonrpc member', { id: 1, method: 'GetTask', params: { id: 'x' } }],
    ['has another jsonrpc version', { jsonrpc: '1.0', id: 1, method: 'GetTask' }],
    ['is a batch', [rpcRequest({ id: 'x' }, 'GetTask')]],
    ['is an empty batch', []],
    ['has an object as id', { ...rpcRequest({ id: 'x' }, 'GetTask'), id: {} }],
    ['has a list as id', { ...rpcRequest({ id: 'x' }, 'GetTask'), id: [1] }],
    ['has true as id', { ...rpcRequest({ id: 'x' }, 'GetTask'), id: true }],
    ['has no method', { jsonrpc: '2.0', id: null }],
    ['has a number as method', { jsonrpc: '2.0', id: null, method: 7 }],
    ['is null', 'null'],
  ])('rejects an envelope that %s', async (_name, body) => {
    const { status, json } = await httpPost(server.url, body, modern);
    expect(status).toBe(200);
    expect(json).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } });
  });

  it.each([7, 'seven', null, 1.5])('returns the id %j', async (id) => {
    const { json } = await httpPost(server.url, { ...rpcRequest({ id: 'x' }, 'GetTask'), id }, modern);
    expect(json).toMatchObject({ id, error: { code: -32001 } });
  });

  it('rejects JSON above the maximum depth', async () => {
    expect((await httpPost(server.url, '{', modern)).json).toMatchObject({
      id: null,
      error: { code: -32700 },
    });
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
    const nested = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"a":${deep}}}`;
    expect((await httpPost(server.url, nested, modern)).json.error.code).toBe(-32600);
    const xml = await httpPost(server.url, '<a/>', { ...modern, 'content-type': 'text/xml' });
    expect(xml).toMatchObject({ status: 415, json: { error: { code: -32005 } } });
  });

  it('rejects a body above maxBodyBytes', async () => {
    const other = await serve(agent, { maxBodyBytes: 1_000 });
    const { status, json } = await httpPost(other.url, rpcRequest(says('x'.repeat(2_000))), modern);
    expect(status).toBe(413);
    expect(json).toMatchObject({ id: null, error: { code: -32600 } });
    await other.stop();
  });
});

describe('message', () => {
  it.each([
    ['no parts', { parts: [] }, 'message.parts'],
    ['a part without content', { parts: [{ mediaType: 'text/plain' }] }, 'message.parts[0]'],
    ['a part with two contents', { parts: [{ text: 'a' }, { text: 'a', url: 'b:c' }] }, 'message.parts[1]'],
    ['an unknown role', { role: 'ROLE_JUDGE' }, 'message.role'],
    ['no id', { messageId: '' }, 'message.messageId'],
    ['a number as text', { parts: [{ text: 7 }] }, 'message.parts[0].text'],
  ])('rejects a message with %s and names the field', async (_name, wrong, field) => {
    const { json } = await httpPost(server.url, rpcRequest(says('hi', wrong)), modern);
    expect(json).toMatchObject({ id: 1, error: { code: -32602 } });
    const violations = json.error.data.find((each: any) => each.fieldViolations)?.fieldViolations;
    expect(violations[0].field).toBe(field);
    const rest = await httpPost(`${server.url}/message:send`, says('hi', wrong), modern);
    expect(rest.status).toBe(400);
    expect(rest.json.error.details[1].fieldViolations[0].field).toBe(field);
  });

  it('accepts snake case and numeric enumerations', async () => {
    const message = {
      message_id: 'm-snake',
      role: 1,
      context_id: 'c-snake',
      parts: [{ text: 'hi', media_type: 'a/b' }],
    };
    const configuration = { history_length: 1, return_immediately: false };
    const { json } = await httpPost(server.url, rpcRequest({ message, configuration }), modern);
    expect(json.result.task).toMatchObject({
      contextId: 'c-snake',
      history: [{ messageId: 'm-snake', parts: [{ text: 'hi', mediaType: 'a/b' }] }],
    });
    const listed = await httpGet(
      `${server.url}/tasks?context_id=c-snake&page_size=1&include_artifacts=true`,
      modern,
    );
    expect(listed.json).toMatchObject({ totalSize: 1, pageSize: 1, tasks: [{ artifacts: [{}] }] });
  });

  it('rejects a message whose context differs from the task', async () => {
    const { task } = (await httpPost(server.url, rpcRequest(says('ask')), modern)).json.result;
    const wrong = says('that', { taskId: task.id, contextId: 'another' });
    expect((await httpPost(server.url, rpcRequest(wrong), modern)).json.error).toMatchObject({
      code: -32602,
    });
    const right = says('that', { taskId: task.id });
    expect((await httpPost(server.url, rpcRequest(right), modern)).json.result.task.contextId).toBe(
      task.contextId,
    );
  });
});

describe('REST', () => {
  it('responds 404 with JSON to unknown paths', async () => {
    for (const path of ['/nothing', '/tasks/a/b/c', '/v1/nothing', '/tasks/%E0%A4%A']) {
      const { status, headers, json } = await httpGet(server.url + path);
      expect([400, 404]).toContain(status);
      expect(headers.get('content-type')).toMatch(/json/);
      expect(json).toBeDefined();
    }
  });

  it('responds 405 with Allow', async () => {
    const { status, headers } = await httpGet(`${server.url}/message:send`, modern);
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('POST');
    expect((await httpGet(server.url)).status).toBe(405);
    expect((await httpOpen(`${server.url}/tasks/x`, undefined, modern, 'DELETE')).status).toBe(405);
  });

  it('accepts ids with special characters', async () => {
    const named = { id: 'a/b:cancel c', message: { role: 'user', parts: [{ type: 'text', text: 'ask' }] } };
    await callRpc(server.url, 'tasks/send', named);
    const path = `${server.url}/tasks/${encodeURIComponent(named.id)}`;
    expect((await httpGet(path, modern)).json).toMatchObject({ id: named.id });
    const canceled = await httpPost(`${path}:cancel`, undefined, modern);
    expect(canceled.json).toMatchObject({ id: named.id, status: { state: 'TASK_STATE_CANCELED' } });
  });
});

describe('extensions', () => {
  it.each([
    ['A2A-Extensions', 'urn:b, urn:unknown,urn:a', 'urn:b, urn:a'],
    ['X-A2A-Extensions', 'urn:a', 'urn:a'],
    ['A2A-Extensions', 'urn:unknown', null],
  ])('activates extensions in %s: %s', async (header, wanted, active) => {
    const { headers } = await httpPost(server.url, rpcRequest(says('hi')), { ...modern, [header]: wanted });
    expect(headers.get(header)).toBe(active);
    const stream = await httpOpen(`${server.url}/message:stream`, says('hi'), {
      ...modern,
      [header]: wanted,
    });
    expect(stream.headers.get(header)).toBe(active);
    await stream.text();
  });

  it('mentions extensions only if the client requests them', async () => {
    const { headers } = await httpPost(server.url, rpcRequest(says('hi')), modern);
    expect(headers.get('a2a-extensions')).toBeNull();
  });

  it('rejects requests without a required extension', async () => {
    const strict = sampleAgent({ extensions: [{ uri: 'urn:needed', required: true }] });
    const other = await serve(strict);
    const refused = await httpPost(other.url, rpcRequest(says('hi')), modern);
    expect(refused.json.error).toMatchObject({ code: -32008 });
    expect(refused.json.error.data[0]).toMatchObject({ reason: 'EXTENSION_SUPPORT_REQUIRED' });
    const taken = await httpPost(other.url, rpcRequest(says('hi')), {
      ...modern,
      'a2a-extensions': 'urn:needed',
    });
    expect(taken.json.result.task).toBeDefined();
    expect(taken.headers.get('a2a-extensions')).toBe('urn:needed');
    await other.stop();
    await strict.close();
  });
});
