import { A2AError, invalidField } from '../protocol/errors.ts';
import type { Action, ActionMeta, ActionResponse, Bridge } from './action.ts';
import { BridgedAgent, type NamedAgent } from './bridged-agent.ts';
import { Caller } from './caller.ts';
import { type BridgeOptions, type BridgeSettings, settle } from './options.ts';
import type { Parameters } from './parameters.ts';
import { provideRequiredInput } from './skill.ts';

/**
 * Makes the skills of an agent functions: one action for each, named `agent_name/skill_id`, and one to answer its
 * questions.
 *
 * @throws A2AError when the card of the agent cannot be had, unless `whenUnreachable` is `retry`
 *
 * @example
 * ```ts
 * const weather = await bridge({ agentName: 'weather', agent: connect('http://localhost:4000') });
 * const answer = await weather.invoke('weather/forecast', { prompt: 'Oslo, tomorrow' });
 * ```
 */
export function bridge({ agentName, agent, ...options }: NamedAgent & BridgeOptions): Promise<Bridge> {
  return bridges([{ agentName, agent }], options);
}

/** Makes the skills of several agents functions of one bridge. */
export async function bridges(agents: readonly NamedAgent[], options: BridgeOptions = {}): Promise<Bridge> {
  const names = new Set<string>();
  for (const { agentName } of agents) {
    if (agentName === '' || agentName.includes('/')) {
      throw invalidField('agentName', `must be a name without a slash, and not ${JSON.stringify(agentName)}`);
    }
    if (names.has(agentName)) throw invalidField('agentName', `${agentName} is there twice`);
    names.add(agentName);
  }
  const made = new AgentBridge(agents, settle(options));
  await made.open();
  return made;
}

class AgentBridge implements Bridge {
  readonly #settings: BridgeSettings;
  readonly #agents: readonly BridgedAgent[];
  readonly #caller: Caller;
  readonly #listeners = new Set<() => void>();
  #actions: readonly Action[] | undefined;

  constructor(agents: readonly NamedAgent[], settings: BridgeSettings) {
    this.#settings = settings;
    this.#agents = agents.map(
      (each) => new BridgedAgent(each, settings.clock, settings.log, () => this.#changed()),
    );
    this.#caller = new Caller(new Map(this.#agents.map((each) => [each.name, each])), settings);
  }

  /** Asks for all cards at once. */
  async open(): Promise<void> {
    const { whenUnreachable, cardInterval, log } = this.#settings;
    const looks = await Promise.allSettled(this.#agents.map((each) => each.look()));
    for (const [index, look] of looks.entries()) {
      if (look.status === 'fulfilled') continue;
      const error = A2AError.from(look.reason);
      if (whenUnreachable === 'fail') {
        await this.close();
        throw error;
      }
      log?.({ level: 'warn', message: `The card of ${this.#agents[index]?.name} could not be had`, error });
    }
    for (const each of this.#agents) each.watch(cardInterval);
  }

  actions(): readonly Action[] {
    return (this.#actions ??= [
      ...this.#agents.flatMap(({ skills }) => [...skills.values()].map(({ action }) => action)),
      provideRequiredInput,
    ]);
  }

  onChange(changed: () => void): () => void {
    // One function may be given twice.
    const listener = (): void => changed();
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  invoke(name: string, parameters: Parameters, meta: ActionMeta = {}): Promise<ActionResponse> {
    return this.#caller.call(name, parameters, meta);
  }

  async close(): Promise<void> {
    for (const each of this.#agents) each.close();
    this.#listeners.clear();
    await this.#caller.close();
    this.#settings.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #changed(): void {
    this.#actions = undefined;
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        this.#settings.log?.({ level: 'error', message: 'A listener to changes of actions failed', error });
      }
    }
  }
}
