import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { Server } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import type { FastPathServer } from '../../../src/server/fast-path/fast-path-server.ts';
import { type ServeOptions, type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { waitUntil } from '../../support/server/checked-server.ts';
import {
  sendRawRequest,
  RawConnection,
  type RawHttpResponse,
  rawRequest,
} from '../../support/http/raw-http.ts';

const modern = { 'A2A-Version': '1.0' };
const health = rawRequest('GET', '/healthz');

const opened: { server: RunningServer; agent: LocalAgent }[] = [];
afterEach(async () => {
  for (const { server, agent } of opened.splice(0)) {
    await server.stop(50);
    await agent.close();
  }
});

/** Releases the waiting agent; undefined while it does not wait. */
let release: (() => void) | undefined;

/** An echo agent that waits in the middle on request. */
async function* echo({ text }: { text: string }) {
  yield text;
  if (text !== 'wait') return;
  await new Promise<void>((resolve) => {
    release = resolve;
  });
  yield ' over';
}

const agentWaits = () => waitUntil(() => release !== undefined, 'the agent waits');

async function open(options: ServeOptions = {}) {
  release = undefined;
  let drawn = 0;
  const agent = defineAgent(
    { name: 'Echo', description: 'Says it back', pushNotifications: true, process: echo },
    { generateId: () => `id-${++drawn}`, push: { egress: { resolve: async () => [] } } },
  );
  const server = await serve(agent, options);
  opened.push({ server, agent });
  return { agent, server, port: server.port, fastPath: server.server as FastPathServer };
}

function rpcRequest(method: string, text: string, id = 1): Buffer {
  const message = {
    messageId: `${method}-${text.slice(0, 100)}-${id}`,
    role: 'ROLE_USER',
    parts: [{ text }],
  };
  return rawRequest('POST', '/', JSON.stringify({ jsonrpc: '2.0', id, method, params: { message } }), modern);
}

const idOf = (reply: RawHttpResponse | undefined): unknown =>
  (JSON.parse(reply?.body ?? '{}') as { id?: unknown }).id;

describe('simple request on the fast path', () => {
  it('does not reach node:http and keeps the connection alive', async () => {
    const { port, fastPath } = await open();
    const connection = new RawConnection(port);
    for (let i = 0; i < 3; i++) {
      connection.write(rpcRequest('SendMessage', 'hi', i));
      expect(idOf(await connection.nextResponse())).toBe(i);
      expect(fastPath.fastPathConnections.size).toBe(1);
    }
    connection.write(rpcRequest('SendStreamingMessage', 'stream', 4));
    expect((await connection.nextResponse())?.headers.get('content-type')).toBe('text/event-stream');
    connection.write(health);
    expect((await connection.nextResponse())?.status).toBe(200);
    expect(fastPath.fastPathConnections.size).toBe(1);
    connection.destroy();
    await waitUntil(() => fastPath.fastPathConnections.size === 0, 'all connections are closed');
  });

  it('accepts head and body in two chunks', async () => {
    const { port, fastPath } = await open();
    const request = rpcRequest('SendMessage', 'two packets');
    const connection = new RawConnection(port);
    const body = request.indexOf('\r\n\r\n') + 4;
    connection.write(request.subarray(0, body));
    await waitUntil(() => fastPath.fastPathConnections.size === 1, 'it is connected');
    await new Promise(setImmediate);
    connection.write(request.subarray(body));
    expect((await connection.nextResponse())?.status).toBe(200);
    connection.destroy();
  });

  it('accepts a request that is split into two chunks at any byte', async () => {
    const { port } = await open();
    const request = rawRequest('POST', '/', '{"jsonrpc":"2.0","id":7,"method":"nothing"}', modern);
    for (let at = 1; at < request.length; at++) {
      const connection = new RawConnection(port);
      connection.write(request.subarray(0, at));
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      connection.write(request.subarray(at));
      expect(idOf(await connection.nextResponse()), `cut at ${at}`).toBe(7);
      connection.destroy();
    }
  });

  it('accepts an empty line after a request, as old clients send it', async () => {
    const { port } = await open();
    const connection = new RawConnection(port);
    connection.write(rpcRequest('SendMessage', 'wait', 1));
    await agentWaits();
    connection.write('\r\n');
    // A later request got a response, so there was enough time.
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    release?.();
    expect(idOf(await connection.nextResponse())).toBe(1);
    connection.write(rpcRequest('SendMessage', 'next', 2));
    expect(idOf(await connection.nextResponse())).toBe(2);
    connection.destroy();
  });

  it('waits while another request of the connection is handled', async () => {
    const { port, fastPath } = await open();
    const connection = new RawConnection(port);
    connection.write(rpcRequest('SendStreamingMessage', 'wait', 1));
    await agentWaits();
    connection.write(rpcRequest('SendMessage', 'second', 2));
    connection.write(rpcRequest('SendMessage', 'third', 3));
    await new Promise(setImmediate);
    release?.();
    expect((await connection.nextResponse())?.body).toContain(' over');
    expect([idOf(await connection.nextResponse()), idOf(await connection.nextResponse())]).toEqual([2, 3]);
    // Requests of one chunk were handed off to Node.
    expect(fastPath.fastPathConnections.size).toBeLessThanOrEqual(1);
    connection.destroy();
  });

  it('does not share AsyncLocalStorage with other requests of the connection', async () => {
    const kept = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const agent = defineAgent({
      name: 'Keeper',
      description: 'Keeps what it was told for as long as the request is there',
      async process({ text }) {
        seen.push(kept.getStore());
        kept.enterWith(text);
        await new Promise(setImmediate);
        return kept.getStore() ?? '';
      },
    });
    const server = await serve(agent);
    opened.push({ server, agent });
    const connection = new RawConnection(server.port);
    connection.write(rpcRequest('SendMessage', 'one', 1));
    expect((await connection.nextResponse())?.body).toContain('"one"');
    // The second request waits for the first response.
    connection.write(rpcRequest('SendMessage', 'two', 2));
    await waitUntil(() => seen.length === 2, 'the second is there');
    connection.write(rpcRequest('SendMessage', 'three', 3));
    expect([idOf(await connection.nextResponse()), idOf(await connection.nextResponse())]).toEqual([2, 3]);
    expect(seen).toEqual([undefined, undefined, undefined]);
    connection.destroy();
  });

  it('gets a response with the Content-Length in bytes', async () => {
    const { port } = await open();
    const connection = new RawConnection(port);
    for (const text of ['ä', '日本語 😀', '\u{fffd} half', 'x'.repeat(30_000)]) {
      connection.write(rpcRequest('SendMessage', text));
      expect((await connection.nextResponse())?.body).toContain(text);
      connection.write(rpcRequest('SendStreamingMessage', text));
      expect((await connection.nextResponse())?.body).toContain(text);
    }
    connection.destroy();
  });
});

describe('fast path with instrumentation', () => {
  it('disables the fast path when a request listener is added', async () => {
    const { port, server } = await open();
    const connection = new RawConnection(port);
    connection.write(health);
    await connection.nextResponse();
    let seen = 0;
    server.server.on('request', () => seen++);
    connection.write(health);
    expect((await connection.nextResponse())?.status).toBe(200);
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    expect(seen).toBe(2);
    connection.destroy();
  });

  it.each(['request.start', 'response.finish'])(
    'disables the fast path while diagnostics_channel %s has subscribers',
    async (name) => {
      const { port } = await open();
      const seen: unknown[] = [];
      const note = (message: unknown): unknown => seen.push(message);
      subscribe(`http.server.${name}`, note);
      expect((await sendRawRequest(port, health))?.status).toBe(200);
      await waitUntil(() => seen.length > 0, 'it is seen');
      unsubscribe(`http.server.${name}`, note);
      expect(seen).toHaveLength(1);
    },
  );

  it('disables the fast path when server.emit is replaced', async () => {
    const { port } = await open();
    const events: string[] = [];
    Server.prototype.emit = function (this: Server, event: string | symbol, ...args: unknown[]) {
      events.push(String(event));
      return EventEmitter.prototype.emit.call(this, event, ...args);
    };
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    delete (Server.prototype as Partial<Server>).emit;
    expect(events).toContain('request');
  });

  it.each([{ timeout: 60_000 }, { maxRequestsPerSocket: 5 }])(
    'disables the fast path with the server limit %o',
    async (limit) => {
      const { port, server, fastPath } = await open();
      Object.assign(server.server, limit);
      const connection = new RawConnection(port);
      connection.write(health);
      expect((await connection.nextResponse())?.status).toBe(200);
      expect(fastPath.fastPathConnections.size).toBe(0);
      connection.destroy();
    },
  );

  it('disables the fast path with fastPath: false', async () => {
    const { port, fastPath } = await open({ fastPath: false, grpc: false });
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    expect(fastPath.fastPathConnections).toBeUndefined();
  });
});

describe('fast-path connection', () => {
  it('closes an idle connection after keepAliveTimeout', async () => {
    const { port } = await open({ limits: { keepAliveTimeout: 100, headersTimeout: 200 } });
    const connection = new RawConnection(port);
    connection.write(health);
    expect((await connection.nextResponse())?.status).toBe(200);
    await connection.waitForEnd();
  });

  it.each([{}, { grpc: false }, { fastPath: false, grpc: false }])(
    'closes a connection that sends no request without a response, with %o',
    async (options) => {
      const { port } = await open({ limits: { headersTimeout: 200, requestTimeout: 300 }, ...options });
      const connection = new RawConnection(port);
      expect(await connection.nextResponse()).toBeUndefined();
    },
  );

  it('responds 400 when the client ends within a request', async () => {
    const { port, fastPath } = await open();
    const connection = new RawConnection(port);
    connection.socket.end(rpcRequest('SendMessage', 'half').subarray(0, -5));
    expect((await connection.remainingResponses()).map(({ status }) => status)).toEqual([400]);
    await waitUntil(() => fastPath.fastPathConnections.size === 0, 'all connections are closed');
  });

  it('handles no further request under backpressure and buffers little', async () => {
    const { port, fastPath } = await open();
    let responses = 0;
    const big = 'x'.repeat(50_000);
    const { handlerFor } = fastPath;
    Object.assign(fastPath, {
      handlerFor: (target: string) => {
        const handler = handlerFor(target);
        return (
          handler && {
            handleBuffered: async () => {
              responses++;
              return { status: 200, headers: [], body: big.repeat(200) };
            },
            streamEnded: handler.streamEnded.bind(handler),
          }
        );
      },
    });
    const connection = new RawConnection(port);
    connection.socket.pause();
    connection.write(health);
    await waitUntil(() => responses === 1, 'the first response is created');
    for (let i = 0; i < 200; i++) connection.write(health);
    // A later request got a response, so there was enough time.
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    expect(responses).toBe(2);
    connection.destroy();
  });

  it('records metrics and logs when the client disconnects early', async () => {
    const outcomes: unknown[] = [];
    const { port, fastPath } = await open({
      metrics: true,
      log: ({ fields }) => outcomes.push([fields?.operation, fields?.outcome]),
    });
    const connection = new RawConnection(port);
    connection.write(rpcRequest('SendMessage', 'wait'));
    await agentWaits();
    connection.destroy();
    await waitUntil(() => fastPath.fastPathConnections.size === 0, 'all connections are closed');
    release?.();
    await waitUntil(() => outcomes.length > 0, 'the request is logged');
    expect(outcomes).toEqual([['send', 'OK']]);
  });

  it('keeps a connection open while it sends a response', async () => {
    let theirs: Socket | undefined;
    const agent = defineAgent({
      name: 'Talker',
      description: 'Speaks until nobody takes any more',
      async *process() {
        const isTaken = (): boolean => theirs?.writableLength === 0;
        while (isTaken()) {
          yield 'x'.repeat(4_000);
          await new Promise(setImmediate);
        }
      },
    });
    const server = await serve(agent, { limits: { keepAliveTimeout: 50, headersTimeout: 200 } });
    opened.push({ server, agent });
    server.server.once('connection', (socket: Socket) => {
      theirs = socket;
    });
    const slow = new RawConnection(server.port);
    slow.socket.pause();
    slow.write(rpcRequest('SendStreamingMessage', 'go on'));
    await waitUntil(
      async () => (await agent.listTasks({ status: 'completed' })).totalSize === 1,
      'all is said',
    );
    expect(theirs?.writableLength).toBeGreaterThan(0);
    // An idle connection of the same age is closed.
    const idle = new RawConnection(server.port);
    idle.write(health);
    await idle.waitForEnd();
    slow.socket.resume();
    expect((await slow.nextResponse())?.body).toContain('TASK_STATE_COMPLETED');
    slow.destroy();
  });

  it('passes a connection that is not a net.Socket to Node', async () => {
    const { port, fastPath } = await open();
    const doorman = createServer((socket) => {
      fastPath.emit('connection', Object.assign(socket, { encrypted: true }));
    });
    await new Promise<void>((resolve) => doorman.listen(0, '127.0.0.1', resolve));
    const connection = new RawConnection((doorman.address() as AddressInfo).port);
    connection.write(rawRequest('GET', '/.well-known/agent-card.json', '', modern));
    expect((await connection.nextResponse())?.body).toContain('"https://localhost');
    connection.destroy();
    doorman.close();
    expect((await sendRawRequest(port, health))?.status).toBe(200);
  });

  it('keeps a connection with a partial request open on stop()', async () => {
    const { port, server, fastPath } = await open();
    const request = rpcRequest('SendMessage', 'half');
    const connection = new RawConnection(port);
    connection.write(request.subarray(0, -5));
    await waitUntil(() => fastPath.fastPathConnections.size === 1, 'it is connected');
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    const stopped = server.stop(10_000);
    connection.write(request.subarray(-5));
    const reply = await connection.nextResponse();
    expect(reply?.body).toContain('"TASK_STATE_COMPLETED"');
    expect(reply?.headers.get('connection')).toBe('close');
    await stopped;
  });

  it('closes idle connections on stop(), others after their response', async () => {
    const { port, server, fastPath } = await open();
    const idle = new RawConnection(port);
    idle.write(health);
    await idle.nextResponse();
    const busy = new RawConnection(port);
    busy.write(rpcRequest('SendMessage', 'wait'));
    await agentWaits();
    expect(fastPath.fastPathConnections.size).toBe(2);
    const stopped = server.stop(10_000);
    await idle.waitForEnd();
    expect(busy.isClosed).toBe(false);
    release?.();
    const reply = await busy.nextResponse();
    expect(reply?.body).toContain('"TASK_STATE_COMPLETED"');
    expect(reply?.headers.get('connection')).toBe('close');
    await stopped;
  });

  it('closes all connections when the stop timeout expires', async () => {
    const { port, server } = await open();
    const busy = new RawConnection(port);
    busy.write(rpcRequest('SendMessage', 'wait'));
    await agentWaits();
    await server.stop(20);
    await busy.waitForEnd();
    release?.();
  });
});
