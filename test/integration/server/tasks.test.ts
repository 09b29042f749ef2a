import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalAgent } from '../../../src/engine/index.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { httpGet, httpOpen, httpPost, callRpc } from '../../support/http/http-calls.ts';

let agent: LocalAgent;
let server: RunningServer;

beforeAll(async () => {
  agent = sampleAgent();
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

async function send(text: string, more: object = {}, beside: object = {}): Promise<any> {
  return (await callRpc(server.url, 'SendMessage', { ...says(text, more), ...beside }, '1.0')).result.task;
}

describe('sending messages', () => {
  it('returns the task of an earlier request with the same Idempotency-Key', async () => {
    const params = says('hello', { contextId: crypto.randomUUID() });
    const keyed = (key: string) => ({ ...modern, 'idempotency-key': key });
    const sendRest = async (headers: Record<string, string>) =>
      (await httpPost(`${server.url}/message:send`, params, headers)).json.task;
    const first = await sendRest(keyed('"k1"'));
    expect(await sendRest(keyed('k1'))).toEqual(first);
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params };
    expect((await httpPost(server.url, rpc, keyed('"k1"'))).json.result.task).toEqual(first);
    const other = await httpPost(`${server.url}/message:send`, says('other'), keyed('k1'));
    expect(other.status).toBe(409);
    expect(other.json.error.message).toContain('Idempotency-Key');
    expect((await httpPost(`${server.url}/message:send`, params, keyed('k'.repeat(2_000)))).status).toBe(400);
    // Without a key, an equal message is a new one.
    expect((await sendRest(modern)).id).not.toBe(first.id);
    expect((await httpGet(`${server.url}/tasks?contextId=${first.contextId}`, modern)).json.totalSize).toBe(
      2,
    );
  });

  it('continues the task after the client disconnects', async () => {
    const leaving = new AbortController();
    const contextId = crypto.randomUUID();
    const body = says('slow', { contextId });
    const sent = httpOpen(`${server.url}/message:send`, body, modern, 'POST', leaving.signal);
    const list = async () => (await httpGet(`${server.url}/tasks?contextId=${contextId}`, modern)).json.tasks;
    let tasks = await list();
    while (tasks[0]?.status.message === undefined) tasks = await list();
    leaving.abort();
    await expect(sent).rejects.toThrow(/abort/i);
    const [{ id }] = await list();
    expect((await httpGet(`${server.url}/tasks/${id}`, modern)).json.status.state).toBe('TASK_STATE_WORKING');
    const canceled = await httpPost(
      `${server.url}/tasks/${id}:cancel`,
      { metadata: { why: 'enough' } },
      modern,
    );
    expect(canceled.json.status.state).toBe('TASK_STATE_CANCELED');
    const again = await httpPost(`${server.url}/tasks/${id}:cancel`, undefined, modern);
    expect(again.json).toEqual(canceled.json);
  });

  it('creates one task for each of many concurrent messages', async () => {
    const words = Array.from({ length: 50 }, (_, i) => `word ${i}`);
    const tasks = await Promise.all(words.map((word) => send(word)));
    expect(tasks.map(({ artifacts }) => artifacts[0].parts[0].text)).toEqual(words);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(50);
  });
});

describe('history', () => {
  it('limits the history to historyLength', async () => {
    const { id } = await send('ask');
    const done = await send('that', { taskId: id }, { configuration: { historyLength: 2 } });
    expect(done.history.map(({ role }: any) => role)).toEqual(['ROLE_AGENT', 'ROLE_USER']);
    const of = async (historyLength?: number) =>
      (await callRpc(server.url, 'GetTask', { id, historyLength }, '1.0')).result.history;
    expect(await of()).toHaveLength(3);
    expect(await of(2)).toHaveLength(2);
    expect(await of(100)).toHaveLength(3);
    expect(await of(0)).toBeUndefined();
    expect(await send('hi', {}, { configuration: { historyLength: 0 } })).not.toHaveProperty('history');
  });

  it.each([-1, 1.5, 'many'])('rejects the historyLength %j', async (historyLength) => {
    const { error } = await callRpc(server.url, 'GetTask', { id: 'x', historyLength }, '1.0');
    expect(error).toMatchObject({ code: -32602 });
    expect(error.data[1].fieldViolations).toMatchObject([{ field: 'historyLength' }]);
    const rest = await httpGet(`${server.url}/tasks/x?historyLength=${historyLength}`, modern);
    expect(rest.status).toBe(400);
  });
});

describe('listing tasks', () => {
  const list = (query: string) => httpGet(`${server.url}/tasks?${query}`, modern);

  it('returns the newest first, all members, and artifacts only on request', async () => {
    const contextId = crypto.randomUUID();
    const ids: string[] = [];
    for (const word of ['a', 'b', 'c', 'ask']) ids.push((await send(word, { contextId })).id);
    const { json } = await list(`contextId=${contextId}`);
    expect(Object.keys(json).sort()).toEqual(['nextPageToken', 'pageSize', 'tasks', 'totalSize']);
    expect(json).toMatchObject({ nextPageToken: '', pageSize: 50, totalSize: 4 });
    const times = json.tasks.map(({ status }: any) => status.timestamp);
    const newestFirst = (a: string, b: string) => Number(b > a) - Number(b < a);
    expect(times).toEqual([...times].sort(newestFirst));
    for (const task of json.tasks) expect(task).not.toHaveProperty('artifacts');
    const whole = (await list(`contextId=${contextId}&includeArtifacts=true&historyLength=0`)).json.tasks;
    for (const task of whole) expect(task).not.toHaveProperty('history');
    expect(whole.filter(({ artifacts }: any) => artifacts?.length === 1)).toHaveLength(3);
    const waiting = (await list(`contextId=${contextId}&status=TASK_STATE_INPUT_REQUIRED`)).json;
    expect(waiting).toMatchObject({ totalSize: 1, tasks: [{ id: ids[3] }] });
    const since = encodeURIComponent(times[0]);
    const recent = (await list(`contextId=${contextId}&statusTimestampAfter=${since}`)).json;
    expect(recent.tasks[0].status.timestamp).toBe(times[0]);
    const later = (await list(`contextId=${contextId}&statusTimestampAfter=2999-01-01T00:00:00Z`)).json;
    expect(later).toMatchObject({ tasks: [], totalSize: 0 });
  });

  it('returns all tasks over several pages', async () => {
    const contextId = crypto.randomUUID();
    const ids = new Set<string>();
    for (let i = 0; i < 5; i++) ids.add((await send('a', { contextId })).id);
    const seen: string[] = [];
    let token = '';
    do {
      const { json } = await list(`contextId=${contextId}&pageSize=2&pageToken=${encodeURIComponent(token)}`);
      expect(json).toMatchObject({ totalSize: 5, pageSize: 2 });
      seen.push(...json.tasks.map(({ id }: any) => id));
      token = json.nextPageToken;
    } while (token !== '');
    expect(seen).toHaveLength(5);
    expect(new Set(seen)).toEqual(ids);
  });

  it.each([
    ['pageSize=0', 'pageSize'],
    ['pageSize=101', 'pageSize'],
    ['pageSize=many', 'pageSize'],
    ['pageToken=invented', 'pageToken'],
    ['historyLength=-1', 'historyLength'],
    ['status=TASK_STATE_LOST', 'status'],
    ['statusTimestampAfter=yesterday', 'statusTimestampAfter'],
    ['includeArtifacts=maybe', 'includeArtifacts'],
  ])('rejects %s', async (query, field) => {
    const { status, json } = await list(query);
    expect(status).toBe(400);
    expect(json.error.status).toBe('INVALID_ARGUMENT');
    expect(json.error.details[1].fieldViolations[0].field).toBe(field);
  });
});

describe('tenant', () => {
  it('isolates tasks by path, field or query', async () => {
    const sent = (await httpPost(`${server.url}/acme/message:send`, says('hello'), modern)).json.task;
    const { id } = sent;
    expect((await httpGet(`${server.url}/acme/tasks/${id}`, modern)).json.id).toBe(id);
    expect((await httpGet(`${server.url}/tasks/${id}?tenant=acme`, modern)).json.id).toBe(id);
    expect((await callRpc(server.url, 'GetTask', { id, tenant: 'acme' }, '1.0')).result.id).toBe(id);
    for (const path of [`/tasks/${id}`, `/other/tasks/${id}`, `/tasks/${id}?tenant=other`])
      expect((await httpGet(server.url + path, modern)).status).toBe(404);
    expect((await callRpc(server.url, 'GetTask', { id }, '1.0')).error.code).toBe(-32001);
    expect((await httpGet(`${server.url}/acme/tasks`, modern)).json.totalSize).toBe(1);
    expect((await httpGet(`${server.url}/other/tasks`, modern)).json.totalSize).toBe(0);
  });

  it('prefers the tenant of the path to that of the body', async () => {
    const body = { ...says('hello'), tenant: 'weak' };
    const { id } = (await httpPost(`${server.url}/strong/message:send`, body, modern)).json.task;
    expect((await httpGet(`${server.url}/strong/tasks/${id}`, modern)).status).toBe(200);
    expect((await httpGet(`${server.url}/weak/tasks/${id}`, modern)).status).toBe(404);
  });

  it('accepts the tenant v1 if the client sends a version', async () => {
    const { id } = (await httpPost(`${server.url}/v1/message:send`, says('hello'), modern)).json.task;
    expect((await httpGet(`${server.url}/v1/tasks/${id}`, modern)).json.id).toBe(id);
    expect((await httpGet(`${server.url}/v1/tasks/${id}`)).status).toBe(404);
  });
});

describe('task created by a 0.1 client', () => {
  it('returns the task in 0.1 without version header, otherwise in the requested version', async () => {
    const id = crypto.randomUUID();
    const message = { role: 'user', parts: [{ type: 'text', text: 'hello' }] };
    await callRpc(server.url, 'tasks/send', { id, sessionId: 's-1', message });
    expect((await callRpc(server.url, 'tasks/get', { id })).result).toMatchObject({ id, sessionId: 's-1' });
    expect((await callRpc(server.url, 'tasks/get', { id }, '0.3')).result).toMatchObject({
      kind: 'task',
      contextId: 's-1',
    });
    expect((await callRpc(server.url, 'GetTask', { id }, '1.0')).result).toMatchObject({
      contextId: 's-1',
      status: { state: 'TASK_STATE_COMPLETED' },
    });
    expect((await httpGet(`${server.url}/v1/tasks/${id}`)).json).toMatchObject({ contextId: 's-1' });
  });
});
