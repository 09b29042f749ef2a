/** The gRPC client with our own server: operations, streams, credentials, TLS, and a connection that breaks. */
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  apiKey,
  bearer,
  connect,
  type ClientWarning,
  type ConnectOptions,
  type Credentials,
} from '../../../src/client/index.ts';
import { undiciHttpClient } from '../../../src/client/http/undici-driver.ts';
import { defineAgent, type ProcessFunction } from '../../../src/engine/index.ts';
import { reduce } from '../../../src/protocol/reduce.ts';
import type { Task } from '../../../src/protocol/task.ts';
import type { Authenticator } from '../../../src/server/auth/authenticator.ts';
import { apiKeyAuth } from '../../../src/server/auth/schemes/api-key.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { type ServeOptions, serve } from '../../../src/server/node/serve.ts';
import { tapHttpClient } from '../../../src/tap/recorders/tap-http-client.ts';
import { TrafficLog } from '../../../src/tap/traffic-log.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream } from '../../support/collect-stream.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { createAuthority, hasOpenssl } from '../../support/http/certificates.ts';
import { startTcpRelay } from '../../support/http/tcp-relay.ts';

const open = closeAfterEach();
let release = createDeferred();
afterEach(() => {
  release.resolve();
  release = createDeferred();
});

async function start(options: ServeOptions = {}) {
  const process: ProcessFunction = async function* ({ text, message }) {
    if (text === 'wait') {
      yield { state: 'working', message: 'waiting' };
      yield { artifact: { artifactId: 'a', parts: [{ text: 'first' }] } };
      await release.promise;
    }
    const [first] = message.parts;
    if (first && 'raw' in first) yield { artifact: { artifactId: 'file', parts: [first] } };
    else yield text;
  };
  const agent = defineAgent(
    { name: 'Echo', description: 'Repeats', pushNotifications: true, process },
    { push: { egress: { resolve: async () => [] } } },
  );
  const server = await serve(agent, { grpc: true, ...options });
  open.push({ close: () => server.stop(0) });
  return server;
}

