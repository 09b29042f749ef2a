import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  type ConnectOptions,
  connect,
  createEndpointCache,
  type LossContext,
} from '../../src/client/index.ts';
import type { TranslationLoss } from '../../src/dialects/translation-loss.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import {
  respondJson,
  type RawServerRequest,
  startEventStream,
  startRawServer,
} from '../support/http/raw-server.ts';
import {
  artifactUpdateFixture,
  wireCardFixture,
  rpcErrorBody,
  isWireCard,
  rpcResult,
  statusUpdateFixture,
  wireTaskFixture,
} from '../support/http/wire-fixtures-1_0.ts';

const request = { message: { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] } };

const open = closeAfterEach();

type Answer = (received: RawServerRequest, response: ServerResponse, url: string) => unknown;

async function agentThat(answer: Answer, options: ConnectOptions = {}) {
  const server = await startRawServer(answer);
  const agent = connect(server.url, { endpointCache: createEndpointCache(), random: () => 0, ...options });
  open.push(server, agent);
  return { agent, server };
}

describe('card cache', () => {
  /** Serves a card with cache headers; `state` is its current content. */
  async function cardWith(headers: Record<string, string>, state = { name: 'First', down: false }) {
    const clock = new ManualClock();
    const problems: string[] = [];
    const { agent, server } = await agentThat(
      ({ headers: received }, response, url) => {
        const etag = `"${state.name}"`;
        if (state.down) return respondJson(response, {}, 404);
        if (received['if-none-match'] === etag) return response.writeHead(304, headers).end();
        return respondJson(response, wireCardFixture(url, { name: state.name }), 200, { etag, ...headers });
      },
      { clock, maxRetries: 0, onWarning: ({ kind }) => problems.push(kind) },
    );
    const name = async () => (await agent.card()).name;
    return { clock, state, server, agent, name, problems };
  }

  it('caches the card for its max-age, then revalidates it with its ETag', async () => {
    const { clock, server, name } = await cardWith({ 'cache-control': 'public, max-age=60' });
    expect(await name()).toBe('First');
    clock.advance(59_999);
    expect(await name()).toBe('First');
    expect(server.requests).toHaveLength(1);
    clock.advance(1);
    expect(await Promise.all([name(), name()])).toEqual(['First', 'First']);
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"First"']);
    clock.advance(59_999);
    await name();
    expect(server.requests).toHaveLength(2);
  });

  it('uses a changed card', async () => {
    const { clock, state, name } = await cardWith({ 'cache-control': 'max-age=60', age: '50' });
    await name();
    state.name = 'Second';
    clock.advance(9_999);
    expect(await name()).toBe('First');
    clock.advance(1);
    expect(await name()).toBe('Second');
  });

  it('uses the cached card if revalidation fails', async () => {
    const { clock, state, name, problems } = await cardWith({ 'cache-control': 'max-age=60' });
    await name();
    state.down = true;
    clock.advance(60_000);
    expect(await name()).toBe('First');
    expect(problems).toEqual(['stale']);
    Object.assign(state, { down: false, name: 'Second' });
    expect(await name()).toBe('Second');
  });

  it('fetches a card with no-store each time', async () => {
    const { server, name } = await cardWith({ 'cache-control': 'no-cache' });
    await name();
    await name();
    expect(server.requests).toHaveLength(2);
  });

  it('caches a card without cache headers', async () => {
    const { clock, server, name } = await cardWith({});
    await name();
    clock.advance(1e9);
    await name();
    expect(server.requests).toHaveLength(1);
  });
});

