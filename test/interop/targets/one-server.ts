import { serve } from '../../../src/server/index.ts';
import { sampleAgent } from '../sample-agent.ts';
import type { InteropTarget } from './interop-target.ts';

/** One server, which keeps tasks in memory. */
export const oneServer: InteropTarget = {
  name: 'one server',
  hasGrpc: true,
  async serve(more) {
    const agent = sampleAgent(more);
    const server = await serve(agent, { grpc: true });
    return {
      url: server.url,
      async stop() {
        await server.stop();
        await agent.close();
      },
    };
  },
};
