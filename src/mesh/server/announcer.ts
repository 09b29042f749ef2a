import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { LogSink } from '../../primitives/log.ts';
import { type MeshCardOptions, writeMeshCard } from '../mesh-card.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { BrokerConnection } from '../brokers/broker-connection.ts';

/** Receivers forget an agent that was silent for a minute; three announcements fit into it. */
const longestInterval = 20_000;

/** How an agent is announced. */
export interface AnnouncerOptions {
  readonly link: BrokerConnection;
  readonly naming: MeshCardOptions;
  readonly interval: number;
  readonly version: '0.3' | '0.1';
  readonly clock: Clock;
  readonly log: LogSink;
}

/** Announces the card of an agent again and again; while it cannot be read, nothing is announced. */
export class Announcer {
  readonly #agent: Agent;
  readonly #announcing: AnnouncerOptions;
  #stop: (() => void) | undefined;
  #isOver = false;
  #isSilent = false;
  #current: Promise<void> = Promise.resolve();

  constructor(agent: Agent, announcing: AnnouncerOptions) {
    this.#agent = agent;
    this.#announcing = announcing;
  }

  /** Begins, if an interval is set. */
  start(): void {
    const { interval, clock } = this.#announcing;
    if (interval <= 0 || this.#isOver) return;
    this.#current = this.#announce().then(() => {
      if (this.#isOver) return;
      this.#stop = clock.after(Math.min(interval, longestInterval), () => this.start());
    });
  }

  /** Ends. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#stop?.();
    await this.#current;
  }

  async #announce(): Promise<void> {
    const { link, naming, version, log } = this.#announcing;
    const fields = { agent: naming.name };
    try {
      const card = await this.#agent.card();
      if (this.#isOver) return;
      const wire = writeMeshCard(card, version === '0.1' ? v0_1 : v0_3, naming);
      await link.publish(naming.topics.agentCards, JSON.stringify(wire));
      if (this.#isSilent) log({ level: 'info', message: 'The agent is announced again', fields });
      this.#isSilent = false;
    } catch (error) {
      if (!this.#isSilent && !this.#isOver) {
        const message = 'The card of the agent cannot be read, so it is not announced';
        log({ level: 'warn', message, error, fields });
      }
      this.#isSilent = true;
    }
  }
}
