import type { ServerResponse } from 'node:http';
import type { Agent } from '../../protocol/agent.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { type MountedAgent, AgentLifecycle } from '../lifecycle/agent-lifecycle.ts';
import type { ServerOptions } from '../server-options.ts';
import { isAddressedTo, type MountedMessage } from './mounted-url.ts';
import { nodeListener } from './node-listener.ts';

/** Handles the requests of a Node server or of a framework that is based on one. */
export interface NodeHandler extends MountedAgent {
  /** @param next - called for requests outside of `basePath`; without it they get 404. */
  (request: MountedMessage, response: ServerResponse, next?: (error?: unknown) => void): void;
}

/**
 * Mounts an agent in Express, Fastify, NestJS or any other server that is based on `node:http`. The recovery of unfinished
 * tasks starts at once; `ready` resolves when it has finished.
 *
 * @example
 * ```ts
 * const app = express();
 * app.use('/agent', toNodeHandler(agent));
 * ```
 */
export function toNodeHandler(agent: Agent, options: ServerOptions = {}): NodeHandler {
  const lifecycle = new AgentLifecycle(agent, options);
  const { handler } = lifecycle;
  const listener = nodeListener(handler, options);
  const basePath = stripTrailing(options.basePath ?? '', '/');
  void lifecycle.prepareInBackground();
  return lifecycle.mount(
    (request: MountedMessage, response: ServerResponse, next?: (error?: unknown) => void) => {
      if (typeof next === 'function' && basePath !== '' && !isAddressedTo(request, basePath)) {
        next();
        return;
      }
      if (handler.refusal && !handler.isReady) void lifecycle.prepareInBackground();
      listener(request, response);
    },
  );
}
