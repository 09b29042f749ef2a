/** Agents that live on the mesh, as agents here: there and back again. */
import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { meshDirectory } from '../../../src/mesh/mesh-directory.ts';
import { type MeshServerOptions, serveOnMesh } from '../../../src/mesh/server/serve-on-mesh.ts';
import { connectMemoryBroker } from '../../../src/mesh/brokers/memory/connect-memory.ts';
import { meshAgent, type MeshAgentOptions } from '../../../src/mesh/client/mesh-agent.ts';
import type { MeshMessage } from '../../../src/mesh/brokers/broker-connection.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import { lintStream } from '../../../src/protocol/lint-stream.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { reduce } from '../../../src/protocol/reduce.ts';
import { isTask, type Task } from '../../../src/protocol/task.ts';
import { serve } from '../../../src/server/node/serve.ts';
import {
  collectStream,
  artifactTexts,
  createDeferred,
  reasonOf,
  statusTextOf,
  userRequest,
  statesOf,
  expectTask,
} from '../../support/engine/conversation.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function worker(wait?: Promise<void>): Agent {
  return defineAgent({
    name: 'Worker',
    description: 'Works',
    async *process({ message, ask }: any) {
      const text = textOf(message.parts);
      if (text === 'ask') {
        const reply = await ask('Which one?');
        yield { artifact: { artifactId: 'answer', parts: reply.parts } };
        return;
      }
      yield { artifact: { artifactId: 'a', name: 'notes', parts: [{ text: 'one ' }] } };
      yield { artifact: { artifactId: 'a', parts: [{ text: 'two' }] }, append: true };
      if (text === 'slow') await wait;
      yield { artifact: { artifactId: 'b', parts: [{ raw: 'aGVsbG8=', filename: 'b.bin' }] } };
    },
  } as any);
}

async function thereAndBack(
  agent: Agent,
  source: Partial<MeshAgentOptions> = {},
  serverOptions: Partial<MeshServerOptions> = {},
) {
  const link = connectMemoryBroker();
  const requests: MeshMessage[] = [];
  await link.subscribe('ns/a2a/v1/agent/request/*', (delivery) => void requests.push(delivery));
  const remote = meshAgent({ broker: link, namespace: 'ns/', name: 'Worker', ...source });
  await remote.ready?.();
  const shown = await serveOnMesh(agent, { broker: link, namespace: 'ns', name: 'Worker', ...serverOptions });
  ends.push(
    () => link.close(),
    () => shown.close(),
    () => remote.close(),
  );
  return { remote, link, requests };
}

