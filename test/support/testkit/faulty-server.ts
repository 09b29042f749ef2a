import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineAgent } from '../../../src/engine/index.ts';
import { toNodeHandler } from '../../../src/server/node/to-node-handler.ts';
import { VirtualClock } from '../../../src/testkit/clock/virtual-clock.ts';
import { FaultSelector } from '../../../src/testkit/faults/fault-selector.ts';
import type { Fault } from '../../../src/testkit/faults/fault.ts';
import { injectResponseFaults } from '../../../src/testkit/faults/inject-response-faults.ts';
import { PortOutage } from '../../../src/testkit/faults/port-outage.ts';
import { withEventFaults } from '../../../src/testkit/faults/event-faults.ts';
import { createSeededRandom } from '../../../src/testkit/seeded-random.ts';
import { stubAgent } from '../agent-stub.ts';

/** An HTTP server with fault injection. */
export interface FaultyServer extends AsyncDisposable {
  url: string;
  port: number;
  server: Server;
  clock: VirtualClock;
  outage: PortOutage;
  /** The received requests, such as `POST /`. */
  requests: string[];
  /** Faults that are injected from now on. */
  faults: readonly Fault[];
}

export interface FaultyOptions {
  clock?: VirtualClock;
  seed?: number;
  /** True if the card lists that the agent recognizes repeated requests. @defaultValue false */
  recognizesRepeats?: boolean;
}

/**
 * Serves an agent that streams five events: task, status, the artifact chunks `one` and `two`, and the final status.
 */
export async function startFaultyServer(
  faults: readonly Fault[] = [],
  { clock = new VirtualClock({ auto: true }), seed = 1, recognizesRepeats = false }: FaultyOptions = {},
): Promise<FaultyServer> {
  const agent = defineAgent({
    name: 'faulty',
    description: 'Says one and two',
    async *process() {
      yield { state: 'working', message: 'started' };
      yield { artifact: { artifactId: 'a', text: 'one' } };
      yield { artifact: { artifactId: 'a', text: 'two' }, append: true, lastChunk: true };
    },
  });
  const random = createSeededRandom(seed);
  const selector = new FaultSelector(random);
  let streamFaults: readonly Fault[] = [];
  const faultyAgent = stubAgent(agent, {
    async card() {
      const card = await agent.card();
      const capabilities = { streaming: true };
      return recognizesRepeats ? card : { ...card, capabilities };
    },
    stream: (request, call) => withEventFaults(agent.stream(request, call), streamFaults),
  });
  const listener = toNodeHandler(faultyAgent);
  const server = createServer((request, response) => {
    faulty.requests.push(`${request.method} ${request.url}`);
    const selected = selector.select(
      faulty.faults,
      request.url?.startsWith('/.well-known/') ? 'card' : 'message',
    );
    streamFaults = selected;
    injectResponseFaults(response, () => selected, {
      clock,
      random,
      startOutage: (time) => outage.start(time),
    });
    listener(request, response);
  });
  const outage = new PortOutage(server, clock);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const faulty: FaultyServer = {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    clock,
    outage,
    faults,
    requests: [],
    async [Symbol.asyncDispose]() {
      outage.cancel();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await agent.close();
      clock.clear();
    },
  };
  return faulty;
}
