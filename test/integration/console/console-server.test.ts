import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningConsole, serveConsole } from '../../../src/console/serve-console.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { memoryTaskStore } from '../../../src/store/memory-task-store.ts';
import { Metrics } from '../../../src/metrics/metrics.ts';
import { apiKeyAuth, basicAuth, bearerAuth } from '../../../src/server/auth/index.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { TrafficLog } from '../../../src/tap/traffic-log.ts';
import { type Started, start02, start03, start13 } from '../../interop/official-servers.ts';
import { ConsolePage } from '../../support/console/console-page.ts';
import { waitUntil } from '../../support/server/checked-server.ts';

const metrics = new Metrics();
const taskStore = memoryTaskStore();
/** Agents that work until they are canceled. */
const working = new Set<string>();
const talker = defineAgent(
  {
    name: 'Talker',
    description: 'Talks',
    async *process({ text, ask, taskId, signal }) {
      if (text === 'ask') {
        const answer = await ask('Which?');
        yield { artifact: { artifactId: 'a', parts: answer.parts } };
        return;
      }
      if (text === 'slow') {
        working.add(taskId);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        working.delete(taskId);
        return;
      }
      yield `You said: ${text}`;
    },
  },
  { taskStore, metrics },
);
const old = defineAgent({ name: 'Old', description: 'Old', process: async ({ text }) => `heard ${text}` });
const trafficLog = new TrafficLog({ maxRecords: 100 });
let served: RunningServer;
let oldServed: RunningServer;
let official: readonly Started[];
let running: RunningConsole;
let page: ConsolePage;
let id: string;

beforeAll(async () => {
  served = await serve(talker, { metrics: { metrics } });
  oldServed = await serve(old, { onlyVersion: '0.1' });
  official = await Promise.all([start02(), start03(), start13()]);
  running = await serveConsole({
    agents: [{ url: served.url }, { url: oldServed.url }],
    trafficLog,
    metrics,
    taskStore,
  });
  page = new ConsolePage(running);
  [{ id }] = await page.requestJson('agents');
});
afterAll(async () => {
  await running.stop();
  await Promise.all([
    served.stop(0),
    oldServed.stop(0),

    ...official.map((each) => each.close()),
  ]);
  await talker.close();
  await old.close();
});

