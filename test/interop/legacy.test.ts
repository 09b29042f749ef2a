/** No client of 0.1 was ever packaged, so its callers are played here, shape by shape. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalAgent } from '../../src/engine/index.ts';
import { type RunningServer, serve } from '../../src/server/index.ts';
import { streamSseFrames, readSseFrames } from '../support/http/sse-frames.ts';
import { responseSchemas0_1, SchemaCheckingFetch } from '../support/interop/schema-checking-fetch.ts';
import { sampleAgent } from './sample-agent.ts';

const watch = new SchemaCheckingFetch('a2a-legacy-v0.1.0.schema.json', responseSchemas0_1);
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

function open(body: unknown, path = ''): Promise<Response> {
  return watch.fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

let calls = 0;

async function call(method: string, params: unknown, id: unknown = ++calls): Promise<any> {
  const response = await open({ jsonrpc: '2.0', id, method, params });
  expect(response.headers.get('content-type')).toBe('application/json');
  return response.json();
}

const says = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] });
const newId = () => `test-${crypto.randomUUID()}`;

async function stream(method: string, params: unknown, path = ''): Promise<any[]> {
  const all = await readSseFrames(await open({ jsonrpc: '2.0', id: 'r1', method, params }, path));
  for (const { data } of all) expect(data).toMatchObject({ jsonrpc: '2.0', id: 'r1' });
  return all.map(({ data }) => data.result);
}

describe('card at /.well-known/agent.json', () => {
  it('contains the members of 0.1', async () => {
    const response = await watch.fetch(`${server.url}/.well-known/agent.json`);
    expect(response.status).toBe(200);
    const card: any = await response.json();
    for (const field of ['name', 'description', 'url', 'skills']) expect(card[field]).toBeDefined();
    for (const skill of card.skills) {
      expect(skill).toMatchObject({ id: 'echo', name: 'Echo', description: 'Says it back' });
      expect(skill.inputModes).toEqual(['text/plain', '*/*']);
      expect(skill.outputModes).toEqual(['text/plain']);
    }
    for (const flag of ['streaming', 'pushNotifications']) expect(card.capabilities[flag]).toBe(true);
    expect(card.url).toBe(server.url);
  });
});

