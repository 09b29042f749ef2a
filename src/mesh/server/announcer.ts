import { raceAbort } from '../../primitives/abort.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { LogSink } from '../../primitives/log.ts';
import { type MeshCardOptions, writeMeshCard } from '../mesh-card.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { BrokerConnection } from '../brokers/broker-connection.ts';

/** Maximum interval: receivers remove an agent after one minute without an announcement. */
const maxInterval = 20_000;

/** Options of {@link Announcer}. */
export interface AnnouncerOptions {
  readonly broker: BrokerConnection;
  readonly cardOptions: MeshCardOptions;
  readonly interval: number;
  readonly version: '0.3' | '0.1';
  readonly clock: Clock;
  readonly log: LogSink;
}

/** Announces the card of an agent periodically. An agent without a readable card is not announced. */
export class Announcer {
  readonly #agent: Agent;
  readonly #options: AnnouncerOptions;
  #stop: (() => void) | undefined;
  readonly #end = new AbortController();
  #hasFailed = false;
  #current: Promise<void> = Promise.resolve();

  constructor(agent: Agent, options: AnnouncerOptions) {
    this.#agent = agent;
    this.#options = options;
  }

  /** Starts the announcements if `interval` is positive. */
  start(): void {
    const { interval, clock } = this.#options;
    const { signal } = this.#end;
    if (interval <= 0 || signal.aborted) return;
    this.#current = this.#announce().then(() => {
      if (signal.aborted) return;
      this.#stop = clock.after(Math.min(interval, maxInterval), () => this.start());
    });
  }

  /** Stops the announcements, also one whose card or broker does not respond. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#stop?.();
    await this.#current;
  }

  async #announce(): Promise<void> {
    const { broker, cardOptions, version, log } = this.#options;
    const fields = { agent: cardOptions.name };
    const { signal } = this.#end;
    try {
      const card = await raceAbort(this.#agent.card({ signal }), signal);
      const wire = writeMeshCard(card, version === '0.1' ? v0_1 : v0_3, cardOptions);
      await raceAbort(broker.publish(cardOptions.topics.agentCards, JSON.stringify(wire)), signal);
      if (this.#hasFailed) log({ level: 'info', message: 'The agent is announced again', fields });
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed && !signal.aborted) {
        const message = 'The agent is not announced, because its card cannot be read';
        log({ level: 'warn', message, error, fields });
      }
      this.#hasFailed = true;
    }
  }
}