/** Serves one JSON document at every address. */
async function servedJson(documentOf: () => unknown): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(documentOf()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
const servedCard = (card: object) => servedJson(() => card);
const servedTokens = (token: string) =>
  servedJson(() => ({ access_token: token, token_type: 'Bearer', expires_in: 60 }));

const parts = (text: string) => ({ parts: [{ text }] });
const kinds = (events: any[]) => events.map((each) => (each.kind === 'event' ? each.event.kind : each.kind));

describe('console API', () => {
  it('returns the version information', async () => {
    expect(await page.requestJson('info')).toMatchObject({ name: 'dragoman', hasPushDeliveries: true });
    // The page shows no tab of push notifications without a task store.
    await using without = await serveConsole();
    expect(await new ConsolePage(without).requestJson('info')).toMatchObject({ hasPushDeliveries: false });
  });

  it('lists agents with their variants and required credentials', async () => {
    expect(await page.requestJson('agents')).toEqual([
      {
        id,
        url: served.url,
        name: 'Talker',
        description: 'Talks',
        isReachable: true,
        variants: [
          { version: '1.0', transport: 'JSONRPC' },
          { version: '1.0', transport: 'HTTP+JSON' },
          { version: '0.3', transport: 'JSONRPC' },
          { version: '0.3', transport: 'HTTP+JSON' },
          { version: '0.1', transport: 'JSONRPC' },
          { version: '1.0', transport: 'GRPC' },
          { version: '0.3', transport: 'GRPC' },
        ],
        isStreaming: true,
        hasCredentials: false,
        requiredCredentials: [],
        isRemovable: false,
      },
      expect.objectContaining({ name: 'Old', variants: [{ version: '0.1', transport: 'JSONRPC' }] }),
    ]);
  });

  it('does not remove its initial agents', async () => {
    const response = await page.request(`agents/${id}`, { method: 'DELETE' });
    expect(response.status).toBe(409);
  });

  it('returns the reason why an agent is unreachable', async () => {
    const entry = await page.requestJson('agents', { url: 'http://127.0.0.1:1' });
    expect(entry).toMatchObject({
      name: 'http://127.0.0.1:1',
      isReachable: false,
      isRemovable: true,
      error: expect.stringContaining('Is the agent running'),
    });
    await page.requestJson(`agents/${entry.id}`, undefined, 'DELETE');
    expect((await page.request(`agents/${entry.id}/cards`)).status).toBe(404);
  });

  it('returns the card in the format of every version', async () => {
    const { cards } = await page.requestJson(`agents/${id}/cards`);
    expect(cards.map(({ version }: any) => version)).toEqual(['1.0', '0.3', '0.1']);
    for (const { card, published } of cards) {
      expect(card.name).toBe('Talker');
      expect(published.name).toBe('Talker');
    }
    expect(cards[0].published).toHaveProperty('supportedInterfaces');
  });
});

describe.each([
  undefined,
  '1.0/JSONRPC',
  '1.0/HTTP+JSON',
  '1.0/GRPC',
  '0.3/JSONRPC',
  '0.3/HTTP+JSON',
  '0.3/GRPC',
  '0.1/JSONRPC',
])('chat over %s', (text) => {
  const [version, transport] = [text?.slice(0, 3), text?.slice(4)];
  const variant = text === undefined ? {} : { variant: { version, transport } };
  const query = text === undefined ? '' : `?variant=${encodeURIComponent(text)}`;

  it('streams a valid event sequence', async () => {
    const events = await page.collect(`agents/${id}/messages`, { ...parts('hi'), ...variant });
    expect(events.at(-1)).toEqual({ kind: 'done' });
    expect(events.flatMap((each) => each.findings ?? [])).toEqual([]);
    expect(kinds(events)).toContain('artifact');
    expect(JSON.stringify(events)).toContain('You said: hi');
  });

  it('returns one result without streaming if requested', async () => {
    const events = await page.collect(`agents/${id}/messages`, {
      ...parts('hi'),
      ...variant,
      stream: false,
    });
    expect(kinds(events)).toEqual(['result', 'done']);
    expect(events[0].result.status.state).toBe('completed');
  });

  it('replies to a question of the agent', async () => {
    const interrupted = await page.collect(`agents/${id}/messages`, { ...parts('ask'), ...variant });
    const last = interrupted.findLast((each) => each.event?.kind === 'status');
    expect(last.event.status.state).toBe('input-required');
    const { taskId, contextId } = last.event;
    const more = await page.collect(`agents/${id}/messages`, {
      ...parts('this one'),
      taskId,
      contextId,
      ...variant,
    });
    expect(JSON.stringify(more)).toContain('this one');
    const task = await page.requestJson(`agents/${id}/tasks/${taskId}${query}`);
    expect(task.status.state).toBe('completed');
  });

  it('continues the task after a disconnect, resubscribes and cancels it', async () => {
    let taskId = '';
    for await (const { event } of page.stream(`agents/${id}/messages`, { ...parts('slow'), ...variant })) {
      taskId = event.task?.id ?? event.taskId;
      break;
    }
    await waitUntil(() => working.has(taskId), 'the agent works');
    const following = page.stream(`agents/${id}/tasks/${taskId}/events${query}`);
    expect((await following.next()).value.event.task.id).toBe(taskId);
    const canceled = await page.requestJson(`agents/${id}/tasks/${taskId}/cancel${query}`, undefined, 'POST');
    expect(canceled.status.state).toBe('canceled');
    const rest: any[] = [];
    for await (const each of following) rest.push(each);
    expect(rest.at(-1)).toEqual({ kind: 'done' });
    expect(JSON.stringify(rest)).toContain('canceled');
    await waitUntil(() => working.size === 0, 'the agent stops');
  });
});

describe('chat with agents of other implementations', () => {
  it.each([
    [0, '0.2', false],
    [1, '0.3', false],
    [2, '1.0', true],
  ])('works with official server %i (%s)', async (index, version, hasList) => {
    const entry = await page.requestJson('agents', { url: official[index]?.url });
    expect(entry).toMatchObject({ isReachable: true, isRemovable: true });
    expect(entry.variants[0].version).toBe(version);
    const events = await page.collect(`agents/${entry.id}/messages`, parts('stream'));
    expect(events.at(-1).kind).toBe('done');
    const { event } = events.find((each) => each.event?.kind === 'artifact');
    const task = await page.requestJson(`agents/${entry.id}/tasks/${event.taskId}`);
    expect(task.status.state).toBe('completed');
    const { cards } = await page.requestJson(`agents/${entry.id}/cards`);
    expect(cards.map((each: any) => each.version)).toContain(version === '0.2' ? '0.3' : version);
    const listed = await page.request(`agents/${entry.id}/tasks`);
    expect(listed.status).toBe(hasList ? 200 : 400);
  });

  it('works with a 0.1 agent, which has no task list', async () => {
    const [, { id: oldId }] = await page.requestJson('agents');
    const events = await page.collect(`agents/${oldId}/messages`, parts('hi'));
    expect(JSON.stringify(events)).toContain('heard hi');
    expect(events.at(-1)).toEqual({ kind: 'done' });
    const response = await page.request(`agents/${oldId}/tasks`);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        reason: 'UNSUPPORTED_OPERATION',
        message:
          'A2A 0.1 has no task list. Open a task by its id, or select a 1.0 variant if the agent offers one.',
      },
    });
    const { cards } = await page.requestJson(`agents/${oldId}/cards`);
    expect(cards).toHaveLength(1);
  });

  it('returns one result from an agent without streaming', async () => {
    const agent = defineAgent({
      name: 'Still',
      description: 'Still',
      streaming: false,
      process: () => 'there',
    });
    await using still = await serve(agent);
    const entry = await page.requestJson('agents', { url: still.url });
    expect(entry.isStreaming).toBe(false);
    expect(kinds(await page.collect(`agents/${entry.id}/messages`, parts('hi')))).toEqual(['result', 'done']);
    await page.requestJson(`agents/${entry.id}`, undefined, 'DELETE');
    await agent.close();
  });

  it('reports an unreachable agent in the stream, with a hint', async () => {
    const agent = defineAgent({ name: 'Gone', description: 'Gone', process: () => 'there' });
    const gone = await serve(agent);
    const entry = await page.requestJson('agents', { url: gone.url });
    await gone.stop(0);
    await agent.close();
    const events = await page.collect(`agents/${entry.id}/messages`, parts('hi'));
    expect(events).toEqual([
      { kind: 'error', reason: 'UNAVAILABLE', message: expect.stringContaining('Is the agent running') },
    ]);
    const [, , ...more] = await page.requestJson('agents');
    expect(more.find((each: any) => each.id === entry.id)).toMatchObject({
      name: 'Gone',
      isReachable: false,
    });
  });

  it('reports missing fields in cards of earlier versions', async () => {
    await using server = await servedCard({
      protocolVersion: '0.3.0',
      name: 'Odd',
      url: 'http://127.0.0.1:1/',
      capabilities: {},
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [],
    });
    const entry = await page.requestJson('agents', { url: server.url });
    const { cards } = await page.requestJson(`agents/${entry.id}/cards`);
    const missing = cards[0].findings.filter(({ message }: any) => message.startsWith('The card has no'));
    expect(missing.map(({ path }: any) => path)).toEqual(['description']);
    await page.requestJson(`agents/${entry.id}`, undefined, 'DELETE');
  });

  it('reports card findings with location and fix', async () => {
    await using server = await servedCard({
      name: 'Odd',
      version: '1',
      supportedInterfaces: [{ url: '/relative', protocolBinding: 'jsonrpc', protocolVersion: '1.0.0' }],
      capabilities: { streaming: 'yes' },
      defaultInputModes: ['text'],
      defaultOutputModes: ['text/plain'],
      skills: [{ id: 'a', name: 'A', description: 'A' }],
    });
    const entry = await page.requestJson('agents', { url: server.url });
    const { cards } = await page.requestJson(`agents/${entry.id}/cards`);
    expect(cards).toHaveLength(1);
    const { findings } = cards[0];
    expect(findings.map(({ path }: any) => path)).toEqual(
      expect.arrayContaining([
        'description',
        'skills[0].tags',
        'supportedInterfaces[0].protocolBinding',
        'capabilities.streaming',
        'defaultInputModes[0]',
      ]),
    );
    for (const { level, message } of findings) {
      expect(level).toMatch(/^(error|warning)$/);
      expect(message.length).toBeGreaterThan(10);
    }
  });
});

