import type { Agent } from '../../protocol/agent.ts';
import { resolveGrpc } from '../grpc/grpc-options.ts';
import { AgentLifecycle } from '../lifecycle/agent-lifecycle.ts';
import type { RunningServer, ServeOptions } from './listen.ts';
import { nodeListener } from './node-listener.ts';

export type { ServeOptions, RunningServer } from './listen.ts';

/** Serves an agent over HTTP: all transports and versions on one port. */
export async function serve(agent: Agent, options: ServeOptions = {}): Promise<RunningServer> {
  const lifecycle = new AgentLifecycle(agent, options);
  const { handler, contexts, onStopping, whenIdle } = lifecycle;
  handler.context.cards.hasGrpc = resolveGrpc(options.grpc) !== undefined;
  // Bundles for browsers and workers contain no Node server.
  const { listen } = await import('#node-server');
  const server = await listen(
    {
      listener: nodeListener(handler, options),
      contexts,
      onStopping,
      whenIdle,
      metrics: handler.context.telemetry?.metrics,
      handlerFor: () => handler,
      grpcHandlerFor: () => handler,
      isReady: () => handler.readiness.status === 'ready',
    },
    options,
  );
  try {
    await lifecycle.prepare();
  } catch (error) {
    await server.stop(0);
    throw error;
  }
  return server;
}
