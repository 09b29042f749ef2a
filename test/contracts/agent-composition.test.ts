/* oxlint-disable typescript/unbound-method -- the functions of agents need no `this` */
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryArtifactStore } from '../../src/artifacts/stores/memory.ts';
import { withArtifacts } from '../../src/artifacts/with-artifacts.ts';
import { connect } from '../../src/client/connect.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { withCircuitBreaker } from '../../src/gateway/middleware/circuit-breaker.ts';
import { withTaskOwnership } from '../../src/gateway/ownership/with-task-ownership.ts';
import { connectMemoryBroker } from '../../src/mesh/brokers/memory/connect-memory.ts';
import { meshAgent } from '../../src/mesh/client/mesh-agent.ts';
import { serveOnMesh } from '../../src/mesh/server/serve-on-mesh.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import type { Agent } from '../../src/protocol/agent.ts';
import { withTimeouts } from '../../src/protocol/composition/with-timeouts.ts';
import { withInterceptor } from '../../src/protocol/composition/with-interceptor.ts';
import { textOf } from '../../src/protocol/part.ts';
import type { Task } from '../../src/protocol/task.ts';
import { serve } from '../../src/server/node/serve.ts';
import { TestAgentServer } from '../../src/testkit/test-agent-server.ts';
import { userMessage } from '../../src/protocol/user-message.ts';
import { collectStream } from '../support/collect-stream.ts';
import { vandalize } from '../support/vandalize.ts';

const echo = (): Agent =>
  defineAgent({
    name: 'Echo',
    description: 'Repeats the message',
    async *process({ text }) {
      for (const word of text.split(' ')) yield `${word} `;
    },
  });

async function served(agent: Agent): Promise<string> {
  const server = await serve(agent, { port: 0 });
  onTestFinished(() => server.stop());
  return server.url;
}

/** Every way to get an agent that repeats the text of a message. */
const sources: { [name: string]: () => Promise<Agent> } = {
  'defineAgent()': async () => echo(),
  'connect()': async () => {
    const remote = connect(await served(echo()));
    onTestFinished(() => remote.close());
    return remote;
  },
  'meshAgent()': async () => {
    const broker = connectMemoryBroker();
    const options = { broker, name: 'Echo', namespace: 'ns' };
    const server = await serveOnMesh(echo(), {
      ...options,
      textArtifacts: 'artifact',
      card: { interval: 10 },
    });
    const agent = meshAgent(options);
    onTestFinished(async () => {
      await agent.close();
      await server.close();
    });
    return agent;
  },
  'TestAgentServer.agent': async () =>
    new TestAgentServer({ script: "rules: [{ then: [{ artifact: { text: '{{message.text}}' } }] }]" }).agent,
  'withInterceptor()': async () => withInterceptor(echo(), {}),
  'withArtifacts()': async () => withArtifacts(echo(), { store: memoryArtifactStore(), app: 'echo' }),
  'withCircuitBreaker()': async () => withCircuitBreaker(echo(), { name: 'echo' }),
  'withTimeouts()': async () =>
    withTimeouts(echo(), { idle: 60_000, total: 60_000, clock: systemClock, describe: (timeout) => timeout }),
  'withTaskOwnership()': async () => withTaskOwnership(echo()),
};

describe.each(Object.entries(sources))('an agent of %s', (_name, create) => {
  it('is a plain object', async () => {
    expect(Object.getPrototypeOf(await create())).toBe(Object.prototype);
  });

  it('works after its members were destructured', async () => {
    const { send, stream, card, getTask } = await create();
    expect((await card()).name).not.toBe('');
    const task = (await send('hello there')) as Task;
    expect(textOf(task).trim()).toBe('hello there');
    expect((await getTask({ id: task.id })).id).toBe(task.id);
    expect((await collectStream(stream('hello'))).length).toBeGreaterThan(1);
  });

  it('accepts a text, the content of a message and a complete request', async () => {
    const agent = await create();
    const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'three' }] };
    for (const [request, text] of [
      ['one', 'one'],
      [{ text: 'two', contextId: 'c' }, 'two'],
      [{ message }, 'three'],
    ] as const) {
      expect(textOf((await agent.send(request)) as Task).trim()).toBe(text);
      const again = typeof request === 'object' && 'message' in request ? { text } : request;
      const texts = [];
      for await (const event of agent.stream(again))
        if (event.kind === 'artifact') texts.push(textOf(event.artifact));
      expect(texts.join('').trim()).toBe(text);
    }
  });

  it('rejects a call without content and says what to pass', async () => {
    const agent = await create();
    await expect(agent.send({} as never)).rejects.toThrow('must have text, data, files or parts');
    await expect(collectStream(agent.stream({} as never))).rejects.toThrow(
      'must have text, data, files or parts',
    );
  });

  it('keeps its tasks and card when a caller changes what it passed and got', async () => {
    const agent = await create();
    const request = { message: userMessage({ text: 'hello', contextId: 'c', metadata: { a: [1] } }) };
    const task = (await agent.send(request)) as Task;
    vandalize(request);
    const { id } = task;
    const before = JSON.stringify([await agent.getTask({ id }), await agent.card()]);
    vandalize(task);
    vandalize(await agent.getTask({ id }));
    vandalize(await agent.card());
    for await (const event of agent.stream({ text: 'again', contextId: 'c' })) vandalize(event);
    expect(JSON.stringify([await agent.getTask({ id }), await agent.card()])).toBe(before);
    expect(before).not.toContain('vandalized');
  });

  it('can be spread, changed and served', async () => {
    const agent = await create();
    const renamed: Agent = {
      ...agent,
      card: async (call) => ({ ...(await agent.card(call)), name: 'Renamed' }),
    };
    const remote = connect(await served(renamed));
    onTestFinished(() => remote.close());
    expect((await remote.card()).name).toBe('Renamed');
    expect(textOf((await remote.send('hello there')) as Task).trim()).toBe('hello there');
    expect((await collectStream(remote.stream('hello'))).at(-1)).toMatchObject({
      status: { state: 'completed' },
    });
  });
});
