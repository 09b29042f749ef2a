/** Several gateways with the same file share the requests of a mesh. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import { connectBroker } from '../../../src/mesh/brokers/connect-broker.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import {
  mosquitto,
  natsServer,
  startMosquitto,
  startNats,
  type TestBroker,
} from '../../support/mesh/broker.ts';
import { MeshTestClient, request0_3 } from '../../support/mesh/mesh-test-client.ts';

const open = closeAfterEach();
const lines = ['persistence true', 'persistence_location {folder}/', 'max_queued_messages 0'];

/** Two gateways in front of one agent, and a client on the mesh. */
async function scene(start: () => Promise<TestBroker>) {
  const worked: string[] = [];
  const agent = defineAgent({
    name: 'Echo',
    description: 'Repeats',
    async process({ text }) {
      worked.push(text);
      return text;
    },
  });
  const server = await serve(agent);
  open.push({ close: () => server.stop(0) });
  const broker = await start();
  open.push({ close: () => broker.remove() });
  const file = (replica: number) => `
mesh: { url: "${broker.url}", namespace: test_namespace, queue: requests, shared: true, client_id: "replica-${replica}" }
agents:
  Echo: { url: "${server.url}", expose: [mesh] }
`;
  const startGateway = async (replica: number) => {
    const gateway = await runGateway(readGatewayConfig(file(replica), join(tmpdir(), 'dragoman.yaml'), {}));
    open.push({ close: () => gateway.stop(0) });
    return gateway;
  };
  const link = await connectBroker(broker.url);
  open.push(link);
  const client = await MeshTestClient.join(link);
  const ask = (from: number, to: number) =>
    Promise.all(
      Array.from({ length: to - from }, async (_none, i) => {
        const id = `t-${from + i}`;
        await client.send('Echo', id, request0_3(id, `#${from + i}`, { contextId: `s-${from + i}` }));
      }),
    );
  const expectOneAnswerEach = async (count: number) => {
    const ids = Array.from({ length: count }, (_none, i) => `t-${i}`);
    for (const id of ids) await client.waitForResponse(id);
    expect(ids.filter((id) => client.repliesFor(id, 'response').length !== 1)).toEqual([]);
    expect(worked.toSorted()).toEqual(ids.map((_id, i) => `#${i}`).toSorted());
  };
  return { broker, startGateway, ask, expectOneAnswerEach };
}

describe.each([
  ['Mosquitto', mosquitto, () => startMosquitto({ lines })],
  ['NATS', natsServer, () => startNats()],
] as const)('two gateways that share a queue on %s', (_name, program, start) => {
  it.skipIf(program === undefined)(
    'answer each request once, also while one of them closes and when the broker is restarted',
    { timeout: 60_000 },
    async () => {
      const { broker, startGateway, ask, expectOneAnswerEach } = await scene(start);
      const [first] = await Promise.all([startGateway(1), startGateway(2)]);
      await ask(0, 30);
      await expectOneAnswerEach(30);
      await Promise.all([first?.stop(0), ask(30, 60)]);
      await startGateway(1);
      await expectOneAnswerEach(60);
      await broker.stop();
      const published = ask(60, 90);
      await broker.restart();
      await published;
      await expectOneAnswerEach(90);
    },
  );
});
