import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import type { BrokerConnectionState } from '../../../src/mesh/brokers/broker-connection.ts';
import { connectBroker } from '../../../src/mesh/brokers/connect-broker.ts';
import { meshAgent } from '../../../src/mesh/client/mesh-agent.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { mosquitto, startMosquitto, startNats, type TestBroker } from '../../support/mesh/broker.ts';
import { natsReleases } from '../../support/mesh/nats-releases.ts';
import { natsSurvivesKill } from '../../support/mesh/nats-version.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream, createDeferred, userRequest, expectTask } from '../../support/engine/conversation.ts';
import { request0_1, request0_3, request1_0, MeshTestClient } from '../../support/mesh/mesh-test-client.ts';

const fixture = fileURLToPath(new URL('../fixtures/stuck-agent.mjs', import.meta.url));
// By default Mosquitto drops messages of a session beyond 1,000.
const lines = ['persistence true', 'persistence_location {folder}/', 'max_queued_messages 0'];

const open = closeAfterEach();

/** How many have their answer when the broker dies, how many have not, and how many are asked for while it is dead. */
const [before, flying, meanwhile] = [200, 1_000, 150];
const total = before + flying + meanwhile;

/** Returns a request: streams and sends of every version in turn. */
function sendRequest(i: number): unknown {
  const [id, text] = [`t-${i}`, `#${i}`];
  switch (i % 6) {
    case 0:
      return request0_1(id, text, { sessionId: `s-${i}` });
    case 1:
      return request0_1(id, text, { sessionId: `s-${i}`, method: 'tasks/send' });
    case 2:
      return request0_3(id, text, { contextId: `s-${i}` });
    case 3:
      return request0_3(id, text, { contextId: `s-${i}`, method: 'message/send' });
    case 4:
      return request1_0(id, text, { message: { contextId: `s-${i}` } });
    default:
      return request1_0(id, text, { message: { contextId: `s-${i}` }, method: 'SendMessage' });
  }
}

/** The state in which a task ended, in whatever version; the whole answer when it is none. */
function endOf(body: any): string {
  const task = body.result?.task ?? body.result;
  return String(task?.status?.state ?? JSON.stringify(body))
    .toLowerCase()
    .replace('task_state_', '');
}

/** An agent that does some of its work before the broker dies, some while it is dead, and some after. */
function counter() {
  const [dead, back] = [createDeferred(), createDeferred()];
  const worked: number[] = [];
  const agent = defineAgent({
    name: 'Counter',
    description: 'Answers before, while and after the broker is away',
    async *process({ text }) {
      const number = Number(text.slice(text.indexOf('#') + 1));
      worked.push(number);
      yield { state: 'working', message: `at ${number}` };
      if (number >= before) await (number % 2 === 0 ? dead : back).promise;
      yield `done ${number}`;
    },
  });
  return { agent, worked, dead, back };
}

/** Runs a gateway that a test closes. */
async function gatewayOf(file: string): Promise<void> {
  const gateway = await runGateway(readGatewayConfig(file, join(tmpdir(), 'dragoman.yaml'), {}));
  open.push({ close: () => gateway.stop(0) });
}

const numbers = Array.from({ length: total }, (_none, i) => i);
const inOrder = (list: readonly number[]) => list.toSorted((a, b) => a - b);

type Case = [
  name: string,
  end: 'stopped' | 'killed',
  program: string | undefined,
  start: () => Promise<TestBroker>,
];

