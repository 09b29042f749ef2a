import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect, type RemoteAgent } from '../../src/client/connect.ts';
import { bearer } from '../../src/client/credentials.ts';
import { defineAgent } from '../../src/engine/index.ts';
import { readGatewayConfig } from '../../src/gateway/config/read-gateway-config.ts';
import { type RunGatewayOptions, runGateway } from '../../src/gateway/run-gateway.ts';
import { connectMemoryBroker } from '../../src/mesh/brokers/memory/connect-memory.ts';
import { meshAgent } from '../../src/mesh/client/mesh-agent.ts';
import type { ProtocolVersion, Transport } from '../../src/protocol/card.ts';
import type { SendRequest } from '../../src/protocol/requests.ts';
import { isTask, type Task } from '../../src/protocol/task.ts';
import { serve } from '../../src/server/node/serve.ts';
import { closeAfterEach } from '../support/close-after-each.ts';

const open = closeAfterEach();
const names = ['alice', 'bob'] as const;

/** Starts an upstream that records the text and context of each message, and asks back for the text "ask". */
async function startUpstream() {
  const received: { text: string; contextId: string }[] = [];
  const agent = defineAgent({
    name: 'Recorder',
    description: 'Records',
    async *process({ text, task: { contextId } }) {
      received.push({ text, contextId });
      if (text.startsWith('ask')) yield { state: 'input-required', message: 'What?' };
      else yield `done: ${text}`;
    },
  });
  const server = await serve(agent);
  open.push({ close: () => server.stop(0) });
  return { url: server.url, received };
}

async function startGateway(upstream: string, more = '', options: RunGatewayOptions = {}) {
  const tokens = names.map((name) => `{ token: token-${name}, principal: ${name} }`).join(', ');
  const settings = (extra: string) =>
    readGatewayConfig(
      `listen: 0\nauth: { bearer: [${tokens}] }\nagents:\n  up: { url: "${upstream}" ${extra} }\n${more}`,
      join(tmpdir(), 'dragoman.yaml'),
      {},
    );
  const running = await runGateway(settings(''), options);
  open.push({ close: () => running.stop(0) });
  return { running, url: `${running.url}/agents/up`, settings };
}

interface Variant {
  version: ProtocolVersion;
  transport: Transport;
}

const variants: Variant[] = [
  { version: '1.0', transport: 'JSONRPC' },
  { version: '1.0', transport: 'HTTP+JSON' },
  { version: '0.3', transport: 'JSONRPC' },
  { version: '0.3', transport: 'HTTP+JSON' },
  { version: '0.1', transport: 'JSONRPC' },
];

function client(
  url: string,
  name: string,
  { version, transport }: Variant = variants[0] as Variant,
): RemoteAgent {
  const agent = connect(url, {
    auth: bearer(`token-${name}`),
    versions: [version],
    transports: [transport],
  });
  open.push(agent);
  return agent;
}

function request(text: string, ids: Partial<SendRequest['message']> = {}): SendRequest {
  return { message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...ids } };
}

async function sendTask(agent: RemoteAgent, sent: SendRequest): Promise<Task> {
  const result = await agent.send(sent);
  if (!isTask(result)) throw new Error('not a task');
  return result;
}

const notFound = { reason: 'TASK_NOT_FOUND' };

it('lists a task whose id a 0.1 client chose to its owner only, under that id', async () => {
  const { url } = await startGateway((await startUpstream()).url);
  const chosen = await sendTask(client(url, 'alice', variants[4]), {
    ...request('hello'),
    clientTaskId: 'chosen',
  });
  expect(chosen.id).toBe('chosen');
  const other = await sendTask(client(url, 'alice'), request('hello'));
  const { tasks, totalSize } = await client(url, 'alice').listTasks({});
  expect(tasks.map(({ id }) => id)).toEqual([other.id, 'chosen']);
  expect(totalSize).toBe(2);
  expect(await client(url, 'bob').listTasks({})).toMatchObject({ tasks: [], totalSize: 0 });
});

