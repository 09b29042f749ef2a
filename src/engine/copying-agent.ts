import { copiedStream } from '../primitives/copies/copied-stream.ts';
import { publishCopying } from '../primitives/copies/shared-view.ts';
import { copyJson, isJsonObject } from '../primitives/json.ts';
import type { Agent, CallContext } from '../protocol/agent.ts';
import { invalidField } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import { failingStream } from '../protocol/composition/failing-stream.ts';
import type { SendRequest } from '../protocol/requests.ts';
import { type SendInput, toSendRequest } from '../protocol/user-message.ts';
import type { LocalAgent } from './agent-definition.ts';
import { endOnDisconnect } from './streams/abort.ts';

/** Key of the members that an agent was created with, the same in all copies of this package. */
const originalMembers = Symbol.for('dragoman.originalMembers');

/**
 * Returns an agent that copies requests and results, so that a caller in this process can modify its objects without
 * changing a stored task. `sharedViewOf` returns the agent itself, for servers, which only serialize the results. The
 * agent is a plain object: it can be spread, destructured and wrapped.
 */
export function copyingAgent(agent: LocalAgent): LocalAgent {
  const { definition, options } = agent;
  const close = (): Promise<void> => agent.close();
  const copied = (events: AsyncIterable<StreamEvent>, call?: CallContext): AsyncIterable<StreamEvent> =>
    copiedStream(endOnDisconnect(events, call));
  const copying = publishCopying<LocalAgent>(
    {
      definition,
      options,
      // The card is frozen; caches of signed cards depend on its identity.
      card: (call) => agent.card(call),
      extendedCard: async (call) => copyJson(await agent.extendedCard(call)),
      send: async (request, call) => copyJson(await agent.send(copyRequest(request), call)),
      stream(request, call) {
        try {
          return copied(agent.stream(copyRequest(request), call), call);
        } catch (error) {
          return failingStream(error);
        }
      },
      getTask: async (request, call) => copyJson(await agent.getTask(request, call)),
      listTasks: async (request, call) => copyJson(await agent.listTasks(request, call)),
      cancelTask: async (request, call) => copyJson(await agent.cancelTask(request, call)),
      subscribe: (request, call) => copied(agent.subscribe(request, call), call),
      createPushConfig: async (config, call) =>
        copyJson(await agent.createPushConfig(copyJson(config), call)),
      getPushConfig: async (ref, call) => copyJson(await agent.getPushConfig(ref, call)),
      listPushConfigs: async (request, call) => copyJson(await agent.listPushConfigs(request, call)),
      deletePushConfig: (ref, call) => agent.deletePushConfig(ref, call),
      ...(agent.jwks && { jwks: async () => copyJson(await agent.jwks?.()) ?? { keys: [] } }),
      ready: () => agent.ready(),
      outage: () => agent.outage(),
      checks: () => agent.checks?.(),
      whenIdle: async (timeout) => agent.whenIdle?.(timeout),
      close,
      [Symbol.asyncDispose]: close,
    },
    agent,
  );
  return Object.assign(copying, { [originalMembers]: { ...copying } });
}

/** Returns true for an agent of `defineAgent` whose members were not replaced. It may be of another copy of this package. */
export function isDefinedAgent(agent: Agent): agent is LocalAgent {
  const members: unknown = Reflect.get(agent, originalMembers);
  return (
    isJsonObject(members) &&
    Object.entries(members).every(([name, member]) => Reflect.get(agent, name) === member)
  );
}

function copyRequest(input: SendInput): SendRequest {
  const request = toSendRequest(input);
  try {
    return copyJson(request);
  } catch {
    throw invalidField('message', 'must be a JSON value without cycles');
  }
}