describe('0.1 task', () => {
  it('is sent, completed and polled', async () => {
    const id = newId();
    const sent = await call('tasks/send', { id, sessionId: 's-1', message: says('hello') });
    expect(sent).toEqual({
      jsonrpc: '2.0',
      id: calls,
      result: {
        id,
        sessionId: 's-1',
        status: { state: 'completed', timestamp: expect.stringMatching(/Z$/) },
        artifacts: [expect.objectContaining({ name: 'answer', parts: [{ type: 'text', text: 'hello' }] })],
      },
    });
    const { result } = await call('tasks/get', { id });
    expect(result).toEqual(sent.result);
  });

  it('returns history if requested', async () => {
    const id = newId();
    await call('tasks/send', { id, message: says('ask') });
    await call('tasks/send', { id, message: says('that') });
    const { result } = await call('tasks/get', { id, historyLength: 100 });
    expect(result.history.map(({ role }: any) => role)).toEqual(['user', 'agent', 'user']);
    expect(result.history[2].parts).toEqual([{ type: 'text', text: 'that' }]);
    expect((await call('tasks/get', { id, historyLength: 1 })).result.history).toHaveLength(1);
    expect((await call('tasks/get', { id, historyLength: 0 })).result).not.toHaveProperty('history');
  });

  it('is canceled while input-required', async () => {
    const id = newId();
    await call('tasks/send', { id, sessionId: 's-1', message: says('ask') });
    const { result } = await call('tasks/cancel', { id });
    expect(result).toMatchObject({ id, sessionId: 's-1', status: { state: 'canceled' } });
  });

  it('is canceled while working, and the pending send returns', async () => {
    const id = newId();
    const params = { id, message: says('slow') };
    const response = await open({ jsonrpc: '2.0', id: 'r1', method: 'tasks/sendSubscribe', params });
    const events = streamSseFrames(response);
    await events.next();
    expect((await call('tasks/cancel', { id })).result).toMatchObject({ id, status: { state: 'canceled' } });
    let last: any;
    for await (const frame of events) last = frame.data.result;
    expect(last).toMatchObject({ id, status: { state: 'canceled' }, final: true });
  });

  it('requests input and continues with the reply', async () => {
    const id = newId();
    const interrupted = (await call('tasks/send', { id, sessionId: 's-2', message: says('ask twice') }))
      .result;
    expect(interrupted.status).toMatchObject({
      state: 'input-required',
      message: { role: 'agent', parts: [{ type: 'text', text: 'Which one?' }] },
    });
    const again = (await call('tasks/send', { id, sessionId: 's-2', message: says('yes') })).result;
    expect(again.status).toMatchObject({
      state: 'input-required',
      message: { parts: [{ text: 'Really?' }] },
    });
    const done = (await call('tasks/send', { id, sessionId: 's-2', message: says('yes') })).result;
    expect(done).toMatchObject({ id, sessionId: 's-2', status: { state: 'completed' } });
    expect(done.artifacts[0].parts).toEqual([
      { type: 'text', text: 'yes' },
      { type: 'text', text: 'yes' },
    ]);
  });

  it('transports files and data in both directions', async () => {
    const parts = [
      { type: 'file', file: { name: 'a.bin', mimeType: 'application/octet-stream', bytes: 'AAE=' } },
      { type: 'file', file: { name: 'b.txt', mimeType: 'text/plain', uri: 'https://files.test/b.txt' } },
      { type: 'data', data: { deep: [1, { two: null }] } },
    ];
    const { result } = await call('tasks/send', { id: newId(), message: { role: 'user', parts } });
    expect(result.artifacts[0].parts).toEqual(parts);
  });

  it.each([
    ['fail', 'failed', 'The agent could not finish this task.'],
    ['reject', 'failed', 'Not this one.'],
    ['auth', 'input-required', 'Sign in first.'],
  ])('reports %s as a state of 0.1', async (word, state, text) => {
    const { result } = await call('tasks/send', { id: newId(), message: says(word) });
    expect(result.status).toMatchObject({ state, message: { role: 'agent', parts: [{ text }] } });
  });

  it('stores a push configuration', async () => {
    const id = newId();
    await call('tasks/send', { id, message: says('ask') });
    const pushNotificationConfig = {
      url: 'https://hook.test/a',
      token: 'secret',
      authentication: { schemes: ['Bearer'], credentials: 'abc' },
    };
    const { result } = await call('tasks/pushNotification/set', { id, pushNotificationConfig });
    const shown = { url: 'https://hook.test/a', authentication: { schemes: ['Bearer'] } };
    expect(result).toEqual({ id, pushNotificationConfig: shown });
    expect((await call('tasks/pushNotification/get', { id })).result).toEqual(result);
  });
});

