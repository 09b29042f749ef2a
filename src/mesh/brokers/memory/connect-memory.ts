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
  /** Broker of the connection; connections with the same broker reach each other. @defaultValue a new one */
  broker?: MemoryBroker;
  /** Milliseconds that `close` waits for pending publishes. @defaultValue 5000 */
  closeTimeout?: number;
  /** Called with errors of message handlers. The message counts as processed. */
  onError?: (error: unknown) => void;
  clock?: Clock;
}

const published = Promise.resolve();

/** Connects to a broker in memory, for one process. Messages do not survive it. */
export function connectMemoryBroker(options: MemoryConnectionOptions = {}): MemoryBrokerConnection {
  return new MemoryBrokerConnection(options);
}

/** Connection of {@link connectMemoryBroker}. */
export class MemoryBrokerConnection implements BrokerConnection {
  readonly system = 'memory';
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

  onState(listener: (state: BrokerConnectionState) => void): () => void {
    return this.#states.on(listener);
  }

  publish(topic: string, payload: string, properties: MessageProperties = {}): Promise<void> {
    try {
      this.#states.check();
      checkTopic(topic);
      const waiting = this.#broker.publish(this, topic, payload, properties);
      if (!waiting) return published;
      this.#publishing.add(waiting);
      const remove = (): unknown => this.#publishing.delete(waiting);
      waiting.then(remove, remove);
      return waiting;
    } catch (error) {
      return Promise.reject(A2AError.from(error));
    }
  }

  async subscribe(
    patterns: string | readonly string[],
    handle: (message: MeshMessage) => void | Promise<void>,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    this.#states.check();
    const { list, queue, shared, concurrency } = resolveSubscription(patterns, options);
    const member = this.#broker.join(queue, list, shared, { handle, concurrency, onError: this.#onError });
    this.#members.add(member);
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> =>
      (closing ??= member.leave().then(() => void this.#members.delete(member)));
    return { close, [Symbol.asyncDispose]: close };
  }

  /** Closes without acknowledging messages, like a killed process; they are redelivered to other subscribers. */
  simulateCrash(): void {
    if (!this.#states.set('closed')) return;
    for (const member of this.#members) member.crash();
    this.#members.clear();
    this.#broker.withdraw(this);
  }

  async close(): Promise<void> {
    if (!this.#states.set('closed')) return;
    const stopTimer = this.#clock.after(this.#closeTimeout, () => this.#broker.withdraw(this));
    await Promise.allSettled(this.#publishing);
    stopTimer();
    await Promise.all([...this.#members].map((member) => member.leave()));
    this.#members.clear();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