describe('meshAgent', () => {
  for (const version of ['0.1', '0.3', '1.0'] as const) {
    it(`returns the same results as the local agent for send and stream in ${version}`, async () => {
      const { remote } = await thereAndBack(worker(), { version });
      expect((await remote.card()).name).toBe('Worker');
      const sent = expectTask(await remote.send(userRequest('go')));
      expect(sent.status.state).toBe('completed');
      expect(artifactTexts(sent)[0]).toBe('one two');
      const events = await collectStream(remote.stream(userRequest('go')));
      expect(lintStream(events)).toEqual([]);
      const reduced = reduce(events) as Task;
      expect(artifactTexts(reduced)[0]).toBe('one two');
      expect(reduced.artifacts?.[1]?.parts[0]).toMatchObject({ raw: 'aGVsbG8=' });
      expect(reduced.artifacts?.[0]).toMatchObject({ artifactId: 'a', name: 'notes' });
      expect(events.some((event) => event.kind === 'artifact' && event.append === true)).toBe(true);
      expect((await remote.getTask({ id: reduced.id })).status.state).toBe('completed');
    });

    it(`continues an input-required task in ${version}`, async () => {
      const { remote } = await thereAndBack(worker(), { version });
      const interrupted = expectTask(await remote.send(userRequest('ask')));
      expect(interrupted.status.state).toBe('input-required');
      expect(statusTextOf(interrupted)).toBe('Which one?');
      const { id: taskId, contextId } = interrupted;
      const events = await collectStream(remote.stream(userRequest('that one', { taskId, contextId })));
      expect(events[0]?.kind).toBe('task');
      expect(statesOf(events).at(-1)).toBe('completed');
      expect(artifactTexts(await remote.getTask({ id: taskId }))).toEqual(['that one']);
    });

    it(`cancels a task in ${version}`, async () => {
      const { remote } = await thereAndBack(worker(createDeferred().promise), { version });
      const events = remote.stream(userRequest('slow'))[Symbol.asyncIterator]();
      const first = (await events.next()).value;
      const id = first.task.id as string;
      expect((await remote.cancelTask({ id })).status.state).toBe('canceled');
      const rest = [];
      for (let step = await events.next(); !step.done; step = await events.next()) rest.push(step.value);
      expect(statesOf(rest).at(-1)).toBe('canceled');
      expect(await reasonOf(remote.cancelTask({ id }))).toBe('TASK_NOT_CANCELABLE');
    });
  }

  it('returns a direct message', async () => {
    const home = worker();
    const direct: Agent = {
      ...home,
      card: () => home.card(),
      send: async () => ({ messageId: 'm', role: 'agent', parts: [{ text: 'hello' }] }),
    };
    for (const version of ['0.1', '0.3', '1.0'] as const) {
      const { remote } = await thereAndBack(direct, { version });
      const answer = await remote.send(userRequest('direct'));
      expect(isTask(answer)).toBe(false);
      expect(answer).toMatchObject({ role: 'agent', parts: [{ text: 'hello' }] });
    }
  });

  it('sends the task id as request id and the reply topics as user properties, like Solace Agent Mesh', async () => {
    const { remote, requests } = await thereAndBack(worker(), { gatewayId: 'gw', version: '0.3' });
    await collectStream(remote.stream(userRequest('go'), { principal: { id: 'alice' } }));
    const [{ payload, properties }] = requests as [MeshMessage];
    const { id, method, params } = JSON.parse(payload);
    expect(method).toBe('message/stream');
    expect(params.message.taskId).toBeUndefined();
    expect(properties).toMatchObject({
      replyTo: `ns/a2a/v1/gateway/response/gw/${id}`,
      a2aStatusTopic: `ns/a2a/v1/gateway/status/gw/${id}`,
      clientId: 'gw',
      userId: 'alice',
    });
  });

  it('sends the properties of a delegating agent', async () => {
    const { remote, requests } = await thereAndBack(worker(), { peer: { name: 'Boss', callDepth: 2 } });
    await remote.send(userRequest('go'));
    const [{ payload, properties }] = requests as [MeshMessage];
    const { id } = JSON.parse(payload);
    expect(properties).toMatchObject({
      replyTo: `ns/a2a/v1/agent/response/Boss/${id}`,
      a2aStatusTopic: `ns/a2a/v1/agent/status/Boss/${id}`,
      delegating_agent_name: 'Boss',
      callDepth: 2,
    });
  });

  it('rejects with a hint if the agent was never announced', async () => {
    const clock = new ManualClock();
    const link = connectMemoryBroker();
    const remote = meshAgent({ broker: link, namespace: 'ns', name: 'Nobody', clock });
    ends.push(
      () => link.close(),
      () => remote.close(),
    );
    const interrupted = clock.waitForDelay((milliseconds) => milliseconds === 25_000);
    const refused = remote.send(userRequest('go')).catch((error: unknown) => error);
    await interrupted;
    clock.advance(25_000);
    expect(await refused).toMatchObject({
      reason: 'UNAVAILABLE',
      message: 'Agent "Nobody" is not on the mesh',
      hint: expect.stringContaining('namespace ns'),
    });
  });

  it('rejects if the agent stops responding', async () => {
    const clock = new ManualClock();
    const wait = createDeferred();
    const { remote } = await thereAndBack(worker(wait.promise), { clock, timeouts: { idle: 7000 } });
    const events = remote.stream(userRequest('slow'))[Symbol.asyncIterator]();
    await events.next();
    await events.next();
    await events.next();
    const rest = reasonOf(
      (async () => {
        for (let step = await events.next(); !step.done; step = await events.next());
      })(),
    );
    clock.advance(7000);
    expect(await rest).toBe('TIMEOUT');
    wait.resolve();
  });

  it('starts a second subscription with the current task', async () => {
    const wait = createDeferred();
    const { remote } = await thereAndBack(worker(wait.promise));
    const events = remote.stream(userRequest('slow'))[Symbol.asyncIterator]();
    const { id } = (await events.next()).value.task;
    const second = remote.subscribe({ id })[Symbol.asyncIterator]();
    expect((await second.next()).value.kind).toBe('task');
    wait.resolve();
    const rest = [];
    for (let step = await second.next(); !step.done; step = await second.next()) rest.push(step.value);
    expect(statesOf(rest).at(-1)).toBe('completed');
    expect(await reasonOf(remote.subscribe({ id })[Symbol.asyncIterator]().next())).toBe(
      'UNSUPPORTED_OPERATION',
    );
  });

  it('isolates tasks by owner and rejects unsupported operations', async () => {
    const { remote } = await thereAndBack(worker());
    const { id } = expectTask(await remote.send(userRequest('go'), { owner: 'alice' }));
    expect(await reasonOf(remote.getTask({ id }, { owner: 'bob' }))).toBe('TASK_NOT_FOUND');
    expect(await reasonOf(remote.listTasks({}))).toBe('UNSUPPORTED_OPERATION');
    expect(await reasonOf(remote.createPushConfig({ taskId: id, id: 'p', url: 'https://example.com' }))).toBe(
      'UNSUPPORTED_OPERATION',
    );
  });

  it('can be served over HTTP in every version', async () => {
    const { remote } = await thereAndBack(worker());
    const server = await serve(remote);
    ends.push(() => server.stop(0));
    for (const version of ['0.1', '0.3', '1.0'] as const) {
      const agent = connect(server.url, { versions: [version] });
      ends.push(() => agent.close());
      const reduced = reduce(await collectStream(agent.stream(userRequest('go')))) as Task;
      expect(reduced.status.state).toBe('completed');
      expect(artifactTexts(reduced)[0]).toBe('one two');
    }
  });
});

