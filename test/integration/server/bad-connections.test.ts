import { textOf } from '../../../src/protocol/part.ts';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import { AgentHttpHandler } from '../../../src/server/http/agent-http-handler.ts';
import { FastPathServer } from '../../../src/server/fast-path/fast-path-server.ts';
import { nodeListener } from '../../../src/server/node/node-listener.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { onlyTaskOf } from '../../support/engine/conversation.ts';
import { serveChecked, waitUntil } from '../../support/server/checked-server.ts';
import { sendRawRequest, RawConnection, rawRequest } from '../../support/http/raw-http.ts';

const maxBodyBytes = 100_000;
const guarded = serveChecked({}, { maxBodyBytes });

const modern = { 'A2A-Version': '1.0' };
const get = () =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: guarded.taskId } });
const stream = (messageId: string) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendStreamingMessage',
    params: { message: { messageId, role: 'ROLE_USER', parts: [{ text: 'go' }] } },
  });

describe('body above maxBodyBytes', () => {
  /** Sends the head, then the body in chunks until the server closes the connection. */
  async function sendLong(head: Buffer, bodies: readonly Buffer[]) {
    const line = new RawConnection(guarded.port);
    line.write(head);
    for (const body of bodies) if (!line.isClosed) line.write(body);
    const reply = await line.nextResponse();
    await line.waitForEnd();
    line.destroy();
    return reply;
  }

  const piece = Buffer.alloc(10_000, 'x');
  const pieces = Array.from({ length: 15 }, () => piece);
  const chunk = Buffer.concat([Buffer.from('2710\r\n'), piece, Buffer.from('\r\n')]);
  const chunks = [...Array.from({ length: 15 }, () => chunk), Buffer.from('0\r\n\r\n')];
  const chunked = { ...modern, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
  const long = { ...modern, 'Content-Type': 'application/json', 'Content-Length': '150000' };

  it.each([
    ['with Content-Length', '/', long, pieces],
    ['with chunked encoding', '/', chunked, chunks],
    ['with Content-Length on a REST path', '/message:send', long, pieces],
    ['with chunked encoding on a REST path', '/message:send', chunked, chunks],
  ])(
    'rejects a body above maxBodyBytes %s and closes the connection',
    async (_how, path, headers, bodies) => {
      const reply = await sendLong(rawRequest('POST', path, '', headers), bodies);
      expect(reply?.status).toBe(413);
      expect(reply?.headers.get('connection')).toBe('close');
      const { error } = JSON.parse(reply?.body ?? '') as { error: { code: number } };
      expect(error.code).toBe(path === '/' ? -32_600 : 413);
    },
  );

  it('rejects a too large Content-Length before the client sends the body', async () => {
    const head = rawRequest('POST', '/', '', { ...long, 'Content-Length': '999999999999' });
    expect((await sendLong(head, []))?.status).toBe(413);
  });

  it('discards a rejected body only up to a limit', async () => {
    const line = new RawConnection(guarded.port);
    line.write(rawRequest('POST', '/', '', { ...long, 'Content-Length': '999999999' }));
    let sent = 0;
    while (!line.isClosed && sent < 50_000_000) {
      line.write(piece);
      sent += piece.length;
      if (line.socket.writableNeedDrain) await new Promise(setImmediate);
    }
    expect(line.isClosed).toBe(true);
    line.destroy();
  });
});

describe('wrong Content-Length', () => {
  it('waits for a body that is too short and gives up when the client ends', async () => {
    const line = new RawConnection(guarded.port);
    line.socket.end(rawRequest('POST', '/', get(), { ...modern, 'Content-Length': '5000' }));
    expect((await line.remainingResponses()).map(({ status }) => status)).toEqual([400]);
  });

  it('rejects the rest of a body that is too long as a request', async () => {
    const line = new RawConnection(guarded.port);
    line.write(
      rawRequest('POST', '/', `${get()}trailing words\r\n\r\n`, {
        ...modern,
        'Content-Length': String(get().length),
      }),
    );
    const statuses = (await line.remainingResponses()).map(({ status }) => status);
    // The first response may or may not be sent before the connection ends.
    expect(statuses.at(-1)).toBe(400);
    expect(statuses.length).toBeLessThanOrEqual(2);
  });

  it.each(['-1', 'abc', '1e3', '5, 6'])('rejects the length %j', async (length) => {
    const line = new RawConnection(guarded.port);
    line.write(rawRequest('POST', '/', get(), { 'Content-Length': length }));
    expect((await line.remainingResponses()).map(({ status }) => status)).toEqual([400]);
  });

  it('rejects Content-Length together with Transfer-Encoding', async () => {
    const line = new RawConnection(guarded.port);
    line.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    );
    expect((await line.remainingResponses()).map(({ status }) => status)).toEqual([400]);
  });
});

