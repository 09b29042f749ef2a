import type { Dialect } from '../../dialects/dialect.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';

/**
 * Agents that expect JSON-RPC requests of 0.3 at the REST paths of 1.0: `message/send` at `/message:send`. Tasks are
 * requested by `GET /tasks/{id}` and listed as in 1.0. Responses are JSON-RPC responses or plain results.
 */
export const envelopedRest: Dialect = {
  ...v0_3,
  routes: v1_0.routes,
  requests: { ...v0_3.requests, listTasks: v1_0.requests.listTasks },
  results: { ...v0_3.results, listTasks: v1_0.results.listTasks },
};
