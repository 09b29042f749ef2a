/** Repeated, reordered and misdirected messages on the mesh. */
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import type { MeshMessage, MessageProperties } from '../../../src/mesh/brokers/broker-connection.ts';
import { connectMemoryBroker } from '../../../src/mesh/brokers/memory/connect-memory.ts';
import { meshAgent } from '../../../src/mesh/client/mesh-agent.ts';
import { type MeshServerOptions, serveOnMesh } from '../../../src/mesh/server/serve-on-mesh.ts';
import type { LogEntry } from '../../../src/primitives/log.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { collectStream } from '../../support/engine/conversation.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';

const open = closeAfterEach();
const topics = { request: 'test/a2a/v1/agent/request/Asker', response: 'test/a2a/v1/client/response/me' };

/** An agent that asks twice and completes with both answers. */
function askingAgent() {
  const answers: string[] = [];
  const agent = defineAgent({
    name: 'Asker',
    description: 'Asks twice',
    async *process({ ask }) {
      for (const question of ['First?', 'Second?']) {
        const { parts } = await ask(question);
        answers.push(JSON.stringify(parts));
      }
      yield 'done';
    },
  });
  return { agent, answers };
}

/** An agent whose task never ends by itself. */
function waitingAgent() {
  const started: string[] = [];
  const agent = defineAgent({
    name: 'Asker',
    description: 'Waits',
    process: ({ text, signal }) => {
      started.push(text);
      return new Promise<string>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    },
  });
  return { agent, started };
}

async function join(agent: Parameters<typeof serveOnMesh>[0], options: Partial<MeshServerOptions> = {}) {
  const broker = connectMemoryBroker();
  const responses: MeshMessage[] = [];
  const waiting: (() => void)[] = [];
  await broker.subscribe(['test/a2a/v1/client/response/>', 'elsewhere/>'], (message) => {
    responses.push(message);
    for (const wake of waiting.splice(0)) wake();
  });
  const log: LogEntry[] = [];
  const server = await serveOnMesh(agent, {
    broker,
    namespace: 'test',
    name: 'Asker',
    log: (entry) => log.push(entry),
    ...options,
  });
  open.push(broker, server);
  return {
    broker,
    log,
    responses,
    send: (rpc: object, properties: MessageProperties = {}) =>
      broker.publish(topics.request, JSON.stringify(rpc), {
        replyTo: topics.response,
        userId: 'alice',
        ...properties,
      }),
    async response(count: number): Promise<MeshMessage> {
      while (responses.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return responses[count - 1] as MeshMessage;
    },
  };
}

const request0_1 = (text: string) => ({
  jsonrpc: '2.0',
  id: 'same',
  method: 'tasks/send',
  params: { id: 't-1', sessionId: 's', message: { role: 'user', parts: [{ type: 'text', text }] } },
});

const stateOf = ({ payload }: MeshMessage) =>
  (JSON.parse(payload) as { result?: { status: { state: string } } }).result?.status.state;

describe('a request without a message id', () => {
  it('is processed again if the client sends it again on the mesh', async () => {
    const { agent, answers } = askingAgent();
    const mesh = await join(agent);
    await mesh.send(request0_1('start'));
    expect(stateOf(await mesh.response(1))).toBe('input-required');
    await mesh.send(request0_1('yes'));
    expect(stateOf(await mesh.response(2))).toBe('input-required');
    await mesh.send(request0_1('yes'));
    expect(stateOf(await mesh.response(3))).toBe('completed');
    expect(answers).toHaveLength(2);
  });

  it('is processed again if the client sends it again over HTTP', async () => {
    const { agent, answers } = askingAgent();
    const server = await serve(agent);
    open.push({ close: () => server.stop(0) });
    const states: unknown[] = [];
    for (const text of ['start', 'yes', 'yes']) {
      const response = await fetch(server.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request0_1(text)),
      });
      states.push(((await response.json()) as { result: Task }).result.status.state);
    }
    expect(states).toEqual(['input-required', 'input-required', 'completed']);
    expect(answers).toHaveLength(2);
  });

  it('is processed once if the broker delivers it twice, and its response has the same id', async () => {
    const { agent, answers } = askingAgent();
    const received: MeshMessage[] = [];
    const handlers: ((message: MeshMessage) => void | Promise<void>)[] = [];
    const broker = connectMemoryBroker();
    open.push(broker);
    const server = await serveOnMesh(agent, {
      broker: {
        state: 'up',
        onState: (listener) => broker.onState(listener),
        close: () => broker.close(),
        [Symbol.asyncDispose]: () => broker.close(),
        publish: (topic, payload, properties) => broker.publish(topic, payload, properties),
        subscribe: (patterns, handle, options) => {
          handlers.push(handle);
          return broker.subscribe(patterns, handle, options);
        },
      },
      namespace: 'test',
      name: 'Asker',
    });
    open.push(server);
    await broker.subscribe('test/a2a/v1/client/response/>', (message) => void received.push(message));
    const deliver = (text: string, id: string, redelivered: boolean) =>
      handlers[0]?.({
        topic: topics.request,
        payload: JSON.stringify(request0_1(text)),
        properties: { replyTo: topics.response, userId: 'alice' },
        redelivered,
        id,
      });
    await deliver('start', 'd-1', false);
    await deliver('yes', 'd-2', false);
    await deliver('yes', 'd-2', true);
    expect(answers).toHaveLength(1);
    const ids = received.map(({ properties }) => properties.a2aResponseId);
    expect(ids).toHaveLength(3);
    expect(ids[2]).toBe(ids[1]);
    expect(ids[1]).not.toBe(ids[0]);
    await deliver('yes', 'd-3', false);
    expect(answers).toHaveLength(2);
  });
});

