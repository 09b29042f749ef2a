/** Several gateways with the same file that share the requests of a mesh. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import { connectBroker } from '../../../src/mesh/brokers/connect-broker.ts';
import { textOf } from '../../../src/protocol/part.ts';
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

/** Gateways in front of one agent, and a client on the mesh. @param more - lines of their file */
export async function openGatewayReplicas(start: () => Promise<TestBroker>, more = '') {
  const worked: string[] = [];
  const agent = defineAgent({
    name: 'Echo',
    description: 'Repeats, asks or waits',
    async *process({ text, ask, signal }) {
      worked.push(text);
      if (text === 'ask') yield `answered ${textOf((await ask('Which one?')).parts)}`;
      else if (text === 'wait') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      else yield text;
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
${more}
`;
  const startGateway = async (replica: number) => {
    const settings = readGatewayConfig(file(replica), join(tmpdir(), 'dragoman.yaml'), {});
    const gateway = await runGateway(settings);
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
  return { broker, startGateway, ask, expectOneAnswerEach, client, worked };
}

/** The brokers that can be run here. */
export const brokers = [
  ['Mosquitto', mosquitto, () => startMosquitto({ lines })],
  ['NATS', natsServer, () => startNats()],
] as const;
