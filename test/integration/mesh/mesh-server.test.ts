/** Agents of every version over HTTP, shown on the mesh to callers of every version. */
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { type MeshServerOptions, serveOnMesh } from '../../../src/mesh/server/serve-on-mesh.ts';
import type { BrokerConnection } from '../../../src/mesh/brokers/broker-connection.ts';
import { connectMemoryBroker } from '../../../src/mesh/brokers/memory/connect-memory.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import type { AgentCard } from '../../../src/protocol/card.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import type { LogEntry } from '../../../src/primitives/log.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { start02, start03, start13 } from '../../interop/official-servers.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import {
  request0_1,
  request0_3,
  request1_0,
  MeshTestClient,
  schema0_3,
} from '../../support/mesh/mesh-test-client.ts';
import { respondJson, startEventStream, startRawServer } from '../../support/http/raw-server.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  expect(schema0_3.findings).toEqual([]);
});

async function shown(agent: Agent, options: Partial<MeshServerOptions> = {}) {
  const link = connectMemoryBroker();
  const log: LogEntry[] = [];
  const caller = await MeshTestClient.join(link);
  const server = await serveOnMesh(agent, {
    broker: link,
    namespace: 'test_namespace/',
    name: 'Shown',
    log: (entry) => log.push(entry),
    ...options,
  });
  ends.push(
    () => link.close(),
    () => server.close(),
  );
  return { link, caller, server, log };
}

/** The same small agent, by this package. */
function echo(wait?: Promise<void>) {
  return defineAgent({
    name: 'Echo',
    description: 'Says it back',
    async *process({ message, ask }: any) {
      const text = textOf(message.parts);
      if (text === 'ask') {
        const reply = await ask('Which one?');
        yield { artifact: { artifactId: 'answer', parts: reply.parts } };
        return;
      }
      if (text === 'slow') await wait;
      if (text === 'fail') throw new A2AError('INTERNAL_ERROR', 'It broke');
      yield { artifact: { artifactId: 'answer', parts: [{ text }] } };
    },
  });
}

/** An agent of 0.1, by hand. */
async function start01() {
  return startRawServer((request, response, url) => {
    if (request.path === '/.well-known/agent.json') {
      respondJson(response, {
        name: 'Old',
        description: 'Speaks as in the beginning',
        url: `${url}/`,
        version: '1',
        capabilities: { streaming: true },
        authentication: { schemes: [] },
        skills: [{ id: 's', name: 'S' }],
      });
      return;
    }
    const { id, method, params } = request.json ?? {};
    const text = params?.message?.parts?.[0]?.text;
    const reply = { role: 'agent', parts: [{ type: 'text', text: text === 'ask' ? 'Which one?' : 'done' }] };
    const status = { state: text === 'ask' ? 'input-required' : 'completed', message: reply };
    const artifact = { name: 'answer', index: 0, parts: [{ type: 'text', text }] };
    if (method === 'tasks/sendSubscribe') {
      const stream = startEventStream(response);
      const say = (result: object) => stream.event({ jsonrpc: '2.0', id, result });
      say({ id: params.id, status: { state: 'working' }, final: false });
      if (text !== 'ask') say({ id: params.id, artifact });
      say({ id: params.id, status, final: true });
      stream.end();
    } else if (method === 'tasks/send') {
      const artifacts = text === 'ask' ? undefined : [artifact];
      respondJson(response, {
        jsonrpc: '2.0',
        id,
        result: { id: params.id, sessionId: params.sessionId, status, artifacts },
      });
    } else respondJson(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'No such method' } });
  });
}

const callers = [
  { version: '0.1', ask: request0_1, send: 'tasks/send', stream: 'tasks/sendSubscribe' },
  { version: '0.3', ask: request0_3, send: 'message/send', stream: 'message/stream' },
  { version: '1.0', ask: request1_0, send: 'SendMessage', stream: 'SendStreamingMessage' },
] as const;

const servers = [
  { name: 'of 0.1 by hand', start: start01 },
  { name: 'of the SDK 0.2', start: start02 },
  { name: 'of the SDK 0.3', start: start03 },
  { name: 'of the SDK 1.3', start: start13 },
  {
    name: 'of this package',
    start: async () => {
      const server = await serve(echo());
      return { url: server.url, close: () => server.stop(0) };
    },
  },
] as const;

/** The task of an answer, in whichever version. */
const taskIn = (body: any) => body.result.task ?? body.result;
const stateOf = (body: any): string =>
  String(taskIn(body).status.state).replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');

