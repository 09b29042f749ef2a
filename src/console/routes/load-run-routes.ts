import type { AgentRegistry } from '../agents/agent-registry.ts';
import { type ApiRoutes, emptyResponse } from '../api-routes.ts';
import type { LoadRuns } from '../load/load-runs.ts';
import { loadRunInputSchema, parseRequestBody } from './request-schemas.ts';

/** Routes of load runs. */
export function loadRunRoutes(agents: AgentRegistry, runs: LoadRuns): ApiRoutes {
  return {
    'POST load/run': ({ body }) => {
      const input = parseRequestBody(loadRunInputSchema, body);
      runs.start(agents.get(input.agentId), input);
      return emptyResponse;
    },
    'DELETE load/run': async () => {
      await runs.stop();
      return emptyResponse;
    },
    'GET load/run': () => ({ stream: (stream) => runs.events.sendTo(stream) }),
  };
}