describe('a gateway with authentication', () => {
  for (const variant of variants) {
    const title = `${variant.version}/${variant.transport}`;

    it(`creates two tasks for equal messages of two clients (${title})`, async () => {
      const upstream = await startUpstream();
      const { url } = await startGateway(upstream.url);
      const [alice, bob] = names.map((name) => client(url, name, variant)) as [RemoteAgent, RemoteAgent];
      const same = {
        ...request('same text', { messageId: 'm-1' }),
        idempotencyKey: 'k-1',
        ...(variant.version === '0.1' && { clientTaskId: 't-1' }),
      };
      const first = await sendTask(alice, same);
      const second = await sendTask(bob, same);
      expect(upstream.received).toHaveLength(2);
      if (variant.version !== '0.1') {
        expect(second.id).not.toBe(first.id);
        await expect(bob.getTask({ id: first.id })).rejects.toMatchObject(notFound);
        await expect(alice.getTask({ id: second.id })).rejects.toMatchObject(notFound);
      }
      // A retransmission is still recognized.
      expect((await sendTask(alice, same)).id).toBe(first.id);
      expect(upstream.received).toHaveLength(2);
      expect((await alice.getTask({ id: first.id })).status.state).toBe('completed');
    });

    it(`separates equal context ids of two clients, and each sees its own (${title})`, async () => {
      const upstream = await startUpstream();
      const { url } = await startGateway(upstream.url);
      const tasks = [];
      for (const name of names)
        tasks.push(await sendTask(client(url, name, variant), request(name, { contextId: 'session' })));
      expect(new Set(upstream.received.map(({ contextId }) => contextId)).size).toBe(2);
      for (const task of tasks) expect(task.contextId).toBe('session');
    });
  }

  it('starts a new context for a client that names the context of another', async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway(upstream.url);
    const [alice, bob] = names.map((name) => client(url, name)) as [RemoteAgent, RemoteAgent];
    const { contextId } = await sendTask(alice, request('one'));
    await sendTask(bob, request('two', { contextId }));
    await sendTask(alice, request('three', { contextId }));
    const [one, two, three] = upstream.received;
    expect(three?.contextId).toBe(one?.contextId);
    expect(two?.contextId).not.toBe(one?.contextId);
    expect(await bob.listTasks({ contextId })).toMatchObject({ tasks: [{ contextId }], totalSize: 1 });
    expect(await alice.listTasks({ contextId })).toMatchObject({ totalSize: 2 });
  });

  it('rejects references to tasks of another client', async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway(upstream.url);
    const [alice, bob] = names.map((name) => client(url, name)) as [RemoteAgent, RemoteAgent];
    const { id } = await sendTask(alice, request('one'));
    await expect(bob.send(request('two', { referenceTaskIds: [id] }))).rejects.toMatchObject(notFound);
    const task = await sendTask(alice, request('three', { referenceTaskIds: [id] }));
    expect((await alice.getTask({ id: task.id })).history?.[0]?.referenceTaskIds).toEqual([id]);
  });

  it('returns the ids of the client in the history', async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway(upstream.url);
    const alice = client(url, 'alice');
    const sent = request('one', { messageId: 'my message', contextId: 'my context' });
    const { id } = await sendTask(alice, sent);
    const task = await alice.getTask({ id });
    expect(task.contextId).toBe('my context');
    expect(task.history?.[0]).toMatchObject({ messageId: 'my message', contextId: 'my context', taskId: id });
  });

  it('lists full pages and counts only the tasks of the client', async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway(upstream.url);
    const [alice, bob] = names.map((name) => client(url, name)) as [RemoteAgent, RemoteAgent];
    const own: string[] = [];
    for (let i = 0; i < 7; i++) {
      own.unshift((await sendTask(alice, request(`a${i}`))).id);
      for (let j = 0; j < 4; j++) await sendTask(bob, request(`b${i}${j}`));
    }
    const listed: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await alice.listTasks({ pageSize: 3, ...(pageToken && { pageToken }) });
      expect(page.totalSize).toBe(7);
      if (page.nextPageToken !== '') expect(page.tasks).toHaveLength(3);
      listed.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(listed).toEqual(own);
    await expect(alice.listTasks({ pageToken: 'forged' })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
  });

  it('keeps owners after a reload that changes a timeout', async () => {
    const upstream = await startUpstream();
    const { url, running, settings } = await startGateway(upstream.url);
    const oldest = variants[4] as Variant;
    const { id } = await sendTask(client(url, 'alice'), request('ask'));
    const chosen = { ...request('ask'), clientTaskId: 'chosen' };
    await sendTask(client(url, 'alice', oldest), chosen);
    expect((await running.reload(settings(', request_timeout_seconds: 20'))).changed).toEqual(['up']);
    expect(await client(url, 'alice').getTask({ id })).toMatchObject({ id });
    expect(await client(url, 'alice', oldest).getTask({ id: 'chosen' })).toMatchObject({ id: 'chosen' });
    await expect(client(url, 'bob').getTask({ id })).rejects.toMatchObject(notFound);
    await expect(client(url, 'bob', oldest).getTask({ id: 'chosen' })).rejects.toMatchObject(notFound);
  });

  it('shares owners with a second gateway, and keeps them after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'owners-'));
    open.push({ close: () => rm(folder, { recursive: true }) });
    const upstream = await startUpstream();
    const store = `store: "sqlite:${join(folder, 'owners.db')}"`;
    const oldest = variants[4] as Variant;
    const first = await startGateway(upstream.url, store);
    const { id, contextId } = await sendTask(client(first.url, 'alice'), request('ask'));
    await sendTask(client(first.url, 'alice', oldest), { ...request('ask'), clientTaskId: 'chosen' });
    const second = await startGateway(upstream.url, store);
    await first.running.stop(0);
    const third = await startGateway(upstream.url, store);
    for (const { url } of [second, third]) {
      const [alice, bob] = names.map((name) => client(url, name)) as [RemoteAgent, RemoteAgent];
      expect(await alice.getTask({ id })).toMatchObject({ id, status: { state: 'input-required' } });
      expect(await client(url, 'alice', oldest).getTask({ id: 'chosen' })).toMatchObject({ id: 'chosen' });
      await expect(bob.getTask({ id })).rejects.toMatchObject(notFound);
      await expect(bob.cancelTask({ id })).rejects.toMatchObject(notFound);
      await expect(bob.send(request('mine', { taskId: id }))).rejects.toMatchObject(notFound);
    }
    await sendTask(client(third.url, 'alice'), request('answer', { taskId: id, contextId }));
    expect(new Set(upstream.received.map((each) => each.contextId)).size).toBe(2);
  });
});

describe('a gateway on a mesh', () => {
  it('separates messages and contexts of two users', async () => {
    const upstream = await startUpstream();
    const broker = connectMemoryBroker();
    open.push(broker);
    await startGateway(upstream.url, 'mesh: { url: "memory:", namespace: test }', {
      connectBroker: async () => broker,
    });
    const agent = meshAgent({ broker, namespace: 'test', name: 'up' });
    open.push({ close: async () => agent.close?.() });
    const same = request('same text', { messageId: 'm-1', contextId: 'session' });
    const [first, second] = [
      await agent.send(same, { owner: 'alice' }),
      await agent.send(same, { owner: 'bob' }),
    ];
    expect(upstream.received).toHaveLength(2);
    expect(new Set(upstream.received.map(({ contextId }) => contextId)).size).toBe(2);
    for (const task of [first, second]) expect((task as Task).contextId).toBe('session');
  });
});
