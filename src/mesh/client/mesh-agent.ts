import type { Agent } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { MeshAgentOptions } from './mesh-agent-options.ts';
import { MeshClient } from './mesh-client.ts';

export type { MeshAgentOptions, MeshAgentTimeouts } from './mesh-agent-options.ts';

/** An agent that lives on the mesh, as an {@link Agent}. Nothing happens before the first call. */
export function meshAgent(options: MeshAgentOptions): Agent & AsyncDisposable & { close(): Promise<void> } {
  const remote = new MeshClient(options);
  const unsupported = (what: string) => (): Promise<never> =>
    Promise.reject(new A2AError('UNSUPPORTED_OPERATION', `The mesh has no word for ${what}`));
  return {
    card: (call) => remote.card(call),
    extendedCard: unsupported('extended cards'),
    send: (request, call) => remote.send(request, call),
    stream: (request, call) => remote.stream(request, call),
    getTask: (request, call) => remote.getTask(request, call),
    listTasks: unsupported('lists of tasks'),
    cancelTask: (request, call) => remote.cancelTask(request, call),
    subscribe: (request, call) => remote.subscribe(request, call),
    createPushConfig: unsupported('push notifications'),
    getPushConfig: unsupported('push notifications'),
    listPushConfigs: unsupported('push notifications'),
    deletePushConfig: unsupported('push notifications'),
    ready: () => remote.ready(),
    close: () => remote.close(),
    [Symbol.asyncDispose]: () => remote.close(),
  };
}
