import type { AgentRegistry } from '../agents/agent-registry.ts';
import { type ApiRoutes, emptyResponse } from '../api-routes.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
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
    'GET load/run': () => ({ stream: (stream) => sendEvents(stream, runs) }),
  };
}

/** Sends the events of the newest run, and those of each further run. */
async function sendEvents(stream: JsonEventStream, runs: LoadRuns): Promise<void> {
  let [number, sent] = [runs.number, 0];
  while (!stream.signal.aborted) {
    if (runs.number !== number) [number, sent] = [runs.number, 0];
    const unsent = runs.events.slice(sent);
    sent += unsent.length;
    if (unsent.length > 0) await stream.send(...unsent);
    else await stream.waitFor((wake) => runs.subscribe(wake));
  }
}
