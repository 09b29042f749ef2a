import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bearer,
  connect,
  type ConnectOptions,
  type RemoteAgent,
  type Transport,
} from '../../src/client/index.ts';
import type { ProtocolVersion } from '../../src/protocol/card.ts';
import type { StreamEvent } from '../../src/protocol/event.ts';
import { textOf } from '../../src/protocol/part.ts';
import { reduce } from '../../src/protocol/reduce.ts';
import type { SendRequest } from '../../src/protocol/requests.ts';
import { isTask, type Task } from '../../src/protocol/task.ts';
import { type Started, start02, start03, start13 } from './official-servers.ts';
import { collectStream } from '../support/collect-stream.ts';

function say(text: string, more: Partial<SendRequest['message']> = {}): SendRequest {
  return { message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...more } };
}

function asTask(answer: unknown): Task {
  if (!isTask(answer as Task)) throw new Error(`not a task: ${JSON.stringify(answer)}`);
  return answer as Task;
}

const answerOf = (task: Task) => textOf(task.artifacts?.flatMap(({ parts }) => parts) ?? []);

interface Peer {
  name: string;
  start: () => Promise<Started>;
  transport: Transport;
  version: ProtocolVersion;
  lists?: boolean;
  pushPages?: boolean;
  extended?: boolean;
  /** The card is at the older place only. */
  cardAt: string;
}

const peers: Peer[] = [
  {
    name: '0.2 over JSON-RPC',
    start: start02,
    transport: 'JSONRPC',
    version: '0.3',
    cardAt: '.well-known/agent.json',
  },
  {
    name: '0.3 over JSON-RPC',
    start: start03,
    transport: 'JSONRPC',
    version: '0.3',
    pushPages: true,
    extended: true,
    cardAt: '.well-known/agent-card.json',
  },
  {
    name: '0.3 over REST',
    start: start03,
    transport: 'HTTP+JSON',
    version: '0.3',
    pushPages: true,
    extended: true,
    cardAt: '.well-known/agent-card.json',
  },
  {
    name: '1.0 over JSON-RPC',
    start: start13,
    transport: 'JSONRPC',
    version: '1.0',
    lists: true,
    pushPages: true,
    extended: true,
    cardAt: '.well-known/agent-card.json',
  },
  {
    name: '1.0 over REST',
    start: start13,
    transport: 'HTTP+JSON',
    version: '1.0',
    lists: true,
    pushPages: true,
    extended: true,
    cardAt: '.well-known/agent-card.json',
  },
  {
    name: '0.3 over gRPC',
    start: start03,
    transport: 'GRPC',
    version: '0.3',
    pushPages: true,
    extended: true,
    cardAt: '.well-known/agent-card.json',
  },
  {
    name: '1.0 over gRPC',
    start: start13,
    transport: 'GRPC',
    version: '1.0',
    lists: true,
    pushPages: true,
    extended: true,
    cardAt: '.well-known/agent-card.json',
  },
  {
    name: '1.0 over gRPC of 0.3',
    start: start13,
    transport: 'GRPC',
    version: '0.3',
    pushPages: true,
    extended: true,
    cardAt: '.well-known/agent-card.json',
  },
];

