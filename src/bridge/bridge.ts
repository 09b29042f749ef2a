import { A2AError, invalidField } from '../protocol/errors.ts';
import { LazyTracing } from '../tracing/tracing.ts';
import type { Action, ActionCallOptions, ActionReply, ActionResponse, Bridge } from './action-types.ts';
import { BridgedAgent, type NamedAgent } from './actions/bridged-agent.ts';
import { ActionInvoker } from './actions/action-invoker.ts';
import { describeActions } from './actions/describe-actions.ts';
import { type BridgeOptions, type BridgeSettings, resolveBridgeSettings } from './bridge-options.ts';
import type { ActionParameters } from './actions/parameter-check.ts';
import { provideRequiredInput } from './actions/skill-actions.ts';

/**
 * Exposes the skills of an agent as actions named `agent_name/skill_id`, plus `provide_required_input` for tasks that
 * require input.
 *
 * @throws A2AError if the card cannot be fetched, unless `whenUnreachable` is `retry`
 *
 * @example
 * ```ts
 * const weather = await bridge({ agentName: 'weather', agent: connect('http://localhost:4000') });
 * const response = await weather.invoke('weather/forecast', { prompt: 'Oslo, tomorrow' });
 * ```
 */
export function bridge({ agentName, agent, ...options }: NamedAgent & BridgeOptions): Promise<Bridge> {
  return bridgeAgents([{ agentName, agent }], options);
}

/** Exposes the skills of several agents as actions of one bridge. */
export async function bridgeAgents(
  agents: readonly NamedAgent[],
  options: BridgeOptions = {},
): Promise<Bridge> {
  checkNames(agents);
  const created = new AgentBridge(resolveBridgeSettings(options));
  await created.open(agents);
  return created;
}

function checkNames(agents: readonly NamedAgent[]): void {
  const names = new Set<string>();
  for (const { agentName } of agents) {
    if (agentName === '' || agentName.includes('/')) {
      throw invalidField('agentName', `must be a name without a slash, not ${JSON.stringify(agentName)}`);
    }
    if (names.has(agentName)) throw invalidField('agentName', `must be unique: ${agentName}`);
    names.add(agentName);
  }
}

interface CardFailure {
  readonly name: string;
  readonly error: A2AError;
}

class AgentBridge implements Bridge {
  readonly #settings: BridgeSettings;
  readonly #agents = new Map<string, BridgedAgent>();
  readonly #invoker: ActionInvoker;
  readonly #listeners = new Set<() => void>();
  readonly #tracing = new LazyTracing(undefined);
  #actions: readonly Action[] | undefined;

  constructor(settings: BridgeSettings) {
    this.#settings = settings;
    this.#invoker = new ActionInvoker(this.#agents, settings);
  }

  async open(agents: readonly NamedAgent[]): Promise<void> {
    const failures = await this.#addAgents(agents);
    const [first] = failures;
    if (first && this.#settings.whenUnreachable === 'fail') {
      await this.close();
      throw first.error;
    }
    this.#warn(failures);
  }

  async setAgents(agents: readonly NamedAgent[]): Promise<void> {
    checkNames(agents);
    for (const [name, before] of this.#agents) {
      if (agents.some((each) => each.agentName === name && each.agent === before.agent)) continue;
      before.close();
      this.#agents.delete(name);
    }
    this.#notifyListeners();
    this.#warn(await this.#addAgents(agents));
  }

  /** Adds new agents and refreshes all cards concurrently. */
  async #addAgents(agents: readonly NamedAgent[]): Promise<CardFailure[]> {
    const { clock, cardInterval, log } = this.#settings;
    for (const each of agents)
      if (!this.#agents.has(each.agentName))
        this.#agents.set(each.agentName, new BridgedAgent(each, clock, log, () => this.#notifyListeners()));
    const failures: CardFailure[] = [];
    const refresh = async (each: BridgedAgent): Promise<void> => {
      try {
        await each.refreshCard();
      } catch (thrown) {
        failures.push({ name: each.name, error: A2AError.from(thrown) });
      }
      each.scheduleRefresh(cardInterval);
    };
    await Promise.all([...this.#agents.values()].map(refresh));
    return failures;
  }

  #warn(failures: readonly CardFailure[]): void {
    for (const { name, error } of failures)
      this.#settings.log?.({ level: 'warn', message: `Failed to fetch the card of ${name}`, error });
  }

  actions(): readonly Action[] {
    return (this.#actions ??= [
      ...[...this.#agents.values()].flatMap(({ skills }) => [...skills.values()].map(({ action }) => action)),
      provideRequiredInput,
    ]);
  }

  describe(): string {
    return describeActions(this.actions());
  }

  onChange(changed: () => void): () => void {
    // A wrapper per call, so that the same function can be registered twice.
    const listener = (): void => changed();
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  invoke(
    name: string,
    parameters: ActionParameters,
    options: ActionCallOptions = {},
  ): Promise<ActionResponse> {
    if (!this.#tracing.isEnabled) return this.#invoker.call(name, parameters, options);
    const action = this.actions().find((each) => each.name === name);
    const spanOptions = {
      kind: 'internal',
      from: options.trace,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': action?.name,
        'gen_ai.agent.name': action?.agentName,
      },
    } as const;
    return this.#tracing.traced(`execute_tool ${action?.name ?? 'unknown'}`, spanOptions, async (span) => {
      const response = await this.#invoker.call(name, parameters, options);
      if (response.status === 'ERROR') span?.end('action_error');
      return response;
    });
  }

  reply(agentName: string, reply: ActionReply, options: ActionCallOptions = {}): Promise<ActionResponse> {
    return this.#invoker.reply(agentName, reply, options);
  }

  async close(): Promise<void> {
    for (const each of this.#agents.values()) each.close();
    this.#listeners.clear();
    await this.#invoker.close();
    this.#settings.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #notifyListeners(): void {
    this.#actions = undefined;
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        this.#settings.log?.({ level: 'error', message: 'A change listener failed', error });
      }
    }
  }
}
