import { describe, expect, it } from 'vitest';
import { connect, createEndpointCache } from '../../src/client/index.ts';
import { textOf } from '../../src/protocol/part.ts';
import { reduce } from '../../src/protocol/reduce.ts';
import type { SendRequest } from '../../src/protocol/requests.ts';
import type { Task } from '../../src/protocol/task.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { collectStream } from '../support/collect-stream.ts';
import {
  respondJson,
  type RawServerRequest,
  type RawServer,
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

const open = closeAfterEach();

function reach(server: RawServer) {
  const agent = connect(server.url, { random: () => 0, endpointCache: createEndpointCache() });
  open.push(server, agent);
  return agent;
}

const say = (text: string, more: Partial<SendRequest> = {}): SendRequest => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }] },
  ...more,
});

const textsOf = (answer: unknown) => textOf((answer as Task).artifacts?.flatMap(({ parts }) => parts) ?? []);

/** An agent of 0.1 as the first samples were: nulls everywhere, tasks by the caller's ids. */
function startOldest(marks: object) {
  const tasks = new Map<string, any>();
  let push: unknown;
  const part = (text: string) => ({ type: 'text', text, metadata: null });
  const oldCard = (url: string) => ({
    name: 'Oldest',
    description: null,
    url: `${url}/`,
    version: '1',
    capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: false },
    defaultInputModes: ['text'],
    defaultOutputModes: ['text'],
    skills: [{ id: 'echo', name: 'Echo' }],
    ...marks,
  });
  return startRawServer((received, response, url) => {
    if (received.method === 'GET')
      return received.path === '/.well-known/agent.json'
        ? respondJson(response, oldCard(url))
        : respondJson(response, {}, 404);
    const { id, method, params } = received.json;
    const answer = (value: unknown) =>
      respondJson(response, { jsonrpc: '2.0', id, result: value, error: null });
    if (method === 'tasks/send') {
      const text = params.message.parts[0].text;
      const state = text === 'ask' ? 'input-required' : 'completed';
      const status = { state, message: null, timestamp: '2025-04-09T10:00:00.123' };
      const artifacts = [{ name: 'out', index: 0, parts: [part(text)], append: null, lastChunk: null }];
      tasks.set(params.id, { id: params.id, sessionId: params.sessionId, status, artifacts, history: null });
      return answer(tasks.get(params.id));
    }
    if (method === 'tasks/sendSubscribe') {
      const stream = startEventStream(response);
      const event = (value: object) => stream.event(rpcResult(id, { id: params.id, ...value }));
      event({ status: { state: 'working' }, final: false });
      event({ artifact: { name: 'out', index: 0, append: false, parts: [part('hel')] } });
      event({ artifact: { name: 'out', index: 0, append: true, lastChunk: true, parts: [part('lo')] } });
      event({ status: { state: 'completed' }, final: true });
      return stream.end();
    }
    if (method === 'tasks/pushNotification/set') push = params;
    if (method.startsWith('tasks/pushNotification/')) return answer(push);
    const known = tasks.get(params.id);
    if (method !== 'tasks/get' && method !== 'tasks/cancel')
      // The samples in Python called an unknown method an invalid request.
      return respondJson(
        response,
        { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid' } },
        400,
      );
    return known ? answer(known) : respondJson(response, rpcErrorBody(id, -32001, 'Task not found'));
  });
}