describe('0.1 stream', () => {
  it.each(['', '/', '/subscribe', '//subscribe'])('is opened at %j', async (path) => {
    const id = newId();
    const params = { id, sessionId: 's-3', message: says('stream'), historyLength: 0 };
    const events = await stream('tasks/sendSubscribe', params, path);
    expect(events[0]).toMatchObject({ id, status: { state: 'submitted' }, final: false });
    expect(events[1]).toMatchObject({ id, status: { state: 'working' }, final: false });
    const chunks = events.slice(2, 7);
    expect(chunks.map(({ artifact }) => artifact)).toMatchObject(
      [0, 1, 2, 3, 4].map((i) => ({
        index: 0,
        parts: [{ type: 'text', text: `${i}` }],
        append: i > 0,
        lastChunk: i === 4,
      })),
    );
    expect(chunks.every((each) => each.id === id)).toBe(true);
    expect(events.slice(7)).toMatchObject([{ id, status: { state: 'completed' }, final: true }]);
    expect((await call('tasks/get', { id })).result).toMatchObject({
      id,
      sessionId: 's-3',
      status: { state: 'completed' },
    });
  });

  it('can be closed early without ending the task', async () => {
    const id = newId();
    const leaving = new AbortController();
    const params = { id, message: says('slow') };
    const body = { jsonrpc: '2.0', id: 10, method: 'tasks/sendSubscribe', params };
    const response = await fetch(`${server.url}/subscribe`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      signal: leaving.signal,
    });
    const leave = async () => {
      for await (const { data } of streamSseFrames(response)) if (data.result.status.message) leaving.abort();
    };
    await expect(leave()).rejects.toThrow(/abort/i);
    expect((await call('tasks/get', { id })).result.status.state).toBe('working');
    await call('tasks/cancel', { id });
  });

  it('is resumed and returns the complete task after its end', async () => {
    const id = newId();
    const first = await stream('tasks/sendSubscribe', { id, message: says('ask') });
    expect(first.at(-1)).toMatchObject({ status: { state: 'input-required' }, final: true });
    const second = await stream('tasks/sendSubscribe', { id, message: says('that') });
    expect(second.at(-1)).toMatchObject({ id, status: { state: 'completed' }, final: true });
    const after = await stream('tasks/resubscribe', { id });
    expect(after).toMatchObject([
      { id, artifact: { parts: [{ type: 'text', text: 'that' }] } },
      { id, status: { state: 'completed' }, final: true },
    ]);
  });

  it('is rejected for an unknown task', async () => {
    const { error } = await call('tasks/resubscribe', { id: 'no-such-task' });
    expect(error).toMatchObject({ code: -32001 });
  });
});

describe('0.1 error', () => {
  it('is returned for an unknown method', async () => {
    expect((await call('tasks/nonexistent', {}, 20)).error.code).toBe(-32601);
  });

  it.each([
    ['{"not": "valid jsonrpc"}', -32600],
    ['{"jsonrpc":"2.0","id":1,', -32700],
    ['[]', -32600],
    ['"tasks/get"', -32600],
  ])('is returned for the body %s', async (body, code) => {
    const answer: any = await (await open(body)).json();
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
  });

  it('is returned for an unknown task and for a finished one', async () => {
    expect((await call('tasks/get', { id: 'nonexistent-task-id' })).error.code).toBe(-32001);
    expect((await call('tasks/cancel', { id: 'nonexistent-task-id' })).error.code).toBe(-32001);
    const id = newId();
    await call('tasks/send', { id, message: says('hello') });
    expect((await call('tasks/cancel', { id }, 23)).error.code).toBe(-32002);
  });

  it('is returned for a message without parts or task id', async () => {
    const id = newId();
    expect((await call('tasks/send', { id, message: { role: 'user', parts: [] } })).error.code).toBe(-32602);
    expect((await call('tasks/send', { message: says('hi') })).error.code).toBe(-32602);
    expect((await call('tasks/send', { id, message: { ...says('hi'), role: 'judge' } })).error.code).toBe(
      -32602,
    );
  });
});

describe('lenient 0.1 requests', () => {
  it('treat null as missing', async () => {
    const id = newId();
    const { result } = await call('tasks/send', {
      id,
      sessionId: null,
      message: {
        role: 'user',
        parts: [{ type: 'text', text: 'hello', metadata: null }],
        metadata: null,
      },
      acceptedOutputModes: null,
      pushNotification: null,
      historyLength: null,
      metadata: null,
    });
    expect(result).toMatchObject({ id, status: { state: 'completed' } });
    expect((await call('tasks/get', { id, historyLength: null, metadata: null })).result.id).toBe(id);
  });

  it('may omit jsonrpc and id', async () => {
    const id = newId();
    const body = { method: 'tasks/send', params: { id, message: says('hello') } };
    const response = await fetch(server.url, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, result: { id } });
  });
});

it('all responses conform to the 0.1 schema', async () => {
  expect(await watch.finish()).toEqual([]);
  expect(watch.checkedCount > 40 || !watch.hasSchema).toBe(true);
});