describe('agent credentials', () => {
  const users = { alice: 'open sesame' };
  const auth = {
    authenticators: [
      bearerAuth({ tokens: { 'token-of-alice': 'alice' } }),
      basicAuth({ users }),
      apiKeyAuth({ in: 'header', name: 'X-Key', keys: { 'key-of-alice': 'alice' } }),
    ],
  };

  it.each([
    ['bearer', { kind: 'bearer', token: 'token-of-alice' }],
    ['header', { kind: 'header', name: 'X-Key', value: 'key-of-alice' }],
    ['basic', { kind: 'basic', user: 'alice', password: 'open sesame' }],
    ['client-credentials', { kind: 'client-credentials', clientId: 'me', clientSecret: 'secret of mine' }],
  ])('authenticate with %s and are never returned', async (kind, given) => {
    const agent = defineAgent({ name: 'Locked', description: 'Locked', process: () => 'open' });
    await using locked = await serve(agent, { auth });
    await using tokens = await servedTokens('token-of-alice');
    const entry = await page.requestJson('agents', { url: locked.url });
    expect(entry.requiredCredentials).toEqual(['bearer', 'basic', 'apiKey X-Key']);
    const refused = await page.collect(`agents/${entry.id}/messages`, parts('hi'));
    expect(refused.at(-1)).toMatchObject({ kind: 'error', reason: 'UNAUTHENTICATED' });
    // That the agent wants credentials must not look like the token of the page being wrong.
    expect((await page.request(`agents/${entry.id}/tasks`)).status).toBe(502);
    const credentials = kind === 'client-credentials' ? { ...given, tokenUrl: tokens.url } : given;
    const opened = await page.requestJson('agents', { url: locked.url, credentials });
    expect(opened).toMatchObject({ id: entry.id, hasCredentials: true });
    const events = await page.collect(`agents/${entry.id}/messages`, parts('hi'));
    expect(events.at(-1)).toEqual({ kind: 'done' });
    const shown = JSON.stringify([
      opened,
      await page.requestJson('agents'),
      await page.requestJson(`agents/${entry.id}/cards`),
    ]);
    expect(shown).not.toMatch(/token-of-alice|key-of-alice|open sesame|secret of mine/);
    await page.requestJson(`agents/${entry.id}`, undefined, 'DELETE');
    await agent.close();
  });
});