describe.each([
  ['says so in its card', { authentication: { schemes: ['Bearer'], credentials: null } }],
  ['does not say so', {}],
])('client of a 0.1 agent that %s', (_name, marks) => {
  it('sends 0.1 requests with a generated task id', async () => {
    const server = await startOldest(marks);
    const agent = reach(server);
    const first = (await agent.send(say('hi'))) as Task;
    expect(first).toMatchObject({ status: { state: 'completed' } });
    expect(textsOf(first)).toBe('hi');
    expect(await agent.describe()).toMatchObject({ version: '0.1', confirmed: true });
    const { params } = server.requests.at(-1)?.json ?? {};
    expect(first).toMatchObject({ id: params.id, contextId: params.sessionId });
    expect(params.message.parts).toEqual([{ type: 'text', text: 'hi' }]);
    expect(await agent.getTask({ id: first.id })).toMatchObject({ id: first.id });
    await expect(agent.getTask({ id: 'no-such-task' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('continues an interrupted task', async () => {
    const agent = reach(await startOldest(marks));
    const { id: taskId, contextId, status } = (await agent.send(say('ask'))) as Task;
    expect(status.state).toBe('input-required');
    const message = { ...say('that one').message, taskId, contextId };
    expect(await agent.send({ message })).toMatchObject({
      id: taskId,
      contextId,
      status: { state: 'completed' },
    });
  });

  it('streams', async () => {
    const agent = reach(await startOldest(marks));
    const events = await collectStream(agent.stream(say('hi')));
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'artifact', 'artifact', 'status']);
    expect(textsOf(reduce(events))).toBe('hello');
  });

  it('stores one push configuration and does not list tasks', async () => {
    const agent = reach(await startOldest(marks));
    const { id: taskId } = (await agent.send(say('hi'))) as Task;
    await agent.createPushConfig({ taskId, id: taskId, url: 'http://127.0.0.1:9/hook' });
    expect(await agent.getPushConfig({ taskId })).toMatchObject({ taskId, url: 'http://127.0.0.1:9/hook' });
    await expect(agent.listTasks({})).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    await expect(agent.extendedCard()).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });

  it('keeps the task id of a 0.1 client', async () => {
    const server = await startOldest(marks);
    const agent = reach(server);
    expect(await agent.send(say('hi', { clientTaskId: 'mine' }))).toMatchObject({ id: 'mine' });
    expect(server.requests.at(-1)?.json.params.id).toBe('mine');
  });
});

describe('0.1 client of a 1.0 agent', () => {
  /** Makes tasks t1 in context c1, whatever the caller says. */
  async function modern() {
    const server = await startRawServer((received: RawServerRequest, response, url) => {
      if (isWireCard(received.path)) return respondJson(response, wireCardFixture(url));
      const { id, method, params } = received.json;
      const whole = {
        ...wireTaskFixture('completed', ['a']),
        history: [
          { messageId: 'x', role: 'ROLE_USER', taskId: 't1', contextId: 'c1', parts: [{ text: 'hi' }] },
        ],
      };
      if (method === 'SendMessage') return respondJson(response, rpcResult(id, { task: whole }));
      if (method === 'SendStreamingMessage') {
        const stream = startEventStream(response);
        stream.event(rpcResult(id, { task: wireTaskFixture('working') }));
        stream.event(rpcResult(id, artifactUpdateFixture('a', false)));
        stream.event(rpcResult(id, statusUpdateFixture('completed')));
        return stream.end();
      }
      if (params.id !== 't1' && params.taskId !== 't1')
        return respondJson(response, rpcErrorBody(id, -32001));
      if (method === 'SubscribeToTask') {
        const stream = startEventStream(response);
        stream.event(rpcResult(id, { task: wireTaskFixture('working') }));
        stream.event(rpcResult(id, statusUpdateFixture('completed')));
        return stream.end();
      }
      if (method.includes('Push'))
        return respondJson(response, rpcResult(id, { taskId: 't1', id: 'p', url: 'http://127.0.0.1:9' }));
      respondJson(response, rpcResult(id, whole));
    });
    return { server, agent: reach(server) };
  }

  const claimed = (): SendRequest => ({
    message: { ...say('hi').message, contextId: 'session' },
    clientTaskId: 'mine',
  });

  it('uses its own task ids, and the agent uses its own', async () => {
    const { server, agent } = await modern();
    const call = { owner: 'ann' };
    const sent = (await agent.send(claimed(), call)) as Task;
    expect(sent).toMatchObject({ id: 'mine', contextId: 'session' });
    expect(sent.history?.[0]).toMatchObject({ taskId: 'mine', contextId: 'session' });
    expect(server.requests.at(-1)?.json.params.message).not.toHaveProperty('taskId');

    expect(await agent.getTask({ id: 'mine' }, call)).toMatchObject({ id: 'mine', contextId: 'session' });
    expect(await agent.cancelTask({ id: 'mine' }, call)).toMatchObject({ id: 'mine' });
    expect(
      await agent.createPushConfig({ taskId: 'mine', id: 'p', url: 'http://127.0.0.1:9' }, call),
    ).toMatchObject({
      taskId: 'mine',
    });
    const followed = await collectStream(agent.subscribe({ id: 'mine' }, call));
    expect(followed).toMatchObject([{ task: { id: 'mine' } }, { taskId: 'mine', contextId: 'session' }]);

    await agent.send(claimed(), call);
    expect(server.requests.at(-1)?.json.params.message).toMatchObject({ taskId: 't1', contextId: 'c1' });
  });

  it('receives its own task ids in a stream', async () => {
    const { agent } = await modern();
    const events = await collectStream(agent.stream(claimed()));
    expect(events).toMatchObject([
      { task: { id: 'mine', contextId: 'session' } },
      { taskId: 'mine', contextId: 'session' },
      { taskId: 'mine', contextId: 'session' },
    ]);
    expect(await agent.getTask({ id: 'mine' })).toMatchObject({ id: 'mine' });
  });

  it('cannot use task ids of another client', async () => {
    const { agent } = await modern();
    await agent.send(claimed(), { owner: 'ann' });
    await expect(agent.getTask({ id: 'mine' }, { owner: 'bob' })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });
});

it('rejects a 0.1 stream that breaks before the agent has accepted its message', async () => {
  const server = await startRawServer((received, response, url) => {
    if (received.method === 'GET') return respondJson(response, wireCardFixture(url));
    const { id, method } = received.json;
    return method === 'tasks/sendSubscribe'
      ? response.destroy()
      : respondJson(response, rpcErrorBody(id, -32001, 'Task not found'));
  });
  const card = { name: 'Old', url: server.url, version: '1', capabilities: { streaming: true }, skills: [] };
  const agent = connect(card, { random: () => 0, versions: ['0.1'], endpointCache: createEndpointCache() });
  open.push(server, agent);
  const { message } = say('hi');
  const streaming = collectStream(agent.stream({ message: { ...message, taskId: 'mine' } }));
  // Nothing is known about the task, and the message was not accepted, so that the client may send it again.
  await expect(streaming).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  expect(server.requests.map(({ json }) => json?.method)).toEqual(['tasks/sendSubscribe', 'tasks/get']);
});

it('shares a task id that is being assigned with a concurrent call', async () => {
  const waiting: (() => void)[] = [];
  const server = await startRawServer((received, response, url) => {
    if (isWireCard(received.path)) return respondJson(response, wireCardFixture(url));
    const { id } = received.json;
    waiting.push(() => respondJson(response, rpcResult(id, { task: wireTaskFixture('working') })));
    if (waiting.length === 1) waiting[0]?.();
    else waiting.at(-1)?.();
  });
  const agent = reach(server);
  await agent.card();
  await Promise.all([
    agent.send(say('one', { clientTaskId: 'mine' })),
    agent.send(say('two', { clientTaskId: 'mine' })),
  ]);
  const messages = server.requests.flatMap(({ json }) => json?.params.message ?? []);
  expect(messages.map(({ taskId }) => taskId)).toEqual([undefined, 't1']);
});
