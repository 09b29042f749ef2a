import { serve } from '../../../src/server/index.ts';
import { postgresTaskStore } from '../../../src/store/postgres.ts';
import { startHaproxy } from '../../support/process/reverse-proxy.ts';
import type { PostgresServer } from '../../support/store/postgres-server.ts';
import { sampleAgent } from '../sample-agent.ts';
import type { InteropTarget } from './interop-target.ts';

/** Three replicas on PostgreSQL behind HAProxy, which sends each request to the next one. */
export function balancedReplicas(postgres: () => PostgresServer): InteropTarget {
  let schemas = 0;
  return {
    name: 'three replicas behind HAProxy',
    // `deploy/haproxy.cfg` is for HTTP/1.1.
    hasGrpc: false,
    async serve(more) {
      const schema = `agent_${schemas++}`;
      const start = async () => {
        const taskStore = await postgresTaskStore({ url: postgres().url, schema });
        const agent = sampleAgent(more, { taskStore, push: { egress: { resolve: async () => [] } } });
        const server = await serve(agent);
        return {
          port: Number(new URL(server.url).port),
          async stop() {
            await server.stop(0);
            await agent.close();
            await taskStore[Symbol.asyncDispose]();
          },
        };
      };
      const replicas = await Promise.all([start(), start(), start()]);
      const proxy = await startHaproxy(replicas.map(({ port }) => port));
      return {
        url: proxy.url,
        async stop() {
          await proxy.stop();
          await Promise.all(replicas.map((each) => each.stop()));
        },
      };
    },
  };
}