describe('serveOnMesh', () => {
  for (const { name, start } of servers) {
    for (const { version, ask, send, stream } of callers) {
      it(`responds to a client of ${version}: send, stream and input request (${name})`, async () => {
        const server = await start();
        const agent = connect(server.url);
        ends.push(
          () => server.close(),
          () => agent.close(),
        );
        const { caller } = await shown(agent);
        for (const method of [send, stream]) {
          const id = `t-${method.replace('/', '-')}`;
          await caller.send('Shown', id, ask(id, 'hello', { method }));
          const { body } = await caller.waitForResponse(id);
          expect(stateOf(body)).toBe('completed');
          expect(taskIn(body).id).toBe(id);
          expect(taskIn(body).contextId ?? taskIn(body).sessionId).toBe('session-1');
          expect(taskIn(body).metadata.agent_name).toBe('Shown');
          expect(JSON.stringify(taskIn(body).artifacts)).toContain('hello');
          expect(caller.repliesFor(id, 'response')).toHaveLength(1);
        }
        await caller.send('Shown', 'q', ask('q', 'ask', { method: stream }));
        const { body } = await caller.waitForResponse('q');
        expect(stateOf(body)).toBe('input-required');
        const updates = caller.repliesFor('q', 'status').map((each) => JSON.stringify(each.body));
        expect(updates.at(-1)).toContain('Which one?');
      });
    }
  }

  it('continues an input-required task when the reply has the same id', async () => {
    const { caller } = await shown(echo());
    for (const [i, { ask, send, version }] of callers.entries()) {
      const id = `t-${i}`;
      const context = version === '0.1' ? { sessionId: id } : version === '0.3' ? { contextId: id } : {};
      await caller.send('Shown', id, ask(id, 'ask', { method: send, ...context } as any), { user: id });
      expect(stateOf((await caller.waitForResponse(id)).body)).toBe('input-required');
      const more = version === '1.0' ? { message: { messageId: 'second' } } : {};
      await caller.send('Shown', id, ask(id, 'this one', { method: send, ...context, ...more } as any), {
        user: id,
      });
      const done = await caller.waitFor(({ topic, channel, body }) => {
        return topic.endsWith(`/${id}`) && channel === 'response' && stateOf(body) === 'completed';
      });
      expect(JSON.stringify(done.body)).toContain('this one');
    }
  });

  it('returns a task in the version in which it was created', async () => {
    const { caller } = await shown(echo());
    await caller.send('Shown', 'old', request0_1('old', 'hello', { method: 'tasks/send' }));
    await caller.send('Shown', 'new', request0_3('new', 'hello', { method: 'message/send' }));
    await Promise.all([caller.waitForResponse('old'), caller.waitForResponse('new')]);
    for (const id of ['old', 'new']) {
      const request = { jsonrpc: '2.0', id: `get-${id}`, method: 'tasks/get', params: { id } };
      await caller.send('Shown', `get-${id}`, request);
    }
    expect((await caller.waitForResponse('get-old')).body.result).toMatchObject({
      id: 'old',
      sessionId: 'session-1',
    });
    expect((await caller.waitForResponse('get-new')).body.result).toMatchObject({ id: 'new', kind: 'task' });
  });

  it('isolates the tasks of users', async () => {
    const { caller, log } = await shown(echo(createDeferred().promise));
    await caller.send('Shown', 't', request0_3('t', 'hello', { method: 'message/send' }));
    await caller.waitForResponse('t');
    const request = { jsonrpc: '2.0', id: 'g', method: 'tasks/get', params: { id: 't' } };
    await caller.send('Shown', 'g', request, { user: 'mallory' });
    expect((await caller.waitForResponse('g')).body.error.code).toBe(-32001);
    await caller.send('Shown', 't', request0_3('t', 'mine', { method: 'message/send' }), { user: 'mallory' });
    const refused = await caller.waitFor(({ body }) => body.id === 't' && body.error !== undefined);
    expect(refused.body.error.code).toBe(-32600);
    expect(log.length).toBeGreaterThan(0);
  });

  it('responds to malformed requests with an error and keeps processing', async () => {
    const exceeded: string[] = [];
    const onLimit = (limit: string) => exceeded.push(limit);
    const { caller, log } = await shown(echo(), { limits: { payload: 5000 }, onLimit });
    await caller.send('Shown', 'a', '{ not json');
    expect((await caller.waitForResponse('a')).body).toMatchObject({ id: null, error: { code: -32700 } });
    await caller.send('Shown', 'b', { jsonrpc: '2.0', id: 'b' });
    expect((await caller.waitForResponse('b')).body).toMatchObject({ id: 'b', error: { code: -32600 } });
    await caller.send('Shown', 'c', { jsonrpc: '2.0', id: 'c', method: 'tasks/frobnicate' });
    expect((await caller.waitForResponse('c')).body).toMatchObject({ id: 'c', error: { code: -32601 } });
    await caller.send('Shown', 'd', request0_3('d', 'x'.repeat(6000)));
    expect((await caller.waitForResponse('d')).body.error.message).toContain('too large');
    expect(exceeded).toEqual(['meshRequest']);
    await caller.send('Shown', 'e', {
      jsonrpc: '2.0',
      id: 'e',
      method: 'message/send',
      params: { message: 7 },
    });
    expect((await caller.waitForResponse('e')).body).toMatchObject({ id: 'e', error: { code: -32600 } });
    await caller.send('Shown', 'f', {
      jsonrpc: '2.0',
      id: 'f',
      method: 'tasks/send',
      params: { message: {} },
    });
    expect((await caller.waitForResponse('f')).body.error.data.details?.taskId ?? 'f').toBe('f');
    await caller.send('Shown', 'g', request0_3('g', 'hello'));
    expect(stateOf((await caller.waitForResponse('g')).body)).toBe('completed');
    expect(log.filter(({ level }) => level === 'warn').length).toBeGreaterThanOrEqual(6);
  });

  it('never responds to a response', async () => {
    const { caller, link, log } = await shown(echo());
    const topic = 'test_namespace/a2a/v1/agent/request/Shown';
    await link.publish(topic, JSON.stringify({ jsonrpc: '2.0', id: 'x', error: { code: 1, message: '' } }), {
      replyTo: topic,
    });
    await caller.send('Shown', 't', request0_3('t', 'hello'));
    await caller.waitForResponse('t');
    expect(log.map(({ message }) => message)).toEqual([
      expect.stringContaining('it is not allowed'),
      'Ignored a response on the request topic',
    ]);
  });

  it('reports a response without a reply topic', async () => {
    const { caller, link, log } = await shown(echo());
    const found: string[] = [];
    await link.subscribe(
      'test_namespace/a2a/v1/client/response/gateway_1',
      ({ payload }) => void found.push(payload),
    );
    await caller.send('Shown', 'a', request0_3('a', 'hello', { method: 'message/send' }), {
      omitReplyTopic: true,
    });
    await caller.send('Shown', 'b', request0_3('b', 'hello', { method: 'message/send' }), {
      omitReplyTopic: true,
      properties: { clientId: '' },
    });
    await caller.send('Shown', 'c', request0_3('c', 'hello'));
    await caller.waitForResponse('c');
    expect(found.map((each) => JSON.parse(each).result.id)).toEqual(['a']);
    expect(log.map(({ taskId }) => taskId)).toEqual(['b']);
  });

  it('limits concurrent requests and processes a cancel before waiting ones', async () => {
    const wait = createDeferred();
    const { caller, server } = await shown(echo(wait.promise), { limits: { concurrency: 1 } });
    await caller.send('Shown', 'a', request0_3('a', 'slow'));
    await caller.waitFor(({ topic }) => topic.endsWith('/a'));
    await caller.send('Shown', 'b', request0_3('b', 'hello'));
    await caller.send('Shown', 'c', request0_3('c', 'hello'));
    await caller.cancel('Shown', 'b');
    expect(stateOf((await caller.waitForResponse('b')).body)).toBe('canceled');
    expect(server.running).toBe(1);
    expect(caller.repliesFor('c')).toEqual([]);
    wait.resolve();
    expect(stateOf((await caller.waitForResponse('c')).body)).toBe('completed');
    expect(stateOf((await caller.waitForResponse('a')).body)).toBe('completed');
  });

  it('cancels an input-required task', async () => {
    const { caller } = await shown(echo());
    await caller.send('Shown', 't', request0_3('t', 'ask'));
    await caller.waitForResponse('t');
    await caller.cancel('Shown', 't');
    const last = await caller.waitFor(
      ({ channel, body }) => channel === 'response' && stateOf(body) === 'canceled',
    );
    expect(last.body).toMatchObject({ id: 't', result: { id: 't' } });
  });

  it('acknowledges a request after its response was published', async () => {
    const wait = createDeferred();
    const settled: string[] = [];
    const inner = connectMemoryBroker();
    const link: BrokerConnection = {
      state: 'up',
      publish: (...published) => inner.publish(...published),
      onState: (changed) => inner.onState(changed),
      close: () => inner.close(),
      [Symbol.asyncDispose]: () => inner.close(),
      subscribe: (patterns, work, options) =>
        inner.subscribe(
          patterns,
          async (delivery) => {
            await work(delivery);
            settled.push(delivery.topic.split('/').at(-1) ?? '');
          },
          options,
        ),
    };
    ends.push(() => inner.close());
    const server = await serveOnMesh(echo(wait.promise), {
      broker: link,
      namespace: 'test_namespace',
      name: 'Shown',
    });
    const caller = await MeshTestClient.join(inner);
    await caller.send('Shown', 'a', request0_3('a', 'slow'));
    await caller.waitFor(({ channel }) => channel === 'status');
    expect(settled).toEqual([]);
    wait.resolve();
    await caller.waitForResponse('a');
    await server.close();
    expect(settled).toEqual(['Shown']);
  });

  it('responds with an error to running requests when it closes', async () => {
    const clock = new ManualClock();
    const { caller, server } = await shown(echo(createDeferred().promise), {
      clock,
      timeouts: { close: 5000, idle: 0, total: 0 },
    });
    await caller.send('Shown', 'a', request0_3('a', 'slow'));
    await caller.waitFor(({ channel }) => channel === 'status');
    const delayed = clock.waitForDelay((milliseconds) => milliseconds === 5000);
    const closing = server.close();
    await delayed;
    clock.advance(5000);
    await closing;
    expect((await caller.waitForResponse('a')).body.error.message).toContain('shutting down');
  });

  it('closes at once without running requests, also while the card is fetched or cannot be published', async () => {
    const agent = echo();
    const asked = createDeferred();
    const card = (): Promise<never> => {
      asked.resolve();
      return new Promise(() => {});
    };
    const { server } = await shown({ ...agent, card }, { clock: new ManualClock() });
    await asked.promise;
    await server.close();

    const link = connectMemoryBroker();
    ends.push(() => link.close());
    const publishing = createDeferred();
    const publish = (): Promise<never> => {
      publishing.resolve();
      return new Promise(() => {});
    };
    const stuck: BrokerConnection = {
      state: 'down',
      publish,
      onState: (changed) => link.onState(changed),
      close: () => link.close(),
      [Symbol.asyncDispose]: () => link.close(),
      subscribe: (patterns, work, options) => link.subscribe(patterns, work, options),
    };
    const down = await serveOnMesh(agent, {
      broker: stuck,
      namespace: 'n',
      name: 'Shown',
      clock: new ManualClock(),
    });
    await publishing.promise;
    await down.close();
  });

  it('closes after a time limit if a response cannot be published', async () => {
    const clock = new ManualClock();
    const inner = connectMemoryBroker();
    const responding = createDeferred();
    const letGo = createDeferred();
    ends.push(async () => {
      letGo.resolve();
      await inner.close();
    });
    const link: BrokerConnection = {
      state: 'down',
      publish: async () => {
        responding.resolve();
        await letGo.promise;
      },
      onState: (changed) => inner.onState(changed),
      close: () => inner.close(),
      [Symbol.asyncDispose]: () => inner.close(),
      subscribe: (patterns, work, options) => inner.subscribe(patterns, work, options),
    };
    const server = await serveOnMesh(echo(), {
      broker: link,
      namespace: 'test_namespace',
      name: 'Shown',
      card: { interval: 0 },
      clock,
      timeouts: { close: 3000, idle: 0, total: 0 },
    });
    const caller = await MeshTestClient.join(inner);
    await caller.send('Shown', 'a', request0_3('a', 'hello'));
    await responding.promise;
    const ofRequests = clock.waitForDelay((milliseconds) => milliseconds === 3000);
    const closing = server.close();
    await ofRequests;
    const ofResponses = clock.waitForDelay((milliseconds) => milliseconds === 5000);
    clock.advance(3000);
    await ofResponses;
    clock.advance(5000);
    await closing;
  });

  it('reports translation losses of requests and responses', async () => {
    const losses: string[] = [];
    const rejected: Agent = {
      ...echo(),
      send: async () => ({ id: 'x', contextId: 'y', status: { state: 'rejected' } }),
    };
    const { caller } = await shown(rejected, {
      onLoss: (all, { side, version }) => losses.push(...all.map(({ path }) => `${version} ${side} ${path}`)),
    });
    await caller.send('Shown', 't', request0_1('t', 'hello', { method: 'tasks/send' }));
    await caller.waitForResponse('t');
    expect(losses).toContain('0.1 request acceptedOutputModes[0]');
    expect(losses).toContain('0.1 response task.status.state');
  });
});

