import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import express, { type Express } from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import type { LocalAgent } from '../../../src/engine/index.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { isTask } from '../../../src/protocol/task.ts';
import { type NodeHandler, toNodeHandler } from '../../../src/server/node/to-node-handler.ts';
import type { ServerOptions } from '../../../src/server/server-options.ts';
import { memoryTaskStore } from '../../../src/store/memory-task-store.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { stubAgent } from '../../support/agent-stub.ts';
import { readSseFrames, streamSseFrames } from '../../support/http/sse-frames.ts';
import { userMessage } from '../../support/server/stream-clients.ts';

let agent: LocalAgent;
let app: Express;
let server: Server;
let url: string;
let handlers: NodeHandler[];

beforeEach(async () => {
  agent = sampleAgent();
  app = express();
  handlers = [];
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const handler of handlers) await handler.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await agent.close();
});

/** Creates a handler that is closed after the test. */
function handlerOf(
  options?: ServerOptions,
  served: Parameters<typeof toNodeHandler>[0] = agent,
): NodeHandler {
  const handler = toNodeHandler(served, options);
  handlers.push(handler);
  return handler;
}

const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' };
const restBody = (text: string) =>
  JSON.stringify({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
  });
const post = (path: string, body: string, more: object = {}) =>
  fetch(url + path, { method: 'POST', headers: { ...headers, ...more }, body });

async function cardUrl(path: string): Promise<string> {
  const response = await fetch(`${url}${path}/.well-known/agent-card.json`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { url: string }).url;
}

/** Sends a message over every transport and streams one. */
async function expectWorkingAgent(path: string): Promise<void> {
  expect(await cardUrl(path)).toBe(url + path);
  for (const transport of ['JSONRPC', 'HTTP+JSON'] as const) {
    const remote = connect(url + path, { transports: [transport], versions: ['1.0'], maxRetries: 0 });
    const task = await remote.send({ message: userMessage('hello') });
    expect(isTask(task) && task.artifacts?.[0]?.parts[0]).toMatchObject({ text: 'hello' });
    const kinds = [];
    for await (const event of remote.stream({ message: userMessage('stream') })) kinds.push(event.kind);
    expect(kinds.filter((kind) => kind === 'artifact')).toHaveLength(5);
    await remote.close();
  }
}

describe('toNodeHandler in Express', () => {
  it('serves an agent below the path of app.use, without configuration', async () => {
    app.use('/agent', handlerOf());
    await expectWorkingAgent('/agent');
  });

  it('serves an agent below nested routers', async () => {
    const router = express.Router();
    router.use('/agents/:name', handlerOf());
    app.use('/api', router);
    await expectWorkingAgent('/api/agents/echo');
  });

  it('accepts a base path that the framework has removed', async () => {
    app.use('/agent', handlerOf({ basePath: '/agent' }));
    await expectWorkingAgent('/agent');
  });

  it('accepts a base path below the path of app.use', async () => {
    app.use('/api', handlerOf({ basePath: '/agent/' }));
    await expectWorkingAgent('/api/agent');
  });

  it('passes requests outside of its base path on', async () => {
    app.use(handlerOf({ basePath: '/agent' }));
    app.get('/other', (_request, response) => void response.send('other'));
    await expectWorkingAgent('/agent');
    expect(await (await fetch(`${url}/other`)).text()).toBe('other');
    expect(await (await fetch(`${url}/agents`)).text()).toContain('Cannot GET /agents');
  });

  it('responds 404 to requests outside of its base path if there is no next handler', async () => {
    const handler = handlerOf({ basePath: '/agent' });
    app.use((request, response) => handler(request, response));
    expect((await fetch(`${url}/other`)).status).toBe(404);
  });

  it('uses publicUrl in the card', async () => {
    app.use('/agent', handlerOf({ publicUrl: 'https://agents.example/x' }));
    expect(await cardUrl('/agent')).toBe('https://agents.example/x');
  });

  it('does not let clients choose unusual paths in the card', async () => {
    app.use(/.*/, handlerOf());
    const response = await fetch(`${url}/"><script>/.well-known/agent-card.json`);
    expect(await response.text()).not.toContain('script');
  });
});