describe('a mesh client', () => {
  it('drops a repeated response to an earlier request of the same task', async () => {
    const { agent } = askingAgent();
    const mesh = await join(agent, { card: { interval: 20 } });
    const client = meshAgent({ broker: mesh.broker, namespace: 'test', name: 'Asker', gatewayId: 'gw' });
    open.push({ close: async () => client.close?.() });
    const first: MeshMessage[] = [];
    await mesh.broker.subscribe('test/a2a/v1/gateway/response/>', (message) => void first.push(message));
    const message = (text: string, taskId?: string) => ({
      message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }], taskId },
    });
    const interrupted = (await client.send(message('start'))) as Task;
    expect(interrupted.status.message?.parts).toEqual([{ text: 'First?' }]);
    // The first response arrives again after the second request, and before its response.
    const [response] = first;
    await mesh.broker.subscribe(topics.request, () =>
      mesh.broker.publish(response?.topic ?? '', response?.payload ?? '', response?.properties),
    );
    const answered = client.send(message('yes', interrupted.id));
    expect(((await answered) as Task).status.message?.parts).toEqual([{ text: 'Second?' }]);
  });
});

describe('a cancel request', () => {
  it('that arrives before the message of its task cancels the task', async () => {
    const { agent, started } = waitingAgent();
    const mesh = await join(agent);
    await mesh.send({ jsonrpc: '2.0', id: 'c', method: 'tasks/cancel', params: { id: 't-1' } });
    expect(JSON.parse((await mesh.response(1)).payload)).toMatchObject({ error: { code: -32001 } });
    await mesh.send(request0_1('start'));
    expect(stateOf(await mesh.response(2))).toBe('canceled');
    const [task] = (await agent.listTasks({}, { owner: 'alice' })).tasks;
    expect(started).toEqual(['start']);
    // The response may precede the end of the task at the agent.
    if (task?.status.state !== 'canceled')
      await collectStream(agent.subscribe({ id: task?.id ?? '' }, { owner: 'alice' }));
    expect((await agent.getTask({ id: task?.id ?? '' }, { owner: 'alice' })).status.state).toBe('canceled');
  });

  it('of another user has no effect on a later task with the same id', async () => {
    const { agent } = askingAgent();
    const mesh = await join(agent);
    const cancel = { jsonrpc: '2.0', id: 'c', method: 'tasks/cancel', params: { id: 't-1' } };
    await mesh.send(cancel, { userId: 'bob' });
    await mesh.response(1);
    await mesh.send(request0_1('start'));
    expect(stateOf(await mesh.response(2))).toBe('input-required');
  });
});

describe('a response topic', () => {
  it.each([
    'elsewhere/inbox',
    'test/a2a/v1/agent/request/Other',
    'test/a2a/v1/discovery/agentcards',
    'tested/inbox',
  ])('outside of the allowed ones is ignored: %s', async (replyTo) => {
    const { agent } = askingAgent();
    const mesh = await join(agent);
    const seen: string[] = [];
    await mesh.broker.subscribe(replyTo, ({ payload }) => void seen.push(payload));
    await mesh.send(request0_1('start'), { replyTo, a2aStatusTopic: replyTo, clientId: 'me' });
    expect((await mesh.response(1)).topic).toBe(topics.response);
    expect(seen.filter((payload) => payload.includes('"result"'))).toEqual([]);
    expect(mesh.log.map(({ message }) => message)).toContainEqual(expect.stringContaining(replyTo));
  });

  it('that the server allows is used', async () => {
    const { agent } = askingAgent();
    const mesh = await join(agent, { replyTopics: ['elsewhere/>'] });
    await mesh.send(request0_1('start'), { replyTo: 'elsewhere/inbox' });
    expect((await mesh.response(1)).topic).toBe('elsewhere/inbox');
  });
});
