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

/** Lets the agent go on that was asked to wait; undefined while it does not. */
let release: (() => void) | undefined;

/** Says it back, and waits in its middle if it is asked to. */
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
  return { agent, server, port: server.port, lane: server.server as FastPathServer };
}

function asked(method: string, text: string, id = 1): Buffer {
  const message = { messageId: `${method}-${text}-${id}`, role: 'ROLE_USER', parts: [{ text }] };
  return rawRequest('POST', '/', JSON.stringify({ jsonrpc: '2.0', id, method, params: { message } }), modern);
}

const idOf = (reply: RawHttpResponse | undefined): unknown =>
  (JSON.parse(reply?.body ?? '{}') as { id?: unknown }).id;

describe('a plain request', () => {
  it('never reaches the server of Node, and its connection is kept for the next', async () => {
    const { port, lane } = await open();
    const line = new RawConnection(port);
    for (let i = 0; i < 3; i++) {
      line.write(asked('SendMessage', 'hi', i));
      expect(idOf(await line.nextResponse())).toBe(i);
      expect(lane.fastPathConnections.size).toBe(1);
    }
    line.write(asked('SendStreamingMessage', 'stream', 4));
    expect((await line.nextResponse())?.headers.get('content-type')).toBe('text/event-stream');
    line.write(health);
    expect((await line.nextResponse())?.status).toBe(200);
    expect(lane.fastPathConnections.size).toBe(1);
    line.destroy();
    await waitUntil(() => lane.fastPathConnections.size === 0, 'the lane is empty');
  });

  it('is waited for once if its head came alone, as many clients send it', async () => {
    const { port, lane } = await open();
    const request = asked('SendMessage', 'two packets');
    const line = new RawConnection(port);
    const body = request.indexOf('\r\n\r\n') + 4;
    line.write(request.subarray(0, body));
    await waitUntil(() => lane.fastPathConnections.size === 1, 'it is connected');
    await new Promise(setImmediate);
    line.write(request.subarray(body));
    expect((await line.nextResponse())?.status).toBe(200);
    line.destroy();
  });

  it('may be cut into two at any byte', async () => {
    const { port } = await open();
    const request = rawRequest('POST', '/', '{"jsonrpc":"2.0","id":7,"method":"nothing"}', modern);
    for (let at = 1; at < request.length; at++) {
      const line = new RawConnection(port);
      line.write(request.subarray(0, at));
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      line.write(request.subarray(at));
      expect(idOf(await line.nextResponse()), `cut at ${at}`).toBe(7);
      line.destroy();
    }
  });

  it('may be followed by an empty line while it is answered, as old clients do', async () => {
    const { port } = await open();
    const line = new RawConnection(port);
    line.write(asked('SendMessage', 'wait', 1));
    await agentWaits();
    line.write('\r\n');
    // Whoever comes later is answered, so that there was time enough.
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    release?.();
    expect(idOf(await line.nextResponse())).toBe(1);
    line.write(asked('SendMessage', 'next', 2));
    expect(idOf(await line.nextResponse())).toBe(2);
    line.destroy();
  });

  it('may be sent while another one is answered, and waits for its turn', async () => {
    const { port, lane } = await open();
    const line = new RawConnection(port);
    line.write(asked('SendStreamingMessage', 'wait', 1));
    await agentWaits();
    line.write(asked('SendMessage', 'second', 2));
    line.write(asked('SendMessage', 'third', 3));
    await new Promise(setImmediate);
    release?.();
    expect((await line.nextResponse())?.body).toContain(' over');
    expect([idOf(await line.nextResponse()), idOf(await line.nextResponse())]).toEqual([2, 3]);
    // Those that came together were left to Node.
    expect(lane.fastPathConnections.size).toBeLessThanOrEqual(1);
    line.destroy();
  });

  it('sees nothing of what an agent keeps for another one on the same connection', async () => {
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
    const line = new RawConnection(server.port);
    line.write(asked('SendMessage', 'one', 1));
    expect((await line.nextResponse())?.body).toContain('"one"');
    // The second waits until the first is answered.
    line.write(asked('SendMessage', 'two', 2));
    await waitUntil(() => seen.length === 2, 'the second is there');
    line.write(asked('SendMessage', 'three', 3));
    expect([idOf(await line.nextResponse()), idOf(await line.nextResponse())]).toEqual([2, 3]);
    expect(seen).toEqual([undefined, undefined, undefined]);
    line.destroy();
  });

  it('is answered with its length in bytes, whatever it is written in', async () => {
    const { port } = await open();
    const line = new RawConnection(port);
    for (const text of ['ä', '日本語 😀', '\u{fffd} half', 'x'.repeat(30_000)]) {
      line.write(asked('SendMessage', text));
      expect((await line.nextResponse())?.body).toContain(text);
      line.write(asked('SendStreamingMessage', text));
      expect((await line.nextResponse())?.body).toContain(text);
    }
    line.destroy();
  });
});

