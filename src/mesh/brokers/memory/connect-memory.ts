import { A2AError } from '../../../protocol/errors.ts';
import { type Clock, systemClock } from '../../../primitives/clock.ts';
import type {
  MeshMessage,
  BrokerConnection,
  BrokerConnectionState,
  MessageProperties,
  SubscribeOptions,
  Subscription,
} from '../broker-connection.ts';
import { resolveSubscription } from '../subscription-plan.ts';
import { BrokerConnectionStates } from '../connection-states.ts';
import { MemoryBroker, type QueueMembership } from './memory-broker.ts';
import { checkTopic } from '../topic-pattern.ts';

/** Options of {@link connectMemoryBroker}. */
export interface MemoryConnectionOptions {
  /** What the link is to; links with the same one reach each other. @defaultValue one of its own */
  broker?: MemoryBroker;
  /** How long `close` waits for what is being published, in milliseconds. @defaultValue 5000 */
  closeTimeout?: number;
  /** Called with what the work on a message threw. The message counts as done. */
  onError?: (error: unknown) => void;
  clock?: Clock;
}

const published = Promise.resolve();

/** A link within one process: no set-up, nothing to install, nothing that survives. */
export function connectMemoryBroker(options: MemoryConnectionOptions = {}): MemoryBrokerConnection {
  return new MemoryBrokerConnection(options);
}

/** What {@link connectMemoryBroker} gives. */
export class MemoryBrokerConnection implements BrokerConnection {
  readonly #broker: MemoryBroker;
  readonly #clock: Clock;
  readonly #closeTimeout: number;
  readonly #onError: (error: unknown) => void;
  readonly #states = new BrokerConnectionStates('up');
  readonly #members = new Set<QueueMembership>();
  readonly #publishing = new Set<Promise<void>>();

  constructor({ broker, clock = systemClock, closeTimeout = 5_000, onError }: MemoryConnectionOptions) {
    this.#broker = broker ?? new MemoryBroker();
    this.#clock = clock;
    this.#closeTimeout = closeTimeout;
    this.#onError = onError ?? (() => {});
  }

  get state(): BrokerConnectionState {
    return this.#states.state;
  }

  onState(changed: (state: BrokerConnectionState) => void): () => void {
    return this.#states.on(changed);
  }

  publish(topic: string, payload: string, properties: MessageProperties = {}): Promise<void> {
    try {
      this.#states.check();
      checkTopic(topic);
      const waiting = this.#broker.publish(this, topic, payload, properties);
      if (!waiting) return published;
      this.#publishing.add(waiting);
      const over = (): unknown => this.#publishing.delete(waiting);
      waiting.then(over, over);
      return waiting;
    } catch (error) {
      return Promise.reject(A2AError.from(error));
    }
  }

  async subscribe(
    patterns: string | readonly string[],
    work: (delivery: MeshMessage) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.#states.check();
    const { list, queue, shared, concurrency } = resolveSubscription(patterns, options);
    const member = this.#broker.join(queue, list, shared, { work, concurrency, failed: this.#onError });
    this.#members.add(member);
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> =>
      (closing ??= member.leave().then(() => void this.#members.delete(member)));
    return { close, [Symbol.asyncDispose]: close };
  }

  /** Is gone without a word, as a process that was killed: what was not acknowledged is delivered to others. */
  simulateCrash(): void {
    if (!this.#states.set('closed')) return;
    for (const member of this.#members) member.vanish();
    this.#members.clear();
    this.#broker.withdraw(this);
  }

  async close(): Promise<void> {
    if (!this.#states.set('closed')) return;
    const stop = this.#clock.after(this.#closeTimeout, () => this.#broker.withdraw(this));
    await Promise.allSettled(this.#publishing);
    stop();
    await Promise.all([...this.#members].map((member) => member.leave()));
    this.#members.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