const warnings: ClientWarning[] = [];
function connectTo(target: string | object, options: ConnectOptions = {}) {
  warnings.length = 0;
  const agent = connect(target, {
    transports: ['GRPC'],
    random: () => 0,
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  open.push({ close: () => agent.close() });
  return agent;
}

describe.each(['1.0', '0.3'] as const)('client of gRPC %s', (version) => {
  it('calls all operations', async () => {
    const { url } = await start();
    const agent = connectTo(url, { versions: [version] });
    const task = (await agent.send('hello')) as Task;
    expect(task).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ text: 'hello' }] }],
    });
    expect(await agent.describe()).toMatchObject({
      transport: 'GRPC',
      version,
      url: `${url}/`,
      confirmed: true,
    });
    expect(await agent.getTask({ id: task.id })).toMatchObject({ id: task.id });
    expect((await agent.getTask({ id: task.id, historyLength: 0 })).history ?? []).toEqual([]);
    if (version === '1.0') {
      const { tasks } = await agent.listTasks({ status: 'completed', pageSize: 5 });
      expect(tasks.map(({ id }) => id)).toEqual([task.id]);
    } else await expect(agent.listTasks({})).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    await expect(agent.cancelTask({ id: task.id })).rejects.toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
    await expect(agent.getTask({ id: 'nothing' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });

    const stream = agent.stream('wait')[Symbol.asyncIterator]();
    const first = await stream.next();
    const waiting = (first.value as { task: Task }).task;
    const config = await agent.createPushConfig({
      taskId: waiting.id,
      id: 'p',
      url: 'https://hooks.example.com/',
    });
    expect(config).toMatchObject({ taskId: waiting.id, id: 'p' });
    expect(await agent.getPushConfig({ taskId: waiting.id, id: 'p' })).toMatchObject({ id: 'p' });
    expect((await agent.listPushConfigs({ taskId: waiting.id })).configs).toMatchObject([{ id: 'p' }]);
    await agent.deletePushConfig({ taskId: waiting.id, id: 'p' });
    expect((await agent.listPushConfigs({ taskId: waiting.id })).configs).toEqual([]);
    expect(await agent.cancelTask({ id: waiting.id })).toMatchObject({ status: { state: 'canceled' } });
    await stream.return?.();
    await expect(agent.extendedCard()).rejects.toMatchObject({
      reason: expect.stringMatching(/UNSUPPORTED_OPERATION|EXTENDED_AGENT_CARD_NOT_CONFIGURED/),
    });
    expect(warnings).toEqual([]);
  });

  it('streams events, subscribes, and sends bytes', async () => {
    const { url } = await start();
    const agent = connectTo(url, { versions: [version] });
    const events = agent.stream('wait');
    const iterator = events[Symbol.asyncIterator]();
    const { value } = await iterator.next();
    const subscription = agent.subscribe({ id: (value as { task: Task }).task.id })[Symbol.asyncIterator]();
    const subscribed = [(await subscription.next()).value];
    release.resolve();
    const rest = [value, ...(await collectStream({ [Symbol.asyncIterator]: () => iterator }))];
    expect(reduce(rest)).toMatchObject({ status: { state: 'completed' } });
    subscribed.push(...(await collectStream({ [Symbol.asyncIterator]: () => subscription })));
    expect(reduce(subscribed)).toMatchObject({ status: { state: 'completed' } });

    const raw = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251)).toString('base64');
    const parts = [{ raw, filename: 'f', mediaType: 'application/octet-stream' }];
    const task = (await agent.send({ message: { messageId: 'm', role: 'user', parts } })) as Task;
    expect(task.artifacts?.[0]?.parts).toMatchObject(parts);
    expect(warnings).toEqual([]);
  });

  it('resumes a stream whose connection breaks', async () => {
    const { port } = await start({ publicUrl: undefined });
    const relay = await startTcpRelay(port);
    open.push({ close: () => relay.remove() });
    const agent = connectTo(`grpc://127.0.0.1:${relay.port}`, { versions: [version] });
    const iterator = agent.stream('wait')[Symbol.asyncIterator]();
    const events = [];
    for (;;) {
      const { value } = await iterator.next();
      events.push(value);
      if (value.kind === 'artifact') break;
    }
    relay.disconnect();
    relay.restore();
    release.resolve();
    events.push(...(await collectStream({ [Symbol.asyncIterator]: () => iterator })));
    expect(reduce(events)).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ artifactId: 'a' }, { parts: [{ text: 'wait' }] }],
    });
    expect(warnings.map(({ kind }) => kind)).toContain('resume');
  });
});