describe('toNodeHandler behind a body parser', () => {
  const parsers: [string, () => express.RequestHandler, string][] = [
    ['express.json()', () => express.json(), 'application/json'],
    ['express.json() for all media types', () => express.json({ type: '*/*' }), 'application/json'],
    ['express.text()', () => express.text({ type: '*/*' }), 'application/json'],
    ['express.raw()', () => express.raw({ type: '*/*' }), 'application/json'],
    ['express.json() for another media type', () => express.json(), 'application/a2a+json'],
    ['express.urlencoded()', () => express.urlencoded({ extended: true }), 'application/json'],
  ];
  it.each(parsers)('accepts the body of %s', async (_name, parser, type) => {
    app.use(parser());
    app.use('/agent', handlerOf());
    const response = await post('/agent/message:send', restBody('Grüße'), { 'content-type': type });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"text":"Grüße"');
    const frames = await readSseFrames(await post('/agent/message:stream', restBody('stream')));
    expect(frames.length).toBeGreaterThan(5);
  });

  it('accepts an empty body in chunks', async () => {
    app.use(express.json({ type: '*/*' }));
    app.use('/agent', handlerOf());
    const started = await post('/agent/message:send', restBody('ask'));
    const { id } = ((await started.json()) as { task: { id: string } }).task;
    const body = new ReadableStream({ start: (controller) => controller.close() });
    const response = await fetch(`${url}/agent/tasks/${id}:cancel`, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit);
    expect(await response.json()).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  });

  it('prefers the raw body', async () => {
    app.use(
      express.json({
        verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }),
        reviver: (_key, value: unknown) => (typeof value === 'string' ? 'changed' : value),
      }),
    );
    app.use('/agent', handlerOf());
    expect(await (await post('/agent/message:send', restBody('hello'))).text()).toContain('"text":"hello"');
  });

  it('rejects a body that was read and not kept, and says what to do', async () => {
    app.use(async (request, _response, next) => {
      request.resume();
      await finished(request);
      next();
    });
    app.use('/agent', handlerOf());
    const response = await post('/agent/message:send', restBody('hello'));
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('Mount the agent before the body parser');
  });

  it('rejects a body that another handler is reading', async () => {
    app.use((request, _response, next) => {
      request.once('data', () => next());
    });
    app.use('/agent', handlerOf());
    expect((await post('/agent/message:send', restBody('hello'))).status).toBe(500);
  });

  it('applies maxBodyBytes and the limits of JSON to a parsed body', async () => {
    app.use(express.json());
    app.use('/agent', handlerOf({ maxBodyBytes: 1_000 }));
    expect((await post('/agent/message:send', restBody('x'.repeat(2_000)))).status).toBe(413);
    const deep = `{"message":${'['.repeat(400)}${']'.repeat(400)}}`;
    expect((await post('/agent/message:send', deep)).status).toBe(400);
  });

  it('rejects a parsed body of a media type other than JSON', async () => {
    app.use(express.urlencoded({ extended: true }));
    app.use('/agent', handlerOf());
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const response = await post('/agent/message:send', 'message[messageId]=1', type);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('The body must be application/json');
  });
});