describe('extended card of 0.2', () => {
  const old = (url: string, more: object = {}) => ({
    name: 'Old',
    description: 'An agent of 0.2',
    url: `${url}/a2a`,
    version: '1',
    protocolVersion: '0.2.5',
    capabilities: {},
    defaultInputModes: ['text'],
    defaultOutputModes: ['text'],
    skills: [],
    supportsAuthenticatedExtendedCard: true,
    ...more,
  });

  it.each(['/agent/authenticatedExtendedCard', '/a2a/agent/authenticatedExtendedCard'])(
    'is fetched from %s with credentials',
    async (path) => {
      const { agent, server } = await agentThat(
        (received, response, url) => {
          if (received.path === '/.well-known/agent-card.json') return respondJson(response, old(url));
          if (received.path === path) return respondJson(response, old(url, { name: 'Old, for friends' }));
          if (received.method === 'POST')
            return respondJson(response, rpcErrorBody(received.json.id, -32601));
          return respondJson(response, {}, 404);
        },
        { headers: { 'x-key': 'k' } },
      );
      expect(await agent.extendedCard()).toMatchObject({ name: 'Old, for friends' });
      expect(server.requests.at(-1)).toMatchObject({ method: 'GET', path, headers: { 'x-key': 'k' } });
    },
  );

  it('is not requested if the card does not declare it', async () => {
    const { agent, server } = await agentThat((received, response, url) =>
      received.method === 'GET'
        ? respondJson(response, old(url, { supportsAuthenticatedExtendedCard: false }))
        : respondJson(response, rpcErrorBody(received.json.id, -32601)),
    );
    await expect(agent.extendedCard()).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    expect(server.requests.filter(({ path }) => path.includes('Extended'))).toEqual([]);
  });
});

describe('SSE retry field', () => {
  it.each([
    ['1500', 1500],
    ['600000', 30_000],
  ])('of %s delays the reconnection by %i ms', async (retry, delay) => {
    const clock = new ManualClock();
    let opened = 0;
    const { agent } = await agentThat(
      (received, response, url) => {
        if (isWireCard(received.path)) return respondJson(response, wireCardFixture(url));
        const { id } = received.json;
        const stream = startEventStream(response);
        if (opened++ > 0) {
          stream.event(rpcResult(id, { task: wireTaskFixture('completed', ['a']) }));
          return stream.end();
        }
        stream.write(`retry: ${retry}\n`);
        stream.event(rpcResult(id, { task: wireTaskFixture('working') }));
        stream.event(rpcResult(id, artifactUpdateFixture('a', false)));
        return stream.reset();
      },
      { clock, timeouts: { read: 77_000 } },
    );
    const waited = clock.waitForDelay((milliseconds) => milliseconds === delay);
    const events: string[] = [];
    const reading = (async () => {
      for await (const event of agent.stream(request)) events.push(event.kind);
    })();
    await waited;
    expect(opened).toBe(1);
    clock.advance(delay);
    await reading;
    expect(events).toEqual(['task', 'artifact', 'status']);
  });
});

describe('onLoss', () => {
  it('reports losses with operation and URL', async () => {
    const reported: [readonly TranslationLoss[], LossContext][] = [];
    const { agent, server } = await agentThat(
      (received, response, url) => {
        if (isWireCard(received.path)) return respondJson(response, wireCardFixture(url));
        const { id, method } = received.json;
        const odd = { ...wireTaskFixture('completed'), status: { state: 'TASK_STATE_SLEEPING' } };
        if (method === 'GetTask') return respondJson(response, rpcResult(id, odd));
        const stream = startEventStream(response);
        stream.event(rpcResult(id, { task: odd }));
        stream.event(rpcResult(id, statusUpdateFixture('completed')));
        return stream.end();
      },
      {
        onLoss: (losses, context) => {
          reported.push([losses, context]);
          throw new Error('a listener that fails');
        },
      },
    );
    await agent.getTask({ id: 't1' });
    for await (const _event of agent.stream(request));
    const url = `${server.url}/rpc`;
    expect(reported.map(([, context]) => context)).toEqual([
      { operation: 'getTask', url },
      { operation: 'stream', url },
    ]);
    expect(reported[0]?.[0]).toMatchObject([{ path: expect.stringContaining('state'), kind: 'guessed' }]);
  });
});