describe('task routes', () => {
  it('lists tasks by page, context and state', async () => {
    await page.collect(`agents/${id}/messages`, { ...parts('one'), contextId: 'here' });
    await page.collect(`agents/${id}/messages`, { ...parts('two'), contextId: 'here' });
    const first = await page.requestJson(`agents/${id}/tasks?contextId=here&pageSize=1&state=completed`);
    expect(first).toMatchObject({ totalSize: 2, tasks: [{ contextId: 'here' }] });
    const next = await page.requestJson(
      `agents/${id}/tasks?contextId=here&pageSize=1&pageToken=${first.nextPageToken}`,
    );
    expect(next.tasks[0].id).not.toBe(first.tasks[0].id);
    expect(next.nextPageToken).toBe('');
    expect(await page.requestJson(`agents/${id}/tasks?contextId=here&state=failed`)).toMatchObject({
      tasks: [],
    });
  });

  it.each([
    'state=busy',
    'pageSize=0',
    'pageSize=x',
    'colour=red',
    'variant=2.0/JSONRPC',
    'variant=1.0/SOAP',
  ])('reject a list request with %s', async (query) => {
    const response = await page.request(`agents/${id}/tasks?${query}`);
    expect(response.status).toBe(400);
  });

  it('responds 404 for an unknown task', async () => {
    expect((await page.request(`agents/${id}/tasks/${encodeURIComponent('a/b')}`)).status).toBe(404);
  });
});

