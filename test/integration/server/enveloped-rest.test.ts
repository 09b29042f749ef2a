/** Agents that expect JSON-RPC requests at REST paths. */
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import type { ConnectOptions } from '../../../src/client/connect-options.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { serve } from '../../../src/server/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { type RawServer, respondJson, startRawServer } from '../../support/http/raw-server.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const wireTask = (id: string, state = 'TASK_STATE_COMPLETED') => ({
  id,
  contextId: 'c',
  status: { state },
  artifacts: [{ artifactId: 'a', parts: [{ text: 'done' }] }],
});

interface Form {
  /** Fields of the card. */
  card: (url: string) => object;
  /** True if all responses are JSON-RPC responses, false if only those to POST /message:send. */
  wrapsAll: boolean;
}

/** Starts an agent with routes only for the card, `message:send` and tasks. */
async function startAgent({ card, wrapsAll }: Form): Promise<RawServer> {
  const server = await startRawServer(({ method, path, json }, response, url) => {
    const { pathname } = new URL(path, url);
    const rpc = (body: object) => respondJson(response, { jsonrpc: '2.0', id: json?.id ?? null, ...body });
    const answer = (result: object) => (wrapsAll ? rpc({ result }) : respondJson(response, result));
    if (pathname === '/.well-known/agent-card.json')
      return respondJson(response, { name: 'A', description: '', version: '1', skills: [], ...card(url) });
    if (method === 'POST' && pathname === '/message:send') {
      if (json?.jsonrpc !== '2.0') return rpc({ error: { code: -32600, message: 'Invalid Request' } });
      if (json.method !== 'message/send')
        return rpc({ error: { code: -32601, message: 'Method not found' } });
      if (json.params.message.parts[0].text === 'fail')
        return rpc({ error: { code: -32603, message: 'out of order' } });
      return rpc({ result: wireTask('t-1') });
    }
    if (method === 'GET' && pathname === '/tasks')
      return answer({ tasks: [wireTask('t-1')], nextPageToken: 'next', pageSize: 1, totalSize: 2 });
    if (method === 'GET' && pathname === '/tasks/t-1') return answer(wireTask('t-1'));
    if (method === 'POST' && pathname === '/tasks/t-2:cancel')
      return answer(wireTask('t-2', 'TASK_STATE_CANCELED'));
    if (pathname.startsWith('/tasks/')) return rpc({ error: { code: -32001, message: 'Task not found' } });
    response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
  });
  closing.push(() => server.close());
  return server;
}

function open(url: string, options: ConnectOptions = {}) {
  const agent = connect(url, { maxRetries: 0, endpointCache: createEndpointCache(10), ...options });
  closing.push(() => agent.close());
  return agent;
}

const request = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});

describe.each<[string, Form]>([
  ['a URL only', { card: (url) => ({ url }), wrapsAll: true }],
  ['0.3 over JSON-RPC', { card: (url) => ({ url, protocolVersion: '0.3.0' }), wrapsAll: false }],
  [
    '1.0 over REST',
    {
      card: (url) => ({
        supportedInterfaces: [{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
      }),
      wrapsAll: true,
    },
  ],
])('connect() to an agent with JSON-RPC at REST paths and a card of %s', (_what, form) => {
  it.each([[undefined], [true]])(
    'sends, gets, lists and cancels with restEnvelope: %s',
    async (restEnvelope) => {
      const server = await startAgent(form);
      const agent = open(server.url, { ...(restEnvelope !== undefined && { restEnvelope }) });
      const completed = {
        id: 't-1',
        status: { state: 'completed' },
        artifacts: [{ parts: [{ text: 'done' }] }],
      };
      expect(await agent.send(request('hello'))).toMatchObject(completed);
      const last = server.requests.at(-1);
      expect(last).toMatchObject({ method: 'POST', path: '/message:send' });
      expect(last?.json).toMatchObject({
        jsonrpc: '2.0',
        method: 'message/send',
        params: { message: { role: 'user', parts: [{ kind: 'text', text: 'hello' }] } },
      });
      if (restEnvelope) expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);

      expect(await agent.getTask({ id: 't-1', historyLength: 2 })).toMatchObject(completed);
      expect(server.requests.at(-1)).toMatchObject({ method: 'GET', path: '/tasks/t-1?historyLength=2' });
      const page = await agent.listTasks({ contextId: 'c', status: 'completed', pageSize: 1 });
      expect(page).toMatchObject({ tasks: [{ id: 't-1' }], nextPageToken: 'next', totalSize: 2 });
      expect(server.requests.at(-1)?.path).toBe('/tasks?contextId=c&pageSize=1&status=TASK_STATE_COMPLETED');
      expect(await agent.cancelTask({ id: 't-2' })).toMatchObject({
        id: 't-2',
        status: { state: 'canceled' },
      });
      expect(server.requests.at(-1)).toMatchObject({ method: 'POST', path: '/tasks/t-2:cancel' });
      await expect(agent.getTask({ id: 'other' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
      await expect(agent.send(request('fail'))).rejects.toMatchObject({
        reason: 'INTERNAL_ERROR',
        message: 'out of order',
      });
    },
  );

  it('polls instead of streaming', async () => {
    const agent = open((await startAgent(form)).url, { restEnvelope: true });
    const events = [];
    for await (const event of agent.stream(request('hello'))) events.push(event);
    expect(events).toMatchObject([{ kind: 'task', task: { id: 't-1' } }]);
  });
});

describe('restEnvelope', () => {
  it('works with the server of this package, streams included', async () => {
    const local = sampleAgent();
    const server = await serve(local);
    closing.push(
      () => local.close(),
      () => server.stop(0),
    );
    const agent = open(server.url, { restEnvelope: true });
    expect(await agent.describe()).toMatchObject({ version: '0.3', transport: 'HTTP+JSON' });
    const sent = await agent.send(request('hello'));
    if (!('status' in sent)) throw new Error('no task');
    expect(sent.status.state).toBe('completed');
    expect(await agent.getTask({ id: sent.id })).toMatchObject({ id: sent.id, artifacts: sent.artifacts });
    const states = [];
    for await (const event of agent.stream(request('hello')))
      if (event.kind === 'status') states.push(event.status.state);
    expect(states.at(-1)).toBe('completed');
  });

  it('false sends no JSON-RPC request to a REST path', async () => {
    const server = await startAgent({ card: (url) => ({ url }), wrapsAll: true });
    await expect(open(server.url, { restEnvelope: false }).send(request('hello'))).rejects.toThrow();
    expect(server.requests.map(({ path }) => path)).not.toContain('/message:send');
  });
});
