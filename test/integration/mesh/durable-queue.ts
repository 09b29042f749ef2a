import { afterEach, describe, expect, it } from 'vitest';
import { HttpTransportError } from '../../../src/client/http/http-client.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { withCircuitBreaker } from '../../../src/gateway/middleware/circuit-breaker.ts';
import { connectBroker } from '../../../src/mesh/brokers/connect-broker.ts';
import { meshAgent } from '../../../src/mesh/client/mesh-agent.ts';
import { serveOnMesh } from '../../../src/mesh/server/serve-on-mesh.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import { stubAgent } from '../../support/agent-stub.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { createDeferred, userRequest } from '../../support/engine/conversation.ts';
import { mosquitto, natsServer, startMosquitto, startNats } from '../../support/mesh/broker.ts';

/** Tests that requests in a durable queue wait for an agent whose circuit breaker is open. */
export function testDurableQueue(requests: number): void {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  });

  describe.each([
    ['memory', true, undefined],
    // By default Mosquitto drops messages above 1,000.
    ['Mosquitto', mosquitto !== undefined, () => startMosquitto({ lines: ['max_queued_messages 0'] })],
    ['NATS', natsServer !== undefined, startNats],
  ] as const)('durable queue on %s', (_name, isThere, start) => {
    it.skipIf(!isThere)('keeps requests while the circuit breaker of the agent is open', async () => {
      const running = await start?.();
      if (running) cleanups.push(() => running.remove());
      const broker = await connectBroker(running?.url ?? 'memory:');
      cleanups.push(() => broker.close());
      const clock = new ManualClock();
      const opened = createDeferred();
      let isDown = true;
      let calls = 0;
      const local = defineAgent({ name: 'Worker', description: 'Works', process: () => 'done' });
      const agent = withCircuitBreaker(
        stubAgent(local, {
          async send(request, call) {
            calls++;
            if (!isDown) return local.send(request, call);
            const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
            throw new A2AError('UNAVAILABLE', 'refused', { cause: new HttpTransportError(refused, false) });
          },
        }),
        {
          name: 'Worker',
          failures: 3,
          openFor: 1_000,
          clock,
          onState: (state) => (state === 'open' ? opened.resolve() : undefined),
        },
      );
      const server = await serveOnMesh(agent, {
        broker,
        namespace: 'test',
        name: 'Worker',
        queue: 'worker',
        limits: { concurrency: 4, queued: 12 },
      });
      cleanups.push(() => server.close());
      const client = meshAgent({
        broker,
        namespace: 'test',
        name: 'Worker',
        card: await local.card(),
        version: '1.0',
      });
      let settled = 0;
      const results = Array.from({ length: requests }, async (_, n) => {
        const [result] = await Promise.allSettled([client.send(userRequest(`${n}`))]);
        settled++;
        return result.status;
      });

      await opened.promise;
      expect(agent.outage?.()).toMatchObject({
        error: { reason: 'UNAVAILABLE', details: { circuit: 'open' } },
      });
      isDown = false;
      const tried = calls;
      // A request that passes the whole way shows that the mesh server works while it holds the others.
      await expect(client.getTask({ id: 'unknown' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
      expect(calls).toBe(tried);
      expect(settled).toBeLessThanOrEqual(tried);

      clock.advance(1_000);
      const statuses = await Promise.all(results);
      expect(statuses.filter((status) => status === 'rejected')).toHaveLength(tried);
      expect(tried).toBeLessThanOrEqual(4);
      expect(calls).toBe(requests);
    });
  });
}