it('repeats a request whose connection breaks, and the agent runs it once', async () => {
  const server = await start();
  const relay = await startTcpRelay(server.port);
  open.push({ close: () => relay.remove() });
  const direct = connectTo(server.url);
  const url = `127.0.0.1:${relay.port}`;
  const interfaces = [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
  const agent = connectTo({ ...(await direct.card()), interfaces });
  expect((await agent.describe()).url).toContain(url);
  const sending = agent.send('wait');
  await expect.poll(async () => (await direct.listTasks({})).totalSize).toBe(1);
  relay.disconnect();
  relay.restore();
  release.resolve();
  expect(await sending).toMatchObject({ status: { state: 'completed' } });
  expect((await direct.listTasks({})).totalSize).toBe(1);
});

describe('choice of gRPC', () => {
  const grpcCard = (address: string) => ({
    name: 'Echo',
    description: '',
    version: '1',
    supportedInterfaces: [{ url: address, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  });

  /** Returns a card that lists an address of gRPC in front of a URL of JSON-RPC. */
  const grpcFirst = (address: string, url: string) => ({
    ...grpcCard(address),
    supportedInterfaces: [
      { url: address, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
  });

  it('uses the first interface of the card by default, and the order of the caller if there is one', async () => {
    const { url, port } = await start();
    const card = grpcFirst(`127.0.0.1:${port}`, url);
    for (const [target, transports, used] of [
      [url, undefined, 'JSONRPC'],
      [card, undefined, 'GRPC'],
      [card, ['JSONRPC', 'GRPC'], 'JSONRPC'],
    ] as const) {
      const agent = connectTo(target, { transports });
      await agent.send('hello');
      expect(await agent.describe()).toMatchObject({ transport: used, confirmed: true });
    }
    expect(warnings).toEqual([]);
  });

  it('uses the preferred transport of a 0.3 card by default', async () => {
    const { url, port } = await start();
    const { supportedInterfaces: _interfaces, ...card } = grpcCard('');
    const agent = connectTo(
      {
        ...card,
        protocolVersion: '0.3.0',
        url: `127.0.0.1:${port}`,
        preferredTransport: 'GRPC',
        additionalInterfaces: [{ url, transport: 'JSONRPC' }],
      },
      { transports: undefined },
    );
    await agent.send('hello');
    expect(await agent.describe()).toMatchObject({ transport: 'GRPC', version: '0.3' });
  });

  const keys = { secret: { id: 'me' } };
  const queryKey = { in: 'query', name: 'key' } as const;
  it.each<[string, (port: number) => Promise<string> | string, Authenticator?, Credentials?]>([
    ['refuses connections', () => '127.0.0.1:1'],
    ['has no HTTP/2', async () => `127.0.0.1:${await listen(createServer())}`],
    ['has HTTP/2 without gRPC', async () => `127.0.0.1:${await listen(rejectingServer(415))}`],
    [
      'is at an origin that must not receive credentials',
      (port) => `localhost:${port}`,
      bearerAuth({ tokens: keys }),
      bearer('secret'),
    ],
    [
      'would need an API key in the query',
      (port) => `127.0.0.1:${port}`,
      apiKeyAuth({ ...queryKey, keys }),
      apiKey({ ...queryKey, value: 'secret' }),
    ],
  ])('uses the next interface if the first one %s', async (_reason, address, authenticator, auth) => {
    const { url, port } = await start(authenticator && { auth: { authenticators: [authenticator] } });
    const served = await serveCard(grpcFirst(await address(port), url));
    const agent = connectTo(served.url, {
      transports: undefined,
      maxRetries: 0,
      auth,
      credentialOrigins: [url],
    });
    expect(await agent.send('hello')).toMatchObject({ status: { state: 'completed' } });
    expect(await agent.describe()).toMatchObject({ transport: 'JSONRPC' });
    expect(warnings.map(({ kind }) => kind)).toEqual(['fallback']);
  });

  it.each(['127.0.0.1:PORT', 'dns:///127.0.0.1:PORT', 'grpc://127.0.0.1:PORT', 'http://127.0.0.1:PORT/a2a'])(
    'uses gRPC if the card lists nothing else, at %s',
    async (address) => {
      const { port } = await start();
      const agent = connectTo(grpcCard(address.replace('PORT', String(port))), { transports: undefined });
      expect(await agent.send('hello')).toMatchObject({ status: { state: 'completed' } });
      expect(await agent.describe()).toMatchObject({ transport: 'GRPC' });
    },
  );

  it('passes over gRPC if the client has no HTTP/2', async () => {
    const { url, port } = await start();
    const options = { fetch: (...args: Parameters<typeof fetch>) => fetch(...args) };
    const card = grpcFirst(`127.0.0.1:${port}`, url);
    const agent = connectTo(card, { transports: undefined, ...options });
    expect(await agent.describe()).toMatchObject({ transport: 'JSONRPC' });
    expect(await agent.send('hello')).toMatchObject({ status: { state: 'completed' } });
    expect(warnings).toEqual([]);
    await connectTo(card, { transports: ['GRPC', 'JSONRPC'], ...options }).send('hello');
    expect(warnings).toMatchObject([{ kind: 'fallback', error: { reason: 'UNSUPPORTED_OPERATION' } }]);
    await expect(connectTo(card, options).send('hello')).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      message: 'This HTTP client does not support gRPC',
      hint: expect.stringContaining(`The card lists GRPC 1.0 at 127.0.0.1:${port}; JSONRPC 1.0 at ${url}`),
    });
  });

  it('passes through recorders of HTTP clients', async () => {
    const { url } = await start();
    const log = new TrafficLog();
    const http = undiciHttpClient({ connectTimeout: 10_000, maxConnections: 4 });
    open.push({ close: () => http.close() });
    const agent = connectTo(url, { http: tapHttpClient(http, log, { from: 'test' }) });
    expect(await agent.send('hello')).toMatchObject({ status: { state: 'completed' } });
    expect(reduce(await collectStream(agent.stream('hello')))).toMatchObject({
      status: { state: 'completed' },
    });
    await expect(agent.getTask({ id: 'nothing' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('explains servers without HTTP/2, refused connections and denied addresses', async () => {
    const server = createServer((_request, response) => response.end('hello'));
    const port = await listen(server);
    await expect(connectTo(`grpc://127.0.0.1:${port}`).send('x')).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `http://127.0.0.1:${port} does not support HTTP/2`,
    });
    await server[Symbol.asyncDispose]();
    await expect(connectTo(`grpc://127.0.0.1:${port}`, { maxRetries: 0 }).send('x')).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `Connection refused by http://127.0.0.1:${port}`,
    });
    const { url } = await serveCard(grpcCard('10.1.2.3:50051'));
    await expect(connectTo(url).send('x')).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
      hint: expect.stringContaining('egress'),
    });
  });

  it('connects to checked addresses only, whatever a name of the card resolves to', async () => {
    const { port } = await start({ allowedHosts: ['agents.example.com'] });
    const { url } = await serveCard(grpcCard(`agents.example.com:${port}`));
    const resolve = async () => ['127.0.0.1'];
    await expect(connectTo(url, { egress: { resolve } }).send('x')).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
      message: expect.stringMatching(/^Access to agents\.example\.com:\d+ denied/),
    });
    const allowed = connectTo(url, {
      egress: { resolve, allow: [`agents.example.com:${port}`, '127.0.0.1'] },
    });
    expect(await allowed.send('hello')).toMatchObject({ status: { state: 'completed' } });
  });

  /** Serves a card at a URL. */
  async function serveCard(card: object): Promise<{ url: string }> {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(card));
    });
    return { url: `http://127.0.0.1:${await listen(server)}` };
  }

  it('sends credentials to the origins of the caller only', async () => {
    const { url, port } = await start({
      auth: { authenticators: [bearerAuth({ tokens: { secret: { id: 'me' } } })] },
    });
    const agent = connectTo(url, { auth: bearer('secret') });
    expect(await agent.send('hello')).toMatchObject({ status: { state: 'completed' } });
    await expect(connectTo(url, { auth: bearer('wrong') }).send('hello')).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      hint: expect.stringContaining('auth'),
    });
    let tokens = 0;
    const renewing = connectTo(url, { auth: bearer(() => (++tokens > 1 ? 'secret' : 'expired')) });
    expect(await renewing.send('hello')).toMatchObject({ status: { state: 'completed' } });

    const elsewhere = await serveCard(grpcCard(`127.0.0.1:${port}`));
    await expect(connectTo(elsewhere.url, { auth: bearer('secret') }).send('x')).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      hint: expect.stringContaining('credentialOrigins'),
    });
    const allowed = connectTo(elsewhere.url, {
      auth: bearer('secret'),
      credentialOrigins: [`http://127.0.0.1:${port}`],
    });
    expect(await allowed.send('hello')).toMatchObject({ status: { state: 'completed' } });
  });

  it.skipIf(!hasOpenssl())('uses TLS, and explains servers without ALPN', async () => {
    const authority = createAuthority('client-grpc');
    const { port } = await start({ tls: authority.server });
    const tls = { ca: authority.ca };
    const agent = connectTo(`grpcs://localhost:${port}`, { tls });
    expect(await agent.send('hello')).toMatchObject({ status: { state: 'completed' } });
    await expect(connectTo(`grpcs://localhost:${port}`).send('hello')).rejects.toMatchObject({
      message: expect.stringContaining('not trusted'),
    });
    const other = createSecureServer({ ...authority.server, ALPNProtocols: ['http/1.1'] });
    const otherPort = await listen(other);
    await expect(connectTo(`grpcs://localhost:${otherPort}`, { tls }).send('hello')).rejects.toMatchObject({
      message: `https://localhost:${otherPort} does not offer HTTP/2 over TLS`,
      hint: expect.stringContaining('ALPN'),
    });
  });
});

/** Returns a server of HTTP/2 that rejects all requests. */
function rejectingServer(status: number): Http2Server {
  const server = createHttp2Server();
  server.on('stream', (stream) => {
    stream.respond({ ':status': status, 'content-type': 'text/plain' });
    stream.end('no');
  });
  return server;
}

async function listen(server: Server | Http2Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}
