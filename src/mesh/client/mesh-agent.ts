import type { Agent } from '../../protocol/agent.ts';
import { withCopies } from '../../protocol/composition/with-copies.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { LazyTracing } from '../../tracing/tracing.ts';
import { MeshTopics } from '../mesh-topics.ts';
import { traceBroker } from '../trace-broker.ts';
import type { MeshAgentOptions } from './mesh-agent-options.ts';
import { MeshClient } from './mesh-client.ts';

export type { MeshAgentOptions, MeshAgentTimeouts } from './mesh-agent-options.ts';

/** Creates an {@link Agent} that calls an agent on the mesh. The first call subscribes to responses. */
export function meshAgent(options: MeshAgentOptions): Agent & AsyncDisposable & { close(): Promise<void> } {
  const { namespace, tracing } = options;
  const broker = traceBroker(options.broker, new LazyTracing(tracing), new MeshTopics(namespace));
  const client = new MeshClient({ ...options, broker });
  const unsupported = (what: string) => (): Promise<never> =>
    Promise.reject(new A2AError('UNSUPPORTED_OPERATION', `The mesh does not support ${what}`));
  return withCopies({
    card: (call) => client.card(call),
    extendedCard: unsupported('extended cards'),
    send: (request, call) => client.send(request as SendRequest, call),
    stream: (request, call) => client.stream(request as SendRequest, call),
    getTask: (request, call) => client.getTask(request, call),
    listTasks: unsupported('lists of tasks'),
    cancelTask: (request, call) => client.cancelTask(request, call),
    subscribe: (request, call) => client.subscribe(request, call),
    createPushConfig: unsupported('push notifications'),
    getPushConfig: unsupported('push notifications'),
    listPushConfigs: unsupported('push notifications'),
    deletePushConfig: unsupported('push notifications'),
    ready: () => client.ready(),
    close: () => client.close(),
    [Symbol.asyncDispose]: () => client.close(),
  });
}
