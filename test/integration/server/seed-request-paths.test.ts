/** Clients that send JSON-RPC envelopes to REST paths, and REST clients without version. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent, type LocalAgent } from '../../../src/engine/index.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { streamSseFrames } from '../../support/http/sse-frames.ts';
import { stubAgent } from '../../support/agent-stub.ts';
import { httpGet, httpOpen, httpPost } from '../../support/http/http-calls.ts';

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

const envelope = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 'r-1', method, params });
const tagged = (text: string, more: object = {}) => ({
  message: {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...more,
  },
});

describe('POST /message:send', () => {
  it('responds to a JSON-RPC envelope with an envelope', async () => {
    const { status, headers, json } = await httpPost(
      `${server.url}/message:send`,
      envelope('message/send', tagged('hello')),
    );
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(json).toMatchObject({
      jsonrpc: '2.0',
      id: 'r-1',
      result: { kind: 'task', status: { state: 'completed' }, artifacts: [{ parts: [{ text: 'hello' }] }] },
    });
  });

  it('responds to malformed JSON with a parse error', async () => {
    const { status, json } = await httpPost(`${server.url}/message:send`, '{"jsonrpc": "2.0", "id":');
    expect(status).toBe(400);
    expect(json).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
  });

  it('responds to an unknown method with method not found', async () => {
    const { json } = await httpPost(`${server.url}/message:send`, envelope('message/guess', {}));
    expect(json).toMatchObject({ jsonrpc: '2.0', id: 'r-1', error: { code: -32601 } });
  });

  it('returns the error of the agent', async () => {
    const params = tagged('hi', { taskId: 'no-such-task' });
    const { json } = await httpPost(`${server.url}/message:send`, envelope('message/send', params));
    expect(json).toMatchObject({ id: 'r-1', error: { code: -32001, message: 'Task not found' } });
  });

  it('responds to a REST body with a REST body', async () => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const { status, headers, json } = await httpPost(`${server.url}/message:send`, { message });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/a2a+json');
    expect(json).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });
});

describe('other REST paths', () => {
  async function sent(text: string, contextId: string): Promise<any> {
    const params = tagged(text, { contextId });
    return (await httpPost(`${server.url}/message:send`, envelope('message/send', params))).json.result;
  }

  it('return the card', async () => {
    const { status, json } = await httpGet(`${server.url}/.well-known/agent-card.json`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ name: 'Sample', skills: [{ id: 'echo' }] });
  });

  it('return a task by id with the requested history', async () => {
    const { id } = await sent('hello', 'c-1');
    const { status, json } = await httpGet(`${server.url}/tasks/${id}?historyLength=0`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, contextId: 'c-1', status: { state: 'TASK_STATE_COMPLETED' } });
    expect(json).not.toHaveProperty('history');
    const missing = await httpGet(`${server.url}/tasks/no-such-task`);
    expect(missing.status).toBe(404);
    expect(missing.json.error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
  });

  it('list the tasks of a context in pages', async () => {
    const ids = new Set<string>();
    for (const word of ['a', 'b', 'c']) ids.add((await sent(word, 'c-2')).id);
    await sent('d', 'c-3');
    const first = (await httpGet(`${server.url}/tasks?contextId=c-2&pageSize=2`)).json;
    expect(first).toMatchObject({ totalSize: 3, pageSize: 2 });
    const rest = (
      await httpGet(
        `${server.url}/tasks?contextId=c-2&pageSize=2&pageToken=${encodeURIComponent(first.nextPageToken)}`,
      )
    ).json;
    expect(rest).toMatchObject({ totalSize: 3, nextPageToken: '' });
    expect(new Set([...first.tasks, ...rest.tasks].map(({ id }) => id))).toEqual(ids);
    const done = (await httpGet(`${server.url}/tasks?contextId=c-2&status=TASK_STATE_WORKING`)).json;
    expect(done).toEqual({ tasks: [], totalSize: 0, pageSize: 50, nextPageToken: '' });
  });

  it('cancel a task without body, with {} and with null', async () => {
    for (const body of [undefined, {}, 'null']) {
      const { id } = await sent('ask', 'c-4');
      const { status, json } = await httpPost(`${server.url}/tasks/${id}:cancel`, body);
      expect(status).toBe(200);
      expect(json).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
    }
  });
});

describe('serve() with a failing agent', () => {
  it('closes the port', async () => {
    const broken = stubAgent(agent, { ready: () => Promise.reject(new Error('no disk')) });
    const taken = await serve(agent);
    await expect(serve(agent, { port: taken.port })).rejects.toThrow(/EADDRINUSE/);
    const { port } = taken;
    await taken.stop();
    await expect(serve(broken, { port })).rejects.toThrow('no disk');
    const free = await serve(agent, { port });
    expect(free.port).toBe(port);
    await free.stop();
  });
});

describe('stop()', () => {
  it('finishes requests, ends streams after a frame and accepts no more connections', async () => {
    let begin: () => void = () => {};
    let finish: () => void = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const allowed = new Promise<void>((resolve) => (finish = resolve));
    const slow = defineAgent({
      name: 'Slow',
      description: 'Waits until it may go on',
      async process({ text }) {
        if (text === 'wait') {
          begin();
          await allowed;
          return 'done';
        }
        await new Promise(() => {});
        return '';
      },
    });
    const stopping = await serve(slow);
    const streaming = await httpOpen(stopping.url, envelope('message/stream', tagged('for ever')));
    const events = streamSseFrames(streaming);
    expect((await events.next()).value?.data.result.kind).toBe('task');
    const waiting = httpPost(stopping.url, envelope('message/send', tagged('wait')));
    await begun;
    const stopped = stopping.stop();
    for await (const frame of events) expect(frame.data.result).toBeDefined();
    await expect(httpGet(`${stopping.url}/healthz`)).rejects.toThrow();
    finish();
    expect((await waiting).json.result).toMatchObject({ status: { state: 'completed' } });
    await stopped;
    await slow.close();
  });
});