describe('load route', () => {
  /** Returns samples of all agents, or of one. */
  async function* samplesOf(mine: ConsolePage, agent?: string): AsyncGenerator<any> {
    const path = agent === undefined ? 'load' : `load?agent=${encodeURIComponent(agent)}`;
    for await (const event of mine.stream(path)) if (event.kind === 'sample') yield event.sample;
  }

  /** Reads load samples until they contain the expected number of requests, events and errors. */
  async function loadSum(mine: ConsolePage, agentId: string): Promise<any> {
    const sum = { requests: 0, errors: 0, events: 0, max: 0 };
    const watching = samplesOf(mine);
    const first = watching.next();
    await mine.collect(`agents/${agentId}/messages`, { ...parts('hi'), stream: false });
    await mine.collect(`agents/${agentId}/messages`, parts('hi'));
    await mine.request(`agents/${agentId}/tasks/none`);
    for (let sample = (await first).value; ; sample = (await watching.next()).value) {
      for (const name of ['requests', 'errors', 'events'] as const) sum[name] += sample[name];
      sum.max = Math.max(sum.max, sample.latency?.max ?? 0);
      // The response with the error may belong to a later sample than its request.
      if (sum.requests >= 3 && sum.events >= 3 && sum.errors >= 1) break;
    }
    await watching.return(undefined);
    return sum;
  }

  it('returns samples from before the first request', async () => {
    await using own = await serveConsole({ agents: [{ url: served.url }] });
    const mine = new ConsolePage(own);
    const { value: first } = await samplesOf(mine).next();
    const second = samplesOf(mine);
    expect((await second.next()).value).toEqual(first);
    await second.return(undefined);
  });

  it.each(['server metrics', 'recorded traffic'])('returns samples of %s', async (source) => {
    const counted = new Metrics();
    const agent = defineAgent({ name: 'Busy', description: 'Busy', process: () => 'done' });
    await using server = await serve(agent, { metrics: { metrics: counted } });
    await using own = await serveConsole({
      agents: [{ url: server.url }],
      ...(source === 'server metrics' && { metrics: counted }),
    });
    const mine = new ConsolePage(own);
    const [{ id: agentId }] = await mine.requestJson('agents');
    const sum = await loadSum(mine, agentId);
    expect(sum.errors).toBe(1);
    expect(sum.max).toBeGreaterThan(0);
    await agent.close();
  });

  it('returns samples of one agent, and the names of all', async () => {
    const other = defineAgent({ name: 'Other', description: 'Other', process: () => 'done' });
    await using otherServed = await serve(other);
    await using own = await serveConsole({ agents: [{ url: served.url }, { url: otherServed.url }] });
    const mine = new ConsolePage(own);
    const [{ id: talkerId }, { id: otherId }] = await mine.requestJson('agents');
    await mine.collect(`agents/${otherId}/messages`, { ...parts('hi'), stream: false });
    for (let sent = 0; sent < 3; sent++)
      await mine.collect(`agents/${talkerId}/messages`, { ...parts('hi'), stream: false });
    for await (const event of mine.stream('load')) {
      if (event.kind !== 'agents' || event.names.length < 2) continue;
      expect(event.names).toEqual(['Other', 'Talker']);
      break;
    }
    /** Returns the sum of requests to an agent, once it has reached a number. */
    const requestsTo = async (name: string, expected: number): Promise<number> => {
      let sum = 0;
      for await (const sample of samplesOf(mine, name)) if ((sum += sample.requests) >= expected) break;
      return sum;
    };
    // The first message to an agent may also request its card.
    expect(await requestsTo('Talker', 3)).toBeLessThanOrEqual(4);
    expect(await requestsTo('Other', 1)).toBeLessThanOrEqual(2);
    await other.close();
  });
});

describe('push routes', () => {
  it('lists undelivered notifications without secrets and retries them', async () => {
    const task = await talker.send({ message: { messageId: 'p', role: 'user', ...parts('hi') } as any });
    const taskId = (task as any).id;
    await taskStore.putPushConfig(
      '',
      { taskId, id: 'p', url: 'http://127.0.0.1:1/hook?key=secret', token: 'secret' },
      0,
    );
    await taskStore.putDelivery('', taskId, 'p', {
      delivered: 1,
      attempts: 3,
      error: 'HTTP 500',
      deadSince: '2026-01-01T00:00:00.000Z',
    });
    const pushes = await page.requestJson('push-deliveries');
    expect(pushes).toEqual([
      {
        taskId,
        configId: 'p',
        url: 'http://127.0.0.1:1/hook',
        attempts: 3,
        pendingCount: expect.any(Number),
        deadSince: '2026-01-01T00:00:00.000Z',
        error: 'HTTP 500',
      },
    ]);
    expect(await page.requestJson('push-deliveries/retry', { taskId, configId: 'p' })).toEqual({
      retried: 1,
    });
    expect((await page.requestJson('push-deliveries'))[0]).not.toHaveProperty('deadSince');
  });
});

describe('console shutdown', () => {
  it('closes open streams immediately and leaves the task running', async () => {
    const stopping = await serveConsole({ agents: [{ url: served.url }] });
    const mine = new ConsolePage(stopping);
    const streams = [
      mine.stream('traffic'),
      mine.stream('load'),
      mine.stream(`agents/${id}/messages`, parts('slow')),
    ];
    const rest = streams.map(async (stream) => {
      try {
        for await (const _ of stream);
      } catch {
        // The line was cut.
      }
    });
    await waitUntil(() => working.size === 1, 'the agent works');
    await stopping.stop();
    await Promise.all(rest);
    expect(working.size).toBe(1);
    await expect(fetch(stopping.origin)).rejects.toThrow();
    for (const taskId of working) await talker.cancelTask({ id: taskId });
  });
});