describe('mesh directory', () => {
  it('lists announced agents, removes silent ones and distinguishes gateways', async () => {
    const clock = new ManualClock();
    const link = connectMemoryBroker();
    const directory = await meshDirectory({ broker: link, namespace: 'ns', clock, maxPeers: 2 });
    ends.push(
      () => link.close(),
      () => directory.close(),
    );
    const card = (name: string, extensions: unknown[] = []) => ({
      protocolVersion: '0.3.0',
      name,
      description: '',
      url: `solace:ns/a2a/v1/agent/request/${name}`,
      version: '1',
      capabilities: { extensions },
      defaultInputModes: ['text'],
      defaultOutputModes: ['text'],
      skills: [],
    });
    const publish = (kind: string, body: unknown) =>
      link.publish(`ns/a2a/v1/discovery/${kind}`, typeof body === 'string' ? body : JSON.stringify(body));
    const changed: number[] = [];
    directory.onChange(() => changed.push(directory.agents().length));
    await publish('agentcards', '{ nonsense');
    await publish('agentcards', card('a/b'));
    const found = directory.wait('Alpha', 1000);
    await publish('agentcards', card('Alpha'));
    expect((await found).version).toBe('0.3');
    await publish('agentcards', card('Alpha'));
    await publish(
      'gatewaycards',
      card('Gate', [{ uri: 'https://solace.com/a2a/extensions/sam/gateway-role' }]),
    );
    const reached = createDeferred();
    await link.subscribe('ns/a2a/v1/discovery/>', () => reached.resolve());
    await publish('agentcards', card('TooMany'));
    await reached.promise;
    expect(directory.agents().map(({ name }) => name)).toEqual(['Alpha']);
    expect(directory.gateways().map(({ name }) => name)).toEqual(['Gate']);
    clock.advance(59_999);
    expect(directory.find('Alpha')).toBeDefined();
    clock.advance(1);
    expect(directory.find('Alpha')).toBeUndefined();
    clock.advance(10_000);
    expect(changed.at(-1)).toBe(0);
  });

  it('reads a 0.1 card', async () => {
    const link = connectMemoryBroker();
    const directory = await meshDirectory({ broker: link, namespace: 'ns', clock: new ManualClock() });
    ends.push(
      () => link.close(),
      () => directory.close(),
    );
    const card = {
      name: 'Old',
      url: 'solace:x',
      version: '1',
      capabilities: {},
      skills: [],
      peer_agents: {},
      display_name: 'Old one',
    };
    await link.publish('ns/a2a/v1/discovery/agentcards', JSON.stringify(card));
    expect((await directory.wait('Old', 1000)).version).toBe('0.1');
  });
});