describe.each(peers)('official agent of $name', (peer) => {
  let server: Started;
  let agent: RemoteAgent;

  beforeAll(async () => {
    server = await peer.start();
    agent = connect(server.url, {
      transports: [peer.transport],
      ...(peer.transport === 'GRPC' && { versions: [peer.version] }),
    });
  });
  afterAll(async () => {
    await agent.close();
    await server.close();
  });

  it('is discovered by its host', async () => {
    const card = await agent.card();
    expect(card).toMatchObject({ version: '1.2.3', capabilities: { streaming: true } });
    expect(await agent.describe()).toMatchObject({
      version: peer.version,
      transport: peer.transport,
      cardUrl: `${server.url}/${peer.cardAt}`,
    });
  });

  it('returns a completed task', async () => {
    const task = asTask(await agent.send(say('hello')));
    expect(task.status.state).toBe('completed');
    expect(answerOf(task)).toBe('hello');
  });

  it('returns a direct message', async () => {
    const answer = await agent.send(say('direct'));
    expect(isTask(answer)).toBe(false);
    expect(answer).toMatchObject({ role: 'agent', parts: [{ text: 'hello' }] });
    expect(await collectStream(agent.stream(say('direct')))).toMatchObject([{ kind: 'message' }]);
  });

  it('streams the task first and the final status last', async () => {
    const events = await collectStream(agent.stream(say('stream')));
    expect(events[0]?.kind).toBe('task');
    expect(events.filter(({ kind }) => kind === 'artifact')).toHaveLength(5);
    expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    expect(answerOf(asTask(reduce(events)))).toBe('01234');
  });

  it('returns a task by id', async () => {
    const { id, contextId } = asTask(await agent.send(say('hello')));
    const task = await agent.getTask({ id });
    expect(task).toMatchObject({ id, contextId, status: { state: 'completed' } });
    expect(answerOf(task)).toBe('hello');
    expect((await agent.getTask({ id, historyLength: 0 })).history).toBeUndefined();
  });

  it('rejects an unknown task with TASK_NOT_FOUND', async () => {
    await expect(agent.getTask({ id: 'no-such-task' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('requests input and continues with the reply', async () => {
    const interrupted = asTask(await agent.send(say('ask')));
    expect(interrupted.status.state).toBe('input-required');
    expect(textOf(interrupted.status.message?.parts ?? [])).toBe('Which one?');
    const { id: taskId, contextId } = interrupted;
    const done = asTask(await agent.send(say('that one', { taskId, contextId })));
    expect(done).toMatchObject({ id: taskId, status: { state: 'completed' } });
    expect(answerOf(done)).toBe('that one');
  });

  it('ends the stream at input-required', async () => {
    const events = await collectStream(agent.stream(say('ask')));
    expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'input-required' } });
  });

  it('returns immediately with returnImmediately, and cancels', async () => {
    const slow = asTask(await agent.send({ ...say('slow'), configuration: { returnImmediately: true } }));
    expect(['submitted', 'working']).toContain(slow.status.state);
    let canceled = await agent.cancelTask({ id: slow.id });
    // 0.2 responds before its agent receives the cancellation.
    while (canceled.status.state === 'working') canceled = await agent.getTask({ id: slow.id });
    expect(canceled).toMatchObject({ id: slow.id, status: { state: 'canceled' } });
    await expect(agent.cancelTask({ id: 'no-such-task' })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });

  it('accepts a second subscriber', async () => {
    for await (const event of agent.stream(say('slow'))) {
      if (event.kind !== 'status' || event.status.state !== 'working') continue;
      const seen: StreamEvent[] = [];
      for await (const other of agent.subscribe({ id: event.taskId })) {
        if (seen.length === 0) await agent.cancelTask({ id: event.taskId });
        seen.push(other);
      }
      expect(seen[0]).toMatchObject({ kind: 'task', task: { id: event.taskId } });
      expect(seen.at(-1)).toMatchObject({ kind: 'status', status: { state: 'canceled' } });
    }
    expect.assertions(2);
  });

  it('stores push configurations', async () => {
    const { id: taskId } = asTask(await agent.send(say('ask')));
    const config = { taskId, id: 'hook', url: 'http://127.0.0.1:9/hook', token: 'secret' };
    const created = await agent.createPushConfig(config);
    expect(created).toMatchObject({ taskId, url: config.url });
    expect(await agent.getPushConfig({ taskId })).toMatchObject({ taskId, url: config.url });
    if (!peer.pushPages) return;
    expect(await agent.getPushConfig({ taskId, id: 'hook' })).toMatchObject({ id: 'hook' });
    expect((await agent.listPushConfigs({ taskId })).configs).toMatchObject([
      { id: 'hook', url: config.url },
    ]);
    await agent.deletePushConfig({ taskId, id: 'hook' });
    expect((await agent.listPushConfigs({ taskId })).configs).toEqual([]);
  });

  it('lists tasks or rejects with UNSUPPORTED_OPERATION', async () => {
    const { id, contextId } = asTask(await agent.send(say('hello')));
    const listed = agent.listTasks({ contextId });
    if (!peer.lists) await expect(listed).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    else expect(await listed).toMatchObject({ tasks: [{ id, contextId }], totalSize: 1 });
  });

  it('returns its extended card or an error', async () => {
    const interrupted = agent.extendedCard();
    if (peer.extended) expect(await interrupted).toMatchObject({ name: 'Echo extended' });
    else await expect(interrupted).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });

  it('has no open connection after the subscriber disconnects', async () => {
    let taskId = '';
    for await (const event of agent.stream(say('slow'))) {
      if (event.kind !== 'status') continue;
      taskId = event.taskId;
      break;
    }
    expect(await agent.getTask({ id: taskId })).toMatchObject({ status: { state: 'working' } });
    await agent.cancelTask({ id: taskId });
  });
});

it('prefers 1.0 with an agent that supports all versions', async () => {
  const server = await start13();
  try {
    const agent = connect(`${server.url}/rpc`);
    expect(answerOf(asTask(await agent.send(say('hi'))))).toBe('hi');
    expect(await agent.describe()).toMatchObject({ version: '1.0', transport: 'JSONRPC', confirmed: true });
    await agent.close();
  } finally {
    await server.close();
  }
});

it('sends credentials to an official gRPC server, and explains what it rejects', async () => {
  const server = await start13(undefined, 'secret');
  const agents: RemoteAgent[] = [];
  const connectWith = (options: ConnectOptions) => {
    const agent = connect(server.url, { transports: ['GRPC'], versions: ['1.0'], ...options });
    agents.push(agent);
    return agent;
  };
  try {
    const agent = connectWith({ auth: bearer('secret'), credentialOrigins: 'any' });
    expect(answerOf(asTask(await agent.send(say('hi'))))).toBe('hi');
    expect(await collectStream(agent.stream(say('stream')))).not.toHaveLength(0);
    let tokens = 0;
    const renewing = bearer(() => (++tokens > 1 ? 'secret' : 'expired'));
    const renewed = connectWith({ auth: renewing, credentialOrigins: 'any' });
    expect(await collectStream(renewed.stream(say('stream')))).not.toHaveLength(0);
    await expect(
      connectWith({ auth: bearer('wrong'), credentialOrigins: 'any' }).send(say('hi')),
    ).rejects.toMatchObject({ reason: 'UNAUTHENTICATED', message: 'No valid token', status: 401 });
    // The card is at another port than gRPC.
    await expect(connectWith({ auth: bearer('secret') }).send(say('hi'))).rejects.toMatchObject({
      reason: 'UNAUTHENTICATED',
      hint: expect.stringContaining('credentialOrigins'),
    });
  } finally {
    for (const agent of agents) await agent.close();
    await server.close();
  }
});
