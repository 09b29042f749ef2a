import { copyJson } from '../primitives/json.ts';
import { publishCopying } from '../primitives/copies/shared-view.ts';
import type { Agent } from '../protocol/agent.ts';
import { copiedStream } from '../primitives/copies/copied-stream.ts';
import { invalidField } from '../protocol/errors.ts';
import type { SendRequest } from '../protocol/requests.ts';
import type { AgentDefinition, AgentOptions, LocalAgent } from './agent-definition.ts';
import { failingStream } from './streams/iterables.ts';

/**
 * Returns an agent that copies requests and results, so that a caller in this process can modify its objects without
 * changing a stored task. `sharedViewOf` returns the agent itself, for servers, which only serialize the results.
 */
export function copyingAgent(agent: LocalAgent): LocalAgent {
  return publishCopying<LocalAgent>(new CopyingAgent(agent), agent);
}

class CopyingAgent implements LocalAgent {
  readonly #agent: LocalAgent;
  readonly jwks: Agent['jwks'];

  constructor(agent: LocalAgent) {
    this.#agent = agent;
    this.jwks = agent.jwks && (async () => copyJson(await agent.jwks?.()) ?? { keys: [] });
  }

  get definition(): AgentDefinition {
    return this.#agent.definition;
  }

  get options(): AgentOptions {
    return this.#agent.options;
  }

  // The card is frozen; caches of signed cards depend on its identity.
  card: Agent['card'] = (call) => this.#agent.card(call);

  extendedCard: Agent['extendedCard'] = async (call) => copyJson(await this.#agent.extendedCard(call));

  send: Agent['send'] = async (request, call) => copyJson(await this.#agent.send(copyRequest(request), call));

  stream: Agent['stream'] = (request, call) => {
    try {
      return copiedStream(this.#agent.stream(copyRequest(request), call));
    } catch (error) {
      return failingStream(error);
    }
  };

  getTask: Agent['getTask'] = async (request, call) => copyJson(await this.#agent.getTask(request, call));

  listTasks: Agent['listTasks'] = async (request, call) =>
    copyJson(await this.#agent.listTasks(request, call));

  cancelTask: Agent['cancelTask'] = async (request, call) =>
    copyJson(await this.#agent.cancelTask(request, call));

  subscribe: Agent['subscribe'] = (request, call) => copiedStream(this.#agent.subscribe(request, call));

  createPushConfig: Agent['createPushConfig'] = async (config, call) =>
    copyJson(await this.#agent.createPushConfig(copyJson(config), call));

  getPushConfig: Agent['getPushConfig'] = async (ref, call) =>
    copyJson(await this.#agent.getPushConfig(ref, call));

  listPushConfigs: Agent['listPushConfigs'] = async (request, call) =>
    copyJson(await this.#agent.listPushConfigs(request, call));

  deletePushConfig: Agent['deletePushConfig'] = (ref, call) => this.#agent.deletePushConfig(ref, call);

  ready: LocalAgent['ready'] = () => this.#agent.ready();

  outage: LocalAgent['outage'] = () => this.#agent.outage();

  whenIdle: Agent['whenIdle'] = async (timeout) => this.#agent.whenIdle?.(timeout);

  close: LocalAgent['close'] = () => this.#agent.close();

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function copyRequest(request: SendRequest): SendRequest {
  try {
    return copyJson(request);
  } catch {
    throw invalidField('message', 'must be a JSON value without cycles');
  }
}