describe.each<Case>([
  // Mosquitto acknowledges messages before it has written them to disk, so it is stopped with SIGTERM.
  ['Mosquitto', 'stopped', mosquitto, () => startMosquitto({ lines })],
  ...natsReleases.map<Case>(([version, program]) => [
    `NATS ${version}`,
    natsSurvivesKill(version) ? 'killed' : 'stopped',
    program,
    () => startNats({ program }),
  ]),
])('restart of a broker (%s, %s)', (name, end, program, start) => {
  if (program === undefined) {
    it.skip(`needs ${name}`, () => {});
    return;
  }

  async function scene() {
    const { agent, ...course } = counter();
    const server = await serve(agent);
    open.push({ close: () => server.stop(0) });
    const broker = await start();
    open.push({ close: () => broker.remove() });
    const endBroker = () => (end === 'killed' ? broker.kill() : broker.stop());
    const link = await connectBroker(broker.url);
    open.push(link);
    const states: BrokerConnectionState[] = [];
    link.onState((state) => states.push(state));
    return { ...course, url: server.url, broker, endBroker, link, states };
  }

  it.each(['queue: requests,', ''])(
    'responds once to each of 1,000 requests and calls the agent once for each, with { %s }',
    { timeout: 300_000 },
    async (queue) => {
      const { broker, endBroker, link, states, worked, dead, back, url } = await scene();
      await gatewayOf(`
mesh: { url: "${broker.url}", namespace: test_namespace, ${queue} card_interval_seconds: 1 }
agents:
  Counter: { url: "${url}", expose: [mesh] }
`);
      const caller = await MeshTestClient.join(link);
      const published: Promise<void>[] = [];
      const ask = (from: number, to: number): void => {
        for (let i = from; i < to; i++) published.push(caller.send('Counter', `t-${i}`, sendRequest(i)));
      };
      const answered = () => caller.replies.filter(({ channel }) => channel === 'response').length;
      ask(0, before + flying);
      await caller.waitFor(() => answered() === before);
      await endBroker();
      ask(before + flying, total);
      dead.resolve();
      await broker.restart();
      back.resolve();
      await Promise.all(published);
      const ids = numbers.map((i) => `t-${i}`);
      const answers = await Promise.all(ids.map((id) => caller.waitForResponse(id)));
      expect(new Set(answers.map(({ body }) => endOf(body)))).toEqual(new Set(['completed']));
      // One more, behind all others, shows that nothing comes after.
      await caller.send('Counter', 't-last', request0_3('t-last', '#0', { contextId: 'last' }));
      await caller.waitForResponse('t-last');
      expect(ids.filter((id) => caller.repliesFor(id, 'response').length !== 1)).toEqual([]);
      expect(inOrder(worked.slice(0, -1))).toEqual(numbers);
      expect(states).toEqual(['down', 'up']);
    },
  );

  it('returns their tasks to 1,000 clients of an agent on the mesh', { timeout: 300_000 }, async () => {
    const { broker, endBroker, link, worked, dead, back, url } = await scene();
    await gatewayOf(`
mesh: { url: "${broker.url}", namespace: test_namespace, card_interval_seconds: 1 }
agents:
  Counter: { url: "${url}", expose: [mesh] }
`);
    const agent = meshAgent({
      broker: link,
      namespace: 'test_namespace',
      name: 'Counter',
      limits: { tasks: total },
    });
    open.push(agent);
    let answered = 0;
    const first = createDeferred();
    const ask = async (i: number): Promise<string> => {
      const answer = await agent.send(userRequest(`#${i}`));
      if (++answered === before) first.resolve();
      return expectTask(answer).status.state;
    };
    const asking = numbers.slice(0, before + flying).map(ask);
    await first.promise;
    await endBroker();
    asking.push(...numbers.slice(before + flying).map(ask));
    dead.resolve();
    await broker.restart();
    back.resolve();
    expect(new Set(await Promise.all(asking))).toEqual(new Set(['completed']));
    expect(inOrder(worked)).toEqual(numbers);
  });
});

describe('killed agent behind a gateway', () => {
  /** A separate process with the requests that it received. */
  async function stuck() {
    const child = spawn(process.execPath, [fixture], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const line = async (): Promise<string> => (await lines.next()).value ?? '';
    const kill = async (): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    };
    open.push({ close: kill });
    return { url: await line(), line, kill };
  }

  it.each([
    ['a stream', 'message/stream'],
    ['a send', 'message/send'],
  ])(
    'is named in the error response to %s over a mesh, also if it was down before',
    async (_what, method) => {
      const agent = await stuck();
      await gatewayOf(`
mesh: { url: "memory:agent-kill-${method}", namespace: test_namespace, card_interval_seconds: 1 }
agents:
  Stuck: { url: "${agent.url}", expose: [mesh] }
`);
      const link = await connectBroker(`memory:agent-kill-${method}`);
      open.push(link);
      const caller = await MeshTestClient.join(link);
      await caller.send('Stuck', 't-1', request0_3('t-1', 'go', { method }));
      expect(await agent.line()).toBe(method);
      await agent.kill();
      await caller.send('Stuck', 't-2', request0_3('t-2', 'go', { method, contextId: 'other' }));
      for (const id of ['t-1', 't-2']) {
        const { body } = await caller.waitForResponse(id);
        expect(body.error.message).toContain('Stuck');
        expect(body.error.data).toMatchObject({ agent_name: 'Stuck', taskId: id });
        expect(JSON.stringify(body)).not.toContain('127.0.0.1');
        expect(caller.repliesFor(id, 'response')).toHaveLength(1);
      }
    },
  );

  it.each(['stream', 'send'] as const)(
    'is named in the error response to a %s over HTTP',
    async (operation) => {
      const agent = await stuck();
      const gateway = await runGateway(
        readGatewayConfig(
          `listen: 0\nagents:\n  stuck: { url: "${agent.url}" }\n`,
          join(tmpdir(), 'dragoman.yaml'),
          {},
        ),
      );
      open.push({ close: () => gateway.stop(0) });
      const client = connect(`${gateway.url}/agents/stuck`, {
        endpointCache: createEndpointCache(),
        maxRetries: 0,
        maxResumes: 0,
      });
      open.push(client);
      const ask = async () =>
        operation === 'send'
          ? client.send(userRequest('go'))
          : collectStream(client.stream(userRequest('go')));
      const failing = ask().catch((error: unknown) => error);
      expect(await agent.line()).toBe(operation === 'send' ? 'message/send' : 'message/stream');
      await agent.kill();
      for (const error of [await failing, await ask().catch((thrown: unknown) => thrown)]) {
        expect(error).toBeInstanceOf(A2AError);
        expect((error as A2AError).message).toContain('stuck');
      }
    },
  );
});
