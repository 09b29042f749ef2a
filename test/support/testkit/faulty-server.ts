import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineAgent } from '../../../src/engine/index.ts';
import { AgentHttpHandler } from '../../../src/server/http/agent-http-handler.ts';
import { nodeListener } from '../../../src/server/node/serve.ts';
import { VirtualClock } from '../../../src/testkit/clock/virtual-clock.ts';
import { FaultSelector } from '../../../src/testkit/faults/fault-selector.ts';
import type { Fault } from '../../../src/testkit/faults/fault.ts';
import { injectResponseFaults } from '../../../src/testkit/faults/inject-response-faults.ts';
import { PortOutage } from '../../../src/testkit/faults/port-outage.ts';
import { withEventFaults } from '../../../src/testkit/faults/event-faults.ts';
import { createSeededRandom } from '../../../src/testkit/seeded-random.ts';
import { stubAgent } from '../agent-stub.ts';

/** A real server whose answers go wrong. */
export interface FaultyServer extends AsyncDisposable {
  url: string;
  port: number;
  server: Server;
  clock: VirtualClock;
  refusal: PortOutage;
  /** What was asked, such as `POST /`. */
  asked: string[];
  /** What goes wrong from now on. */
  faults: readonly Fault[];
}

/** How a faulty server differs from the usual one. */
export interface FaultyOptions {
  clock?: VirtualClock;
  seed?: number;
}

/**
 * Starts an agent that begins, makes an artifact of two chunks, `one` and `two`, and is done: a task, a status, two
 * chunks and the end are five events.
 */
export async function startFaultyServer(
  faults: readonly Fault[] = [],
  { clock = new VirtualClock({ auto: true }), seed = 1 }: FaultyOptions = {},
): Promise<FaultyServer> {
  const agent = defineAgent({
    name: 'faulty',
    description: 'Says one and two',
    async *process() {
      yield { state: 'working', message: 'begun' };
      yield { artifact: { artifactId: 'a', text: 'one' } };
      yield { artifact: { artifactId: 'a', text: 'two' }, append: true, lastChunk: true };
    },
  });
  const random = createSeededRandom(seed);
  const draw = new FaultSelector(random);
  let ofStream: readonly Fault[] = [];
  const illegal = stubAgent(agent, {
    stream: (request, call) => withEventFaults(agent.stream(request, call), ofStream),
  });
  const listener = nodeListener(new AgentHttpHandler(illegal));
  const server = createServer((request, response) => {
    faulty.asked.push(`${request.method} ${request.url}`);
    const struck = draw.draw(faulty.faults, request.url?.startsWith('/.well-known/') ? 'card' : 'message');
    ofStream = struck;
    injectResponseFaults(response, () => struck, { clock, random, refuse: (time) => refusal.begin(time) });
    listener(request, response);
  });
  const refusal = new PortOutage(server, clock);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const faulty: FaultyServer = {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    clock,
    refusal,
    faults,
    asked: [],
    async [Symbol.asyncDispose]() {
      refusal.forget();
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
