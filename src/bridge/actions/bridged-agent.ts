import type { Clock } from '../../primitives/clock.ts';
import type { RemoteAgent } from '../../client/connect.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import { type BridgedSkill, maxSkills, actionsFromCard } from './skill-actions.ts';

/** An agent and the prefix of its actions. */
export interface NamedAgent {
  /** Prefix of the action names. Must be unique in the bridge and must not contain a slash. */
  readonly agentName: string;
  /** The agent, for example of `connect`. The bridge does not close it. */
  readonly agent: Agent & Partial<Pick<RemoteAgent, 'check'>>;
  /** Lifetime of follow-up IDs of this agent, in seconds. @defaultValue the option of the bridge */
  readonly inputRequiredTtl?: number;
}

/** An agent and the actions of its last known card. */
export class BridgedAgent {
  readonly name: string;
  readonly agent: NamedAgent['agent'];
  readonly inputRequiredTtl: number | undefined;
  skills: ReadonlyMap<string, BridgedSkill> = new Map();
  /** True if its streams can be aborted while they wait; undefined before the first stream. Others need an abort signal, which is slower. */
  isAbortable: boolean | undefined = undefined;
  readonly #clock: Clock;
  readonly #log: LogSink | undefined;
  readonly #onChange: () => void;
  /** Serialized actions, to detect changes. */
  #fingerprint = '';
  #stop: () => void = () => {};
  #isClosed = false;

  constructor(
    { agentName, agent, inputRequiredTtl }: NamedAgent,
    clock: Clock,
    log: LogSink | undefined,
    onChange: () => void,
  ) {
    this.name = agentName;
    this.agent = agent;
    this.inputRequiredTtl = inputRequiredTtl;
    this.#clock = clock;
    this.#log = log;
    this.#onChange = onChange;
  }

  /** Fetches the card and notifies if the actions changed. */
  async refreshCard(): Promise<void> {
    // `card()` may return a cached card; `check()` revalidates it.
    const card: AgentCard = await (this.agent.check ? this.agent.check() : this.agent.card());
    if (this.#isClosed) return;
    const skills = actionsFromCard(this.name, card);
    const fingerprint = JSON.stringify([...skills.values()]);
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    this.skills = skills;
    if (card.skills.length > maxSkills) {
      this.#log?.({
        level: 'warn',
        message: `${this.name} has ${card.skills.length} skills; only the first ${maxSkills} become actions`,
      });
    }
    this.#onChange();
  }

  /** Refreshes the card periodically. */
  scheduleRefresh(interval: number): void {
    this.#stop();
    if (interval <= 0 || interval === Infinity || this.#isClosed) return;
    this.#stop = this.#clock.after(interval, () => {
      void this.#refresh(interval);
    });
  }

  async #refresh(interval: number): Promise<void> {
    try {
      await this.refreshCard();
    } catch (thrown) {
      // Keeps the actions of an agent that is temporarily unavailable.
      this.#log?.({
        level: 'warn',
        message: `Failed to fetch the card of ${this.name}`,
        error: A2AError.from(thrown),
      });
    }
    this.scheduleRefresh(interval);
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }
}