describe('whoever wants to see requests at the server of Node', () => {
  it('by listening to them sees them from then on', async () => {
    const { port, server } = await open();
    const line = new RawConnection(port);
    line.write(health);
    await line.nextResponse();
    let seen = 0;
    server.server.on('request', () => seen++);
    line.write(health);
    expect((await line.nextResponse())?.status).toBe(200);
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    expect(seen).toBe(2);
    line.destroy();
  });

  it.each(['request.start', 'response.finish'])('through the channel %s of Node sees them', async (name) => {
    const { port } = await open();
    const seen: unknown[] = [];
    const note = (message: unknown): unknown => seen.push(message);
    subscribe(`http.server.${name}`, note);
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    await waitUntil(() => seen.length > 0, 'it is seen');
    unsubscribe(`http.server.${name}`, note);
    expect(seen).toHaveLength(1);
  });

  it('by taking the place of `emit`, as tools that trace do, sees them', async () => {
    const { port } = await open();
    const events: string[] = [];
    Server.prototype.emit = function (this: Server, event: string | symbol, ...told: unknown[]) {
      events.push(String(event));
      return EventEmitter.prototype.emit.call(this, event, ...told);
    };
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    delete (Server.prototype as Partial<Server>).emit;
    expect(events).toContain('request');
  });

  it.each([{ timeout: 60_000 }, { maxRequestsPerSocket: 5 }])('for the sake of %o has it', async (limit) => {
    const { port, server, lane } = await open();
    Object.assign(server.server, limit);
    const line = new RawConnection(port);
    line.write(health);
    expect((await line.nextResponse())?.status).toBe(200);
    expect(lane.fastPathConnections.size).toBe(0);
    line.destroy();
  });

  it('by asking for it has no lane at all', async () => {
    const { port, lane } = await open({ fastPath: false });
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    expect(lane.fastPathConnections).toBeUndefined();
  });
});