describe('lifecycle of toNodeHandler', () => {
  it('recovers unfinished tasks and is ready afterwards', async () => {
    const taskStore = memoryTaskStore();
    await taskStore.create('', { id: 't', contextId: 'c', status: { state: 'working' } });
    const restarted = defineAgent(
      { name: 'A', description: 'Was restarted', process: ({ text }) => text },
      { taskStore, log: () => {} },
    );
    const handler = handlerOf({}, restarted);
    app.use('/agent', handler);
    await handler.ready;
    expect((await fetch(`${url}/agent/readyz`)).status).toBe(200);
    expect((await restarted.getTask({ id: 't' })).status.state).toBe('failed');
    await restarted.close();
  });

  it('responds 503 while the agent cannot start, and tries again with the next request', async () => {
    let isBroken = true;
    const log: string[] = [];
    const broken = stubAgent(agent, {
      ready: async () => {
        if (isBroken) throw new Error('the secret of the house');
      },
    });
    const handler = handlerOf({ log: ({ message }) => log.push(message) }, broken);
    app.use('/agent', handler);
    await expect(handler.ready).rejects.toThrow('the secret of the house');
    const response = await post('/agent/message:send', restBody('hello'));
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('secret');
    expect((await fetch(`${url}/agent/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/agent/readyz`)).status).toBe(503);
    expect(log).toContain('The agent is not ready');
    isBroken = false;
    await fetch(`${url}/agent/healthz`);
    await handler.ready;
    expect((await post('/agent/message:send', restBody('hello'))).status).toBe(200);
  });

  it('sends heartbeats', async () => {
    app.use('/agent', handlerOf({ heartbeat: 10 }));
    const response = await post('/agent/message:stream', restBody('slow'));
    let beats = 0;
    for await (const { comment } of streamSseFrames(response))
      if (comment !== undefined && ++beats === 3) break;
    expect(beats).toBe(3);
  });

  it('disconnects a client that does not read its stream', async () => {
    const flood = defineAgent({
      name: 'Flood',
      description: 'Sends a lot',
      async *process() {
        for (let i = 0; i < 400; i++) yield 'x'.repeat(100_000);
      },
    });
    const closed = new Promise<void>((resolve) => {
      app.use((_request, response, next) => {
        response.on('close', resolve);
        next();
      });
    });
    app.use('/agent', handlerOf({ heartbeat: 20, stallTimeout: 100 }, flood));
    const response = await post('/agent/message:stream', restBody('go'));
    await closed;
    await expect(response.text()).rejects.toThrow();
    await flood.close();
  });

  it('ends streams and rejects requests when it is closed', async () => {
    const handler = handlerOf();
    app.use('/agent', handler);
    const frames = streamSseFrames(await post('/agent/message:stream', restBody('slow')));
    expect((await frames.next()).done).toBe(false);
    await handler.close();
    for await (const _frame of frames);
    const ready = await fetch(`${url}/agent/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, '{"status":"stopping"}']);
    expect((await post('/agent/message:send', restBody('hello'))).status).toBe(503);
    expect((await fetch(`${url}/agent/healthz`)).status).toBe(200);
  });

  it('waits for running tasks before it ends their streams, if `drain` says so', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const patient = defineAgent({
      name: 'Patient',
      description: 'Waits',
      async *process() {
        yield 'one';
        await released;
        yield 'two';
      },
    });
    const handler = handlerOf({ drain: { tasks: 60_000 } }, patient);
    app.use('/agent', handler);
    const frames = streamSseFrames(await post('/agent/message:stream', restBody('go')));
    const texts: string[] = [];
    const collecting = (async () => {
      for await (const { data } of frames) texts.push(data?.artifactUpdate?.artifact.parts[0].text ?? '');
    })();
    while (!texts.includes('one')) await new Promise(setImmediate);
    const closing = handler.close();
    expect((await fetch(`${url}/agent/readyz`)).status).toBe(503);
    release();
    await closing;
    await collecting;
    expect(texts).toContain('two');
    await patient.close();
  });
});

describe('options of toNodeHandler', () => {
  it('rejects something that is no agent', () => {
    for (const wrong of [undefined, {}, { process: () => 'x' }])
      expect(() => toNodeHandler(wrong as unknown as LocalAgent)).toThrow('agent must be an agent');
  });

  it.each(['agent', 'https://a.example/agent', '/agent?x'])('rejects the base path %s', (basePath) => {
    expect(() => toNodeHandler(agent, { basePath })).toThrow('basePath must start with "/"');
  });
});

describe('toNodeHandler in a node:http server', () => {
  it('is a request listener', async () => {
    const handler: (request: IncomingMessage, response: ServerResponse) => void = handlerOf({
      basePath: '/a',
    });
    const plain = createServer(handler);
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port } = plain.address() as AddressInfo;
    const remote = connect(`http://127.0.0.1:${port}/a`);
    expect(await remote.send({ message: userMessage('hello') })).toMatchObject({
      status: { state: 'completed' },
    });
    await remote.close();
    await new Promise((resolve) => plain.close(resolve));
  });
});
