import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalAgent } from '../../../src/engine/index.ts';
import type { LogEntry } from '../../../src/primitives/log.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { type FetchHandler, toFetchHandler } from '../../../src/server/fetch.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { streamSseFrames } from '../../support/http/sse-frames.ts';
import { stubAgent } from '../../support/agent-stub.ts';

let agent: LocalAgent;
let server: RunningServer;
let handle: FetchHandler;

beforeAll(async () => {
  agent = sampleAgent({ extensions: [{ uri: 'urn:a' }] });
  // A function of requests cannot speak gRPC.
  server = await serve(agent, { grpc: false });
  handle = toFetchHandler(agent);
});
afterAll(async () => {
  await server.stop();
  await agent.close();
});

const modern = { 'a2a-version': '1.0', 'content-type': 'application/json' };
const says = (text: string) => ({
  message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text }] },
});
const rpcRequest = (method: string, params: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** Removes ids and times, which differ between two responses. */
function settled(text: string): string {
  return text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}

interface Case {
  name: string;
  path: string;
  init: { method?: string; headers?: Record<string, string>; body?: string };
}

const table: Case[] = [
  { name: 'a card', path: '/.well-known/agent-card.json', init: {} },
  { name: 'a card of 1.0', path: '/.well-known/agent-card.json', init: { headers: modern } },
  { name: 'a card at the old path', path: '/.well-known/agent.json', init: {} },
  {
    name: 'a card that is kept',
    path: '/.well-known/agent.json',
    init: { headers: { 'if-none-match': '*' } },
  },
  { name: 'health', path: '/healthz', init: {} },
  { name: 'readiness', path: '/readyz', init: {} },
  {
    name: 'a message',
    path: '/',
    init: { method: 'POST', headers: modern, body: rpcRequest('SendMessage', says('a')) },
  },
  {
    name: 'a message over REST',
    path: '/message:send',
    init: { method: 'POST', headers: modern, body: JSON.stringify(says('b')) },
  },
  {
    name: 'a stream',
    path: '/',
    init: { method: 'POST', headers: modern, body: rpcRequest('SendStreamingMessage', says('stream')) },
  },
  {
    name: 'a stream over REST, with extensions',
    path: '/message:stream',
    init: {
      method: 'POST',
      headers: { ...modern, 'a2a-extensions': 'urn:a' },
      body: JSON.stringify(says('stream')),
    },
  },
  {
    name: 'a stream of 0.1',
    path: '/subscribe',
    init: {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: rpcRequest('tasks/sendSubscribe', {
        id: 'fixed',
        sessionId: 's',
        message: { role: 'user', parts: [{ type: 'text', text: 'hello' }] },
      }),
    },
  },
  { name: 'a missing task', path: '/tasks/no-such-task?historyLength=1', init: { headers: modern } },
  { name: 'a missing path', path: '/nowhere', init: {} },
  { name: 'another verb', path: '/message:send', init: { method: 'DELETE', headers: modern } },
  { name: 'a GET where POST is wanted', path: '/', init: {} },
  { name: 'broken JSON', path: '/', init: { method: 'POST', headers: modern, body: '{' } },
  { name: 'another version', path: '/tasks', init: { headers: { 'a2a-version': '2.0' } } },
  {
    name: 'a preflight',
    path: '/',
    init: {
      method: 'OPTIONS',
      headers: { origin: 'https://app.test', 'access-control-request-method': 'POST' },
    },
  },
];

const named = ['content-type', 'allow', 'etag', 'vary', 'cache-control', 'a2a-extensions'];

async function plain(response: Response): Promise<unknown> {
  const headers = Object.fromEntries(named.map((name) => [name, response.headers.get(name)]));
  return { status: response.status, headers, text: settled(await response.text()) };
}

describe('toFetchHandler', () => {
  it.each(table)('responds to $name like the Node server', async ({ path, init }) => {
    const url = `${server.url}${path}`;
    const overNode = await plain(await fetch(url, init));
    // A new message id, because the same one would be deduplicated.
    const other = toFetchHandler(sampleAgent({ extensions: [{ uri: 'urn:a' }] }));
    expect(await plain(await other(new Request(url, init)))).toEqual(overNode);
  });

  it('closes the subscription when the body is canceled while the task continues', async () => {
    let isFreed = false;
    const watched = stubAgent(agent, {
      stream(request, call) {
        const events = agent.stream(request, call)[Symbol.asyncIterator]();
        const iterator: AsyncIterator<StreamEvent> = {
          next: () => events.next(),
          async return() {
            isFreed = true;
            return (await events.return?.()) ?? { done: true, value: undefined };
          },
        };
        return { [Symbol.asyncIterator]: () => iterator };
      },
    });
    const body = JSON.stringify({ message: { ...says('slow').message, messageId: 'm-slow' } });
    const response = await toFetchHandler(watched)(
      new Request('http://agent.test/message:stream', { method: 'POST', headers: modern, body }),
    );
    let id = '';
    for await (const { data } of streamSseFrames(response)) {
      id = data.task?.id ?? id;
      if (data.statusUpdate?.status.message) break;
    }
    expect(isFreed).toBe(true);
    expect((await agent.getTask({ id })).status.state).toBe('working');
    await agent.cancelTask({ id });
  });

  it('uses the request URL in the card', async () => {
    const response = await handle(new Request('https://agents.test/.well-known/agent.json'));
    expect(await response.json()).toMatchObject({ url: 'https://agents.test' });
  });

  it('responds 503 until the agent is ready', async () => {
    let isBroken = true;
    const waiting = stubAgent(agent, {
      ready: async () => {
        if (isBroken) throw new Error('the secret of the house');
      },
    });
    const prepared = toFetchHandler(waiting);
    const ask = () => prepared(new Request('http://agent.test/tasks/no-such-task', { headers: modern }));
    const early = await ask();
    expect(early.status).toBe(503);
    expect(await early.text()).not.toContain('secret');
    isBroken = false;
    expect((await ask()).status).toBe(404);
  });

  it('responds 413 to a body above maxBodyBytes', async () => {
    const small = toFetchHandler(agent, { maxBodyBytes: 10 });
    const body = rpcRequest('SendMessage', says('hello'));
    const response = await small(
      new Request('http://agent.test/', { method: 'POST', headers: modern, body }),
    );
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32600 } });
  });

  it.each([
    ['Deno', { remoteAddr: { hostname: '127.0.0.1', port: 1, transport: 'tcp' } }],
    ['Bun', { requestIP: () => ({ address: '127.0.0.1', port: 1, family: 'IPv4' }) }],
  ])('knows the address of the client in %s', async (_name, runtime) => {
    const handler = toFetchHandler(agent, { metrics: true });
    // Metrics are served to local clients only.
    const read = (...context: unknown[]) => handler(new Request('http://agent.test/metrics'), ...context);
    expect((await read(runtime)).status).toBe(200);
    expect((await read({ remoteAddr: { hostname: '192.0.2.1' } })).status).toBe(403);
    expect((await read({ someBinding: 1 })).status).toBe(403);
    expect((await read()).status).toBe(403);
  });

  it('lets a worker wait for the task of a request', async () => {
    const waiting: Promise<unknown>[] = [];
    const worker = { waitUntil: (pending: Promise<unknown>) => void waiting.push(pending) };
    const body = JSON.stringify({ message: { ...says('slow').message, messageId: 'm-wait' } });
    const send = (path: string) =>
      handle(
        new Request(`http://agent.test${path}`, { method: 'POST', headers: modern, body }),
        { binding: 1 },
        worker,
      );
    const frames = streamSseFrames(await send('/message:stream'));
    const { value } = await frames.next();
    await frames.return(undefined);
    expect(waiting).toHaveLength(1);
    const id = value?.data.task.id as string;
    await agent.cancelTask({ id });
    expect(await waiting[0]).toMatchObject({ id, status: { state: 'canceled' } });
  });

  it('fails a task that asks in a worker, and says what to do', async () => {
    const log: LogEntry[] = [];
    const asking = sampleAgent({}, { log: (entry) => log.push(entry) });
    const body = JSON.stringify(says('ask'));
    const request = new Request('http://agent.test/message:send', { method: 'POST', headers: modern, body });
    const response = await toFetchHandler(asking)(request, {}, { waitUntil: () => {} });
    expect(await response.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_FAILED' } } });
    expect(log.find(({ level }) => level === 'error')?.error).toMatchObject({
      hint: expect.stringContaining("Yield status('input-required', …)") as string,
    });
    await asking.close();
  });

  it('ends streams and rejects requests when it is closed', async () => {
    const handler = toFetchHandler(agent);
    const body = JSON.stringify({ message: { ...says('slow').message, messageId: 'm-close' } });
    const open = () =>
      handler(new Request('http://agent.test/message:stream', { method: 'POST', headers: modern, body }));
    const frames = streamSseFrames(await open());
    const { value } = await frames.next();
    await handler.close();
    for await (const _frame of frames);
    expect((await handler(new Request('http://agent.test/readyz'))).status).toBe(503);
    expect((await open()).status).toBe(503);
    await agent.cancelTask({ id: value?.data.task.id as string });
  });

  it('sends SSE heartbeats', async () => {
    const beating = toFetchHandler(agent, { heartbeat: 5 });
    const body = JSON.stringify({ message: { ...says('slow').message, messageId: 'm-beat' } });
    const response = await beating(
      new Request('http://agent.test/message:stream', { method: 'POST', headers: modern, body }),
    );
    let id = '';
    let beats = 0;
    for await (const { data, comment } of streamSseFrames(response)) {
      id = data?.task?.id ?? id;
      if (comment !== undefined && ++beats === 2) break;
    }
    expect(beats).toBe(2);
    await agent.cancelTask({ id });
  });
});