describe('a connection', () => {
  it('that is idle for too long is closed', async () => {
    const { port } = await open({ limits: { keepAliveTimeout: 100, headersTimeout: 200 } });
    const line = new RawConnection(port);
    line.write(health);
    expect((await line.nextResponse())?.status).toBe(200);
    await line.waitForEnd();
  });

  it('that says nothing is closed', async () => {
    const { port } = await open({ limits: { headersTimeout: 200, requestTimeout: 300 } });
    const line = new RawConnection(port);
    expect((await line.nextResponse())?.status).toBe(408);
  });

  it('of a caller that leaves in the middle of its request says so to the caller', async () => {
    const { port, lane } = await open();
    const line = new RawConnection(port);
    line.socket.end(asked('SendMessage', 'half').subarray(0, -5));
    expect((await line.remainingResponses()).map(({ status }) => status)).toEqual([400]);
    await waitUntil(() => lane.fastPathConnections.size === 0, 'the lane is empty');
  });

  it('of a caller that does not read gets no second answer, and holds little', async () => {
    const { port, lane } = await open();
    let answers = 0;
    const big = 'x'.repeat(50_000);
    const { handlerFor: answererAt } = lane;
    Object.assign(lane, {
      answererAt: (target: string) => {
        const answerer = answererAt(target);
        return (
          answerer && {
            answerWhole: async () => {
              answers++;
              return { status: 200, headers: [], body: big.repeat(200) };
            },
            streamEnded: answerer.streamEnded.bind(answerer),
          }
        );
      },
    });
    const line = new RawConnection(port);
    line.socket.pause();
    line.write(health);
    await waitUntil(() => answers === 1, 'the first is answered');
    for (let i = 0; i < 200; i++) line.write(health);
    // Whoever comes later is answered, so that there was time enough.
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    expect(answers).toBe(2);
    line.destroy();
  });

  it('of a caller that leaves before its answer is there is counted and noted all the same', async () => {
    const outcomes: unknown[] = [];
    const { port, lane } = await open({
      metrics: true,
      log: ({ fields }) => outcomes.push([fields?.operation, fields?.outcome]),
    });
    const line = new RawConnection(port);
    line.write(asked('SendMessage', 'wait'));
    await agentWaits();
    line.destroy();
    await waitUntil(() => lane.fastPathConnections.size === 0, 'the lane is empty');
    release?.();
    await waitUntil(() => outcomes.length > 0, 'it is noted');
    expect(outcomes).toEqual([['send', 'OK']]);
  });

  it('with the end of an answer still to send is not idle', async () => {
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
    slow.write(asked('SendStreamingMessage', 'go on'));
    await waitUntil(
      async () => (await agent.listTasks({ status: 'completed' })).totalSize === 1,
      'all is said',
    );
    expect(theirs?.writableLength).toBeGreaterThan(0);
    // One that is idle for as long is closed.
    const idle = new RawConnection(server.port);
    idle.write(health);
    await idle.waitForEnd();
    slow.socket.resume();
    expect((await slow.nextResponse())?.body).toContain('TASK_STATE_COMPLETED');
    slow.destroy();
  });

  it('that somebody made of another stream is left to Node', async () => {
    const { port, lane } = await open();
    const doorman = createServer((socket) => {
      lane.emit('connection', Object.assign(socket, { encrypted: true }));
    });
    await new Promise<void>((resolve) => doorman.listen(0, '127.0.0.1', resolve));
    const line = new RawConnection((doorman.address() as AddressInfo).port);
    line.write(rawRequest('GET', '/.well-known/agent-card.json', '', modern));
    expect((await line.nextResponse())?.body).toContain('"https://localhost');
    line.destroy();
    doorman.close();
    expect((await sendRawRequest(port, health))?.status).toBe(200);
  });

  it('with half a request is not closed when the server stops, because it is no idle one', async () => {
    const { port, server, lane } = await open();
    const request = asked('SendMessage', 'half');
    const line = new RawConnection(port);
    line.write(request.subarray(0, -5));
    await waitUntil(() => lane.fastPathConnections.size === 1, 'it is connected');
    expect((await sendRawRequest(port, health))?.status).toBe(200);
    const stopped = server.stop(10_000);
    line.write(request.subarray(-5));
    const reply = await line.nextResponse();
    expect(reply?.body).toContain('"TASK_STATE_COMPLETED"');
    expect(reply?.headers.get('connection')).toBe('close');
    await stopped;
  });

  it('that is idle is closed when the server stops, and the others when they are answered', async () => {
    const { port, server, lane } = await open();
    const idle = new RawConnection(port);
    idle.write(health);
    await idle.nextResponse();
    const busy = new RawConnection(port);
    busy.write(asked('SendMessage', 'wait'));
    await agentWaits();
    expect(lane.fastPathConnections.size).toBe(2);
    const stopped = server.stop(10_000);
    await idle.waitForEnd();
    expect(busy.isClosed).toBe(false);
    release?.();
    const reply = await busy.nextResponse();
    expect(reply?.body).toContain('"TASK_STATE_COMPLETED"');
    expect(reply?.headers.get('connection')).toBe('close');
    await stopped;
  });

  it('that is still busy when the time to stop is over is cut', async () => {
    const { port, server } = await open();
    const busy = new RawConnection(port);
    busy.write(asked('SendMessage', 'wait'));
    await agentWaits();
    await server.stop(20);
    await busy.waitForEnd();
    release?.();
  });
});