describe('card announcements of serveOnMesh', () => {
  async function announced(agent: Agent, options: Partial<MeshServerOptions> = {}) {
    const clock = new ManualClock();
    const link = connectMemoryBroker();
    const cards: any[] = [];
    let came = createDeferred();
    await link.subscribe('ns/a2a/v1/discovery/agentcards', ({ payload }) => {
      cards.push(JSON.parse(payload));
      came.resolve();
    });
    const log: LogEntry[] = [];
    const settings = {
      broker: link,
      namespace: 'ns/',
      name: 'Alias',
      clock,
      log: (each: LogEntry) => log.push(each),
    };
    const server = await serveOnMesh(agent, { ...settings, ...options });
    ends.push(
      () => link.close(),
      () => server.close(),
    );
    const next = async () => {
      await came.promise;
      came = createDeferred();
      return cards.at(-1);
    };
    return { clock, cards, next, server, log };
  }

  const withCard = (change: (card: AgentCard) => AgentCard): Agent => {
    const agent = echo();
    return { ...agent, card: async () => change(await agent.card()) };
  };

  it('contain alias, URL and display name, and the rest of the card unchanged', async () => {
    const agent = withCard((card) => ({
      ...card,
      securitySchemes: { key: { type: 'apiKey', location: 'header', name: 'X-Key' } },
      documentationUrl: 'https://example.com/docs',
    }));
    const { next } = await announced(agent);
    const card = await next();
    expect(card).toMatchObject({
      protocolVersion: '0.3.0',
      name: 'Alias',
      url: 'solace:ns/a2a/v1/agent/request/Alias',
      description: 'Says it back',
      documentationUrl: 'https://example.com/docs',
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    });
    const uri = 'https://solace.com/a2a/extensions/display-name';
    expect(card.capabilities.extensions).toEqual([{ uri, params: { display_name: 'Echo' } }]);
    expect(card.supportedInterfaces).toBeUndefined();
    if (schema0_3.hasSchema) schema0_3.check('AgentCard', card);
  });

  it('contain the configured display name, otherwise the name of the card', async () => {
    const uri = 'https://solace.com/a2a/extensions/display-name';
    const agent = withCard((card) => ({
      ...card,
      capabilities: { ...card.capabilities, extensions: [{ uri, params: { display_name: 'Kept' } }] },
    }));
    const nameOf = (card: any) => card.capabilities.extensions[0].params.display_name;
    expect(nameOf(await (await announced(agent)).next())).toBe('Kept');
    expect(nameOf(await (await announced(agent, { displayName: 'Mine' })).next())).toBe('Mine');
  });

  it('are sent at least every 20 seconds until the server closes', async () => {
    const { clock, next, server, cards } = await announced(echo(), { card: { interval: 60_000 } });
    await next();
    if (!clock.delays.includes(20_000)) await clock.waitForDelay((milliseconds) => milliseconds === 20_000);
    clock.advance(20_000);
    await next();
    await server.close();
    clock.advance(60_000);
    expect(cards).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });

  it('pause while the card cannot be fetched', async () => {
    let isDown = true;
    const agent = withCard((card) => {
      if (isDown) throw new A2AError('UNAVAILABLE');
      return card;
    });
    const { clock, next, cards, log } = await announced(agent, { card: { interval: 1000 } });
    if (!clock.delays.includes(1000)) await clock.waitForDelay((milliseconds) => milliseconds === 1000);
    expect(cards).toEqual([]);
    isDown = false;
    clock.advance(1000);
    await next();
    expect(log.map(({ level }) => level)[0]).toBe('warn');
  });

  it('can be sent in the 0.1 format', async () => {
    const card = await (await announced(echo(), { card: { version: '0.1' } })).next();
    expect(card).toMatchObject({ name: 'Alias', display_name: 'Echo', peer_agents: {} });
    expect(card.protocolVersion).toBeUndefined();
  });
});
