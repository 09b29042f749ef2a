import 'reflect-metadata';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve as serveHono } from '@hono/node-server';
import { All, Controller, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import Fastify, { type FastifyRequest } from 'fastify';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { toFetchHandler } from '../../../src/server/fetch.ts';
import type { MountedMessage } from '../../../src/server/node/mounted-url.ts';
import { toNodeHandler } from '../../../src/server/node/to-node-handler.ts';
import { isTask } from '../../../src/protocol/task.ts';
import { runNode, type RunningCommand } from '../../support/cli/run-command.ts';
import { codeBlocksOf } from '../../support/docs/code-blocks.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { streamSseFrames } from '../../support/http/sse-frames.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { ConsumerFolder } from '../../support/process/consumer-folder.ts';
import { userMessage } from '../../support/server/stream-clients.ts';

/** The programs of the page by file name. */
const examples = new Map(
  codeBlocksOf('docs/guide/mounting.md').flatMap(({ language, code }) => {
    const file = language === 'js' ? /^\/\/ (\S+\.js)\n/.exec(code)?.[1] : undefined;
    return file === undefined ? [] : [[file, code] as const];
  }),
);

const libraries = [
  'express',
  'fastify',
  'hono',
  '@hono/node-server',
  '@nestjs/common',
  '@nestjs/core',
  'reflect-metadata',
];
let consumer: ConsumerFolder;

beforeAll(() => {
  consumer = new ConsumerFolder([...libraries, '@nestjs/platform-express', 'rxjs']);
});
afterAll(() => consumer.remove());

/** Sends messages with every version and transport, streams one, and reads card and health checks. */
async function expectMountedAgent(url: string): Promise<void> {
  for (const path of ['agent-card.json', 'agent.json']) {
    const card = (await (await fetch(`${url}/.well-known/${path}`)).json()) as { url: string };
    expect(card.url).toBe(url);
  }
  for (const [version, transport] of [
    ['1.0', 'JSONRPC'],
    ['1.0', 'HTTP+JSON'],
    ['0.3', 'JSONRPC'],
    ['0.3', 'HTTP+JSON'],
    ['0.1', 'JSONRPC'],
  ] as const) {
    const remote = connect(url, { versions: [version], transports: [transport], maxRetries: 0 });
    const task = await remote.send({ message: userMessage('hello') });
    expect(isTask(task) && task.artifacts?.[0]?.parts[0], `${version} ${transport}`).toMatchObject({
      text: 'hello',
    });
    const states: string[] = [];
    for await (const event of remote.stream({ message: userMessage('hello') }))
      if (event.kind === 'status') states.push(event.status.state);
    expect(states.at(-1)).toBe('completed');
    await remote.close();
  }
  for (const [path, status] of [
    ['/readyz', 200],
    ['/healthz', 200],
    ['/tasks/missing', 404],
  ] as const)
    expect((await fetch(url + path, { headers: { 'a2a-version': '1.0' } })).status, path).toBe(status);
  // The media type of A2A 1.0, for which frameworks have no parser.
  const response = await fetch(`${url}/message:send`, {
    method: 'POST',
    headers: { 'a2a-version': '1.0', 'content-type': 'application/a2a+json' },
    body: JSON.stringify({
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] },
    }),
  });
  expect(response.status).toBe(200);
}

describe('examples of the mounting page', () => {
  it('exist for every framework', () => {
    expect([...examples.keys()]).toEqual([
      'express.js',
      'fastify.js',
      'nest.js',
      'hono.js',
      'app/agent/[[...path]]/route.js',
      'bun.js',
      'deno.js',
      'worker.js',
    ]);
  });

  it.each(['express.js', 'fastify.js', 'nest.js', 'hono.js'])('%s serves the agent', async (file) => {
    const port = String(await findFreePort());
    consumer.write(file, (examples.get(file) ?? '').replaceAll('4000', port));
    const running: RunningCommand = runNode([join(consumer.path, file)]);
    const [, url = ''] = await running.prints(/^listening on (\S+)$/m);
    await expectMountedAgent(url);
    expect(running.stderr).toBe('');
    await running.stop();
  });

  it('the route of Next.js serves the agent through the Web API', async () => {
    const file = 'app/agent/[[...path]]/route.js';
    consumer.write(file, examples.get(file) ?? '');
    const module = (await import(pathToFileURL(join(consumer.path, file)).href)) as {
      [method: string]: ((request: Request, context: object) => Promise<Response>) | undefined;
    };
    const context = { params: Promise.resolve({ path: [] }) };
    const server = serveHono({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request: Request) =>
        module[request.method]?.(request, context) ?? new Response(null, { status: 405 }),
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await expectMountedAgent(`http://127.0.0.1:${port}/agent`);
    await new Promise((resolve) => server.close(resolve));
  });
});

const echo = () => defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
const rpcBody = () =>
  JSON.stringify({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] },
  });