it('responds 431 to headers above the size limit', async () => {
  const line = new RawConnection(guarded.port);
  line.write(rawRequest('GET', '/healthz', '', { 'X-Long': 'x'.repeat(100_000) }));
  expect((await line.nextResponse())?.status).toBe(431);
  await line.waitForEnd();
});

it('responds to pipelined requests in order', async () => {
  const line = new RawConnection(guarded.port);
  const requests = Array.from({ length: 50 }, (_, id) =>
    rawRequest(
      'POST',
      '/',
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        method: id % 5 === 0 ? 'nothing' : 'tasks/get',
        params: { id: guarded.taskId },
      }),
    ),
  );
  line.write(Buffer.concat(requests));
  for (let id = 0; id < requests.length; id++) {
    expect(JSON.parse((await line.nextResponse())?.body ?? '')).toMatchObject({ jsonrpc: '2.0', id });
  }
  line.destroy();
});

it('serves other clients while one sends slowly', async () => {
  const request = rawRequest('POST', '/', get(), modern);
  const slow = new RawConnection(guarded.port);
  for (const byte of request.subarray(0, 80)) {
    slow.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  expect((await sendRawRequest(guarded.port, request))?.status).toBe(200);
  slow.write(request.subarray(80));
  expect((await slow.nextResponse())?.status).toBe(200);
  slow.destroy();
});

const bounds = {
  headerBytes: 10_000,
  headers: 100,
  bodyBytes: 10_000,
  stallTimeout: 60_000,
  onStalled() {},
};

/** Both request paths of the server. */
const requestPaths: [string, (handler: AgentHttpHandler) => Server][] = [
  ['node:http', (handler) => createServer(nodeListener(handler))],
  ['the fast path', (handler) => new FastPathServer({}, nodeListener(handler), () => handler, bounds)],
];

describe.each(requestPaths)('client disconnect during a request on %s', (_way, makeServer) => {
  let agent: LocalAgent;
  let handler: AgentHttpHandler;
  let server: Server;
  let port: number;
  /** Until it resolves, tasks do not begin. */
  let start = Promise.resolve();
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    agent = defineAgent({
      name: 'Slow',
      description: 'Gives a little at a time',
      async *process() {
        await start;
        for (let i = 0; i < 20; i++) {
          yield `${i} `;
          await new Promise(setImmediate);
        }
      },
    });
    handler = new AgentHttpHandler(agent);
    server = makeServer(handler);
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });

  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await agent.close();
  });

  async function expectNothingLeft(): Promise<void> {
    await waitUntil(() => sockets.size === 0 && handler.context.openStreams === 0, 'every line is closed');
    await waitUntil(
      async () => (await agent.listTasks({ status: 'working' })).totalSize === 0,
      'all tasks are finished',
    );
  }

  it('does not write an error into a stream when the client sends invalid bytes', async () => {
    const patient = defineAgent({
      name: 'Patient',
      description: 'Says one thing and then nothing for as long as anybody listens',
      async *process({ signal }) {
        yield 'one';
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const own = await serve(patient);
    const line = new RawConnection(own.port);
    let received = '';
    line.socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    line.write(rawRequest('POST', '/', stream('garbage'), modern));
    await waitUntil(() => received.includes('data: '), 'the stream begins');
    line.write('this is not HTTP\r\n\r\n');
    await line.waitForEnd();
    line.destroy();
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await own.stop(100);
    await patient.close();
    await expectNothingLeft();
  });

  it('releases all resources at every byte offset', async () => {
    const request = rawRequest('POST', '/', stream('cut'), modern);
    for (let length = 0; length <= request.length; length++) {
      const line = new RawConnection(port);
      await new Promise((resolve) => line.socket.once('connect', resolve));
      await new Promise<void>((resolve) => {
        line.socket.write(request.subarray(0, length), () => resolve());
      });
      line.destroy();
    }
    await expectNothingLeft();
    const { tasks } = await agent.listTasks({});
    expect(tasks.length).toBeLessThanOrEqual(2);
    for (const task of tasks) expect(task.status.state).toBe('completed');
  });

  it('lets the task continue at every point of the response', async () => {
    const before = (await agent.listTasks({})).totalSize;
    for (let bytes = 1; bytes < 6_000; bytes += 211) {
      const line = new RawConnection(port);
      let received = 0;
      const enough = new Promise<void>((resolve) => {
        line.socket.on('data', (data) => {
          received += data.length;
          if (received >= bytes) resolve();
        });
        line.socket.on('close', () => resolve());
        line.socket.on('end', () => resolve());
      });
      line.write(rawRequest('POST', '/', stream(`cut-${bytes}`), modern));
      await enough;
      line.destroy();
    }
    await expectNothingLeft();
    const after = await agent.listTasks({ status: 'completed', pageSize: 100 });
    expect(after.totalSize - before).toBe(Math.ceil(5_999 / 211));
  });

  it('closes the streams of pipelined requests', async () => {
    const requests = Array.from({ length: 20 }, (_, i) =>
      rawRequest('POST', '/', stream(`row-${i}`), modern),
    );
    let release = (): void => undefined;
    start = new Promise((resolve) => {
      release = resolve;
    });
    const line = new RawConnection(port);
    line.write(Buffer.concat(requests));
    await waitUntil(() => handler.context.openStreams > 1, 'the streams begin');
    line.destroy();
    await waitUntil(() => handler.context.openStreams === 0, 'the streams are closed');
    release();
    await expectNothingLeft();
  });
});

describe('client that does not read', () => {
  let agent: LocalAgent;
  let server: RunningServer;
  const sockets = new Set<Socket>();
  const total = 400;

  beforeAll(async () => {
    agent = defineAgent({
      name: 'Big',
      description: 'Says much',
      async *process() {
        for (let i = 0; i < total; i++) {
          yield 'x'.repeat(64 * 1_024);
          if (i % 20 === 0) await new Promise(setImmediate);
        }
      },
    });
    server = await serve(agent, { heartbeat: 20, stallTimeout: 300 });
    server.server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
  });

  afterAll(async () => {
    await server.stop(100);
    await agent.close();
  });

  it('disconnects a stalled reader after stallTimeout, without delaying the task or using memory', async () => {
    const line = new RawConnection(server.port);
    line.socket.pause();
    line.write(rawRequest('POST', '/', stream('big'), modern));
    await waitUntil(
      async () => (await agent.listTasks({ status: 'completed' })).totalSize === 1,
      'the task is finished',
    );
    for (const socket of sockets) expect(socket.writableLength).toBeLessThan(1_000_000);
    const id = await onlyTaskOf(agent);
    await waitUntil(() => sockets.size === 0, 'the line is cut');
    const task = await agent.getTask({ id });
    expect(textOf(task)).toHaveLength(total * 64 * 1_024);
    expect((await sendRawRequest(server.port, rawRequest('GET', '/healthz')))?.status).toBe(200);
    line.destroy();
  });
});
