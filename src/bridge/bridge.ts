import { A2AError, invalidField } from '../protocol/errors.ts';
import type { Action, ActionCallOptions, ActionResponse, Bridge } from './action-types.ts';
import { BridgedAgent, type NamedAgent } from './actions/bridged-agent.ts';
import { ActionInvoker } from './actions/action-invoker.ts';
import { type BridgeOptions, type BridgeSettings, resolveBridgeSettings } from './bridge-options.ts';
import type { ActionParameters } from './actions/parameter-check.ts';
import { provideRequiredInput } from './actions/skill-actions.ts';

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
  return bridgeAgents([{ agentName, agent }], options);
}

/** Makes the skills of several agents functions of one bridge. */
export async function bridgeAgents(
  agents: readonly NamedAgent[],
  options: BridgeOptions = {},
): Promise<Bridge> {
  expectNames(agents);
  const made = new AgentBridge(resolveBridgeSettings(options));
  await made.open(agents);
  return made;
}

function expectNames(agents: readonly NamedAgent[]): void {
  const names = new Set<string>();
  for (const { agentName } of agents) {
    if (agentName === '' || agentName.includes('/')) {
      throw invalidField('agentName', `must be a name without a slash, and not ${JSON.stringify(agentName)}`);
    }
    if (names.has(agentName)) throw invalidField('agentName', `${agentName} is there twice`);
    names.add(agentName);
  }
}

/** An agent whose card could not be had, and why. */
interface Absence {
  readonly name: string;
  readonly error: A2AError;
}

class AgentBridge implements Bridge {
  readonly #settings: BridgeSettings;
  readonly #agents = new Map<string, BridgedAgent>();
  readonly #caller: ActionInvoker;
  readonly #listeners = new Set<() => void>();
  #actions: readonly Action[] | undefined;

  constructor(settings: BridgeSettings) {
    this.#settings = settings;
    this.#caller = new ActionInvoker(this.#agents, settings);
  }

  async open(agents: readonly NamedAgent[]): Promise<void> {
    const failures = await this.#take(agents);
    const [first] = failures;
    if (first && this.#settings.whenUnreachable === 'fail') {
      await this.close();
      throw first.error;
    }
    this.#warn(failures);
  }

  async setAgents(agents: readonly NamedAgent[]): Promise<void> {
    expectNames(agents);
    for (const [name, before] of this.#agents) {
      if (agents.some((each) => each.agentName === name && each.agent === before.agent)) continue;
      before.close();
      this.#agents.delete(name);
    }
    this.#changed();
    this.#warn(await this.#take(agents));
  }

  /** Takes in those that are new, and asks for all cards at once. @returns why some could not be had. */
  async #take(agents: readonly NamedAgent[]): Promise<Absence[]> {
    const { clock, cardInterval, log } = this.#settings;
    for (const each of agents)
      if (!this.#agents.has(each.agentName))
        this.#agents.set(each.agentName, new BridgedAgent(each, clock, log, () => this.#changed()));
    const failures: Absence[] = [];
    const look = async (each: BridgedAgent): Promise<void> => {
      try {
        await each.refreshCard();
      } catch (thrown) {
        failures.push({ name: each.name, error: A2AError.from(thrown) });
      }
      each.watch(cardInterval);
    };
    await Promise.all([...this.#agents.values()].map(look));
    return failures;
  }

  #warn(failures: readonly Absence[]): void {
    for (const { name, error } of failures)
      this.#settings.log?.({ level: 'warn', message: `The card of ${name} could not be had`, error });
  }

  actions(): readonly Action[] {
    return (this.#actions ??= [
      ...[...this.#agents.values()].flatMap(({ skills }) => [...skills.values()].map(({ action }) => action)),
      provideRequiredInput,
    ]);
  }

  onChange(changed: () => void): () => void {
    // One function may be given twice.
    const listener = (): void => changed();
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  invoke(name: string, parameters: ActionParameters, meta: ActionCallOptions = {}): Promise<ActionResponse> {
    return this.#caller.call(name, parameters, meta);
  }

  async close(): Promise<void> {
    for (const each of this.#agents.values()) each.close();
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