const jsonHeaders = { 'a2a-version': '1.0', 'content-type': 'application/json' };

describe('Fastify with its own body parser', () => {
  const start = async (receive: (request: FastifyRequest) => MountedMessage) => {
    const handler = toNodeHandler(echo(), { basePath: '/agent' });
    const app = Fastify();
    app.all('/agent*', (request, reply) => {
      reply.hijack();
      handler(receive(request), reply.raw);
    });
    app.addHook('preClose', () => handler.close());
    return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }) };
  };

  it('passes the parsed body on', async () => {
    const { app, url } = await start(({ raw, body }) => Object.assign(raw, { body }));
    const remote = connect(`${url}/agent`);
    expect(await remote.send({ message: userMessage('hello') })).toMatchObject({
      status: { state: 'completed' },
    });
    await remote.close();
    await app.close();
  });

  it('gets an error that says what to do if the parsed body is missing', async () => {
    const { app, url } = await start(({ raw }) => raw);
    const response = await fetch(`${url}/agent/message:send`, {
      method: 'POST',
      headers: jsonHeaders,
      body: rpcBody(),
    });
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('pass the parsed body as `body` of the request');
    await app.close();
  });

  it('closes although a stream is open', async () => {
    const handler = toNodeHandler(sampleAgent(), { basePath: '/agent' });
    const app = Fastify();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    app.all('/agent*', (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw);
    });
    app.addHook('preClose', () => handler.close());
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const body = rpcBody().replace('hello', 'slow');
    const stream = await fetch(`${url}/agent/message:stream`, { method: 'POST', headers: jsonHeaders, body });
    const frames = streamSseFrames(stream);
    await frames.next();
    const closing = app.close();
    for await (const _frame of frames);
    await closing;
  });
});

describe('NestJS', () => {
  it('serves an agent from a controller, behind its body parser', async () => {
    const handler = toNodeHandler(echo(), { basePath: '/agent' });
    class AgentController {
      handle(request: MountedMessage, response: ServerResponse): void {
        handler(request, response);
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(
      AgentController.prototype,
      'handle',
    ) as PropertyDescriptor;
    Controller()(AgentController);
    All(['agent', 'agent/*path'])(AgentController.prototype, 'handle', descriptor);
    Req()(AgentController.prototype, 'handle', 0);
    Res()(AgentController.prototype, 'handle', 1);
    const root = { module: AgentController, controllers: [AgentController] };
    const app = await NestFactory.create(root, { logger: ['error'] });
    await app.listen(0, '127.0.0.1');
    await expectMountedAgent(`${await app.getUrl()}/agent`);
    await handler.close();
    await app.close();
  });
});

describe('Hono', () => {
  it('serves an agent below app.mount with the public URL of the options', async () => {
    const app = new Hono();
    const handler = toFetchHandler(echo(), { publicUrl: 'http://agents.test/agent' });
    app.mount('/agent', handler);
    const card = await app.request('http://agents.test/agent/.well-known/agent-card.json');
    expect(await card.json()).toMatchObject({ url: 'http://agents.test/agent' });
    const response = await app.request('http://agents.test/agent/message:send', {
      method: 'POST',
      headers: jsonHeaders,
      body: rpcBody(),
    });
    expect(response.status).toBe(200);
  });

  it('gets an error that says what to do if the body was read before', async () => {
    const app = new Hono();
    const handler = toFetchHandler(echo(), { basePath: '/agent' });
    app.all('/agent/*', async (context) => {
      await context.req.raw.text();
      return handler(context.req.raw);
    });
    const response = await app.request('http://agents.test/agent/message:send', {
      method: 'POST',
      headers: jsonHeaders,
      body: rpcBody(),
    });
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('clone()');
  });
});
