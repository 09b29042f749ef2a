import type { Clock } from '../../client/abortable-sleep.ts';
import type { RemoteAgent } from '../../client/connect.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { LogSink } from '../../primitives/log.ts';
import { type BridgedSkill, maxSkills, actionsFromCard } from './skill-actions.ts';

/** An agent under a name. */
export interface NamedAgent {
  /** What its actions begin with; without a slash, and no other agent of the bridge has it. */
  readonly agentName: string;
  /** The agent, such as one of `connect`. It stays open when the bridge is closed. */
  readonly agent: Agent & Partial<Pick<RemoteAgent, 'check'>>;
  /** For how many seconds a follow-up ID of this agent is good. @defaultValue as the bridge says */
  readonly inputRequiredTtl?: number;
}

/** An agent, and what it can do as its card said last. */
export class BridgedAgent {
  readonly name: string;
  readonly agent: NamedAgent['agent'];
  readonly inputRequiredTtl: number | undefined;
  skills: ReadonlyMap<string, BridgedSkill> = new Map();
  /** Whether its streams can be left while they wait; undefined until one was seen. Others need a signal, which costs. */
  isAbortable: boolean | undefined = undefined;
  readonly #clock: Clock;
  readonly #log: LogSink | undefined;
  readonly #changed: () => void;
  /** What the actions were, to be compared. */
  #seen = '';
  #stop: () => void = () => {};
  #isClosed = false;

  constructor(
    { agentName, agent, inputRequiredTtl }: NamedAgent,
    clock: Clock,
    log: LogSink | undefined,
    changed: () => void,
  ) {
    this.name = agentName;
    this.agent = agent;
    this.inputRequiredTtl = inputRequiredTtl;
    this.#clock = clock;
    this.#log = log;
    this.#changed = changed;
  }

  /** Asks for the card, and tells if the actions are others than before. */
  async refreshCard(): Promise<void> {
    // What is remembered of a card may be as old as its writer allows; `check` asks whether it is still the same.
    const card: AgentCard = await (this.agent.check ? this.agent.check() : this.agent.card());
    if (this.#isClosed) return;
    const skills = actionsFromCard(this.name, card);
    const seen = JSON.stringify([...skills.values()]);
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.skills = skills;
    if (card.skills.length > maxSkills) {
      this.#log?.({
        level: 'warn',
        message: `${this.name} has ${card.skills.length} skills; only the first ${maxSkills} become actions`,
      });
    }
    this.#changed();
  }

  /** Looks at the card again and again. */
  watch(interval: number): void {
    this.#stop();
    if (interval <= 0 || interval === Infinity || this.#isClosed) return;
    this.#stop = this.#clock.after(interval, () => {
      void this.#lookAgain(interval);
    });
  }

  async #lookAgain(interval: number): Promise<void> {
    try {
      await this.refreshCard();
    } catch (thrown) {
      // An agent that is away for a while has not lost its skills.
      this.#log?.({
        level: 'warn',
        message: `The card of ${this.name} could not be had`,
        error: A2AError.from(thrown),
      });
    }
    this.watch(interval);
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }
}
